"""What things cost: the one place to change when something is measured anew. Microseconds.

Measured with two shared cores (x86-64, Python 3.11, SQLite); see docs/performance.md. `throws` are
throws of the dice that decide nothing: one command, one event.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Costs:
    """Times in microseconds; what is CPU time is spent on the process's one event loop."""

    call_us: float = 200
    """Taking and answering one unary call, a batch too: the gRPC library, event loop, interceptor.

    What is left of 300 us for a unary throw at 64 in flight (3,340/s measured) after the command
    itself (70) and its share of a turn (250 us for about 9 commands, measured there). The process
    takes 1.02 s of CPU time for a second of its loop (measured)."""
    message_us: float = 60
    """One message of an open stream. A bare stream's message took 0.3 of a bare unary call's CPU
    time (measured: 38 to 46 us against 129 to 159)."""
    taking: float = 0.75
    """The share of a call or message that is spent before its turn. Chosen so that the size of
    batches is as measured."""
    command_us: float = 70
    """Deciding and recording one command in a turn, and its part of parsing and answering.

    54 us is the slope of a turn's time over its size without gRPC (measured: 305 us for 1 throw,
    5,730 for 100, 16,350 for 300; hence 17,700 throws/s in batches of 100); 16 us is parsing, the
    digest and the receipt (6 % of a unary command's time in the profile)."""
    turn_us: float = 150
    """A turn's own CPU time: locks, look-ups, SQLite's statements. A turn of one throw takes 305 us
    (measured); this is what is left after the throw (54) and the write to disk (100)."""
    sync_us: float = 100
    """The wait for one write to disk. A durable insert takes 140 to 200 us (measured), of which 45
    is CPU time."""
    syncs_per_s: float = 10_000
    """What a machine's disk can do. Measured on the virtual disk of that machine: 14,000 durable
    inserts/s from 4 processes and 26,000 from 16; taken lower."""
    sync_blocks: bool = True
    """Whether the event loop stands still during the write: so with SQLite."""
    wire_us: float = 400
    """Outside the server: network and caller. A lone call takes 910 us (measured), less the
    server's part: call, command, turn and write."""

    gather_us: float = 2_000
    """The longest wait for a crowd: `GATHER_S` of the writer."""
    crowd_trial: int = 16
    """Every so many turns a larger crowd is waited for: `CROWD_TRIAL` of the writer."""
    batch: int = 1_000
    """The largest turn, commands: the setting `batch`."""
    queue: int = 10_000
    """Commands waiting for one ledger, beyond which calls are refused: the setting `queue`."""
    retry_us: float = 100_000
    """How long a refused caller waits; twice as long after each further refusal."""


THROWS = Costs()
"""The load of the benchmark: throws that decide nothing, one event each."""

ROUNDS = replace(THROWS, command_us=130)
"""Whole rounds of cee-lo with four players, 2.37 events a command: what to plan with.

114 us is the slope of a turn's time over its size (measured: 447 us for 1 command, 12,530 for 100,
against 379 and 6,080 for throws in the same run), and 16 us as above."""

NO_GRPC = replace(THROWS, call_us=0, command_us=54, gather_us=0, wire_us=0)
"""A writer with its caller in the same process."""

SLOW_DISK = replace(ROUNDS, sync_us=2_000, syncs_per_s=500)
"""A disk without a protected cache. Assumed."""

NETWORK = replace(ROUNDS, sync_us=1_000, sync_blocks=False, syncs_per_s=100_000)
"""An engine 1 ms away, and a writer that lets the loop go on meanwhile. Assumed."""


@dataclass(frozen=True, slots=True)
class Form:
    """A form of call: so many commands in each, and whether it is a message of a stream."""

    name: str
    commands: int = 1
    streamed: bool = False

    def cost_us(self, costs: Costs) -> float:
        """Return what taking and answering one of them costs."""
        return costs.message_us if self.streamed else costs.call_us


UNARY = Form("Play")
BATCH_16 = Form("PlayBatch(16)", 16)
BATCH_100 = Form("PlayBatch(100)", 100)
STREAM_1 = Form("PlayStream, 1 a message", 1, streamed=True)
STREAM_16 = Form("PlayStream, 16 a message", 16, streamed=True)
FORMS = (UNARY, STREAM_1, BATCH_16, STREAM_16, BATCH_100)

MEASURED_LONE_MS = 0.91
"""The median of a lone unary call."""
MEASURED_BARE = 17_700
"""Throws/s of one writer without gRPC in turns of 100."""
MEASURED_UNARY = {1: (3_340, 9), 2: (1_810, 1.3), 4: (1_550, 1)}
"""Unary throws, 64 in flight, by ledgers in the process: commands/s and commands a commit. The
load generator had the same two cores. Of the first, runs had 2,500 to 4,100 and 6 to 10.4."""

EVENTS_PER_COMMAND = 2.37
"""Measured over 80,000 commands of whole rounds of cee-lo with four players."""
RECORD_BYTES = 167
"""A record, measured over the same events."""
FILE_BYTES = 287
"""What an event adds to a ledger's file: record, indexes, its part of a request id; the same."""
WRITTEN_BYTES = 13_900
"""What a command writes to the disk, whole pages of log and checkpoints, in turns of 16. Measured:
25,900 bytes in turns of 1, 17,700 of 4, 13,900 of 16, 7,100 of 100."""
RECOVERED_PER_S = 180_000
"""Events/s read when a ledger is opened: docs/performance.md."""
