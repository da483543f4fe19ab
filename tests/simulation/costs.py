"""What things cost: the one place to change when something is measured anew. Microseconds.

Measured with two shared cores (x86-64, Python 3.11, SQLite), otherwise quiet; see
docs/performance.md. `throws` are throws of the dice that decide nothing: one command, one event.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from croupier.services.config import Settings
from croupier.services.ledger.limits import Limits


@dataclass(frozen=True, slots=True)
class Costs:
    """Times in microseconds; what is CPU time is spent on the process's one event loop."""

    call_us: float = 154
    """Taking and answering one unary call, a batch too: the gRPC library, event loop, interceptor.

    A unary throw takes 222 us besides its share of a turn: the slope over calls in flight of
    `MEASURED_UNARY`, from 1 to 64 in flight and 1 to 16 ledgers. The command is 68 of them."""
    message_us: float = 46
    """One message of an open stream. A bare stream's message took 0.3 of a bare unary call's CPU
    time (measured: 38 to 46 us against 129 to 159). With it 16 a message come out as measured."""
    taking: float = 0.75
    """The share of a call or message that is spent before its turn. Chosen so that the size of
    turns is as measured."""
    command_us: float = 68
    """Deciding and recording one command in a turn, and its part of parsing and answering.

    A command in batches of 100 over gRPC takes 72.9 us (measured: 13,720/s), less its share of the
    call and of the turn. Its steps without gRPC are 54 us in turns of 64 (measured), commit
    included; the rest is moving its bytes and waking who waits for it."""
    turn_us: float = 270
    """A turn's own CPU time: lock, look-ups, SQLite's statements, the event loop's part.

    What is left of 420 us for a turn after the write. The 420 come from `MEASURED_UNARY`, as
    `call_us` does: with 8 in flight, turns of 8 and turns of 1 differ by so much for each turn.
    Without gRPC it is 308 us (`NO_GRPC`)."""
    sync_us: float = 150
    """The wait for one write to disk. The commit of a turn of one throw takes 198 us (measured), of
    which about 45 are CPU time; an `fsync` of that disk took 192."""
    syncs_per_s: float = 10_000
    """What a machine's disk can do. Measured on the virtual disk of that machine: 14,000 durable
    inserts/s from 4 processes and 26,000 from 16; taken lower."""
    sync_blocks: bool = True
    """Whether the event loop stands still during the write: so with SQLite."""
    wire_us: float = 400
    """Outside the server: network and caller. A lone call takes 990 us (measured), less the
    server's part: call, command, turn and write; taken so that other points fit, too."""
    refusal_us: float = 180
    """A call that is refused because too many wait. Assumed: a bare gRPC echo takes 142 us
    (measured: 7,038/s), and an error with its details has to be built, too."""

    gather: bool = True
    """Whether a round waits for a crowd; how long is in `croupier.services.ledger.rounds`."""
    batch: int = Limits().batch
    """The largest turn, commands: the setting `batch`."""
    queue: int = Limits().queue
    """Commands waiting for one ledger, beyond which calls are refused: the setting `queue`."""
    backlog: int = Settings.model_fields["backlog"].default
    """Calls waiting to be begun, beyond which they are refused: the setting `backlog`."""


THROWS = Costs()
"""The load of the benchmark: throws that decide nothing, one event each."""

ROUNDS = replace(THROWS, command_us=128)
"""Whole rounds of cee-lo with four players, 2.37 events a command: what to plan with.

43 us for each event beyond the first. Measured without gRPC with rounds of 2.15 events a command:
334 us for a turn of 1 command, 8,705 for 100, against 310 and 3,765 for throws in the same run."""

NO_GRPC = replace(
    THROWS, call_us=0, command_us=40.5, turn_us=158, gather=False, wire_us=0, batch=1_000
)
"""A writer with its caller in the same process, and turns as large as the benchmark's batches.

The slope and the intercept of a turn's time over its size (measured: 349 us for 1 throw, 746 for
10, 4,354 for 100, 41,400 for 1,000)."""

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

MEASURED_UNARY = {
    (1, 1): (969, 1.0),
    (2, 1): (1_551, 1.0),
    (4, 1): (2_256, 3.8),
    (8, 1): (3_010, 7.6),
    (16, 1): (3_573, 14.7),
    (64, 1): (4_185, 27.2),
    (8, 8): (1_420, 1.0),
    (16, 4): (2_859, 4.0),
    (64, 4): (4_037, 11.0),
    (64, 16): (2_952, 3.7),
}
"""Unary throws by calls in flight and ledgers in the process: commands/s and commands a commit. The
load generator had the same two cores."""
MEASURED_LONE_MS = 0.99
"""The median of a lone unary call, in the same run; another had 1.10."""
MEASURED_OTHER = {(BATCH_100, 4): 13_720, (STREAM_16, 16): 13_640}
"""Throws/s by form and calls or messages in flight: 4 streams with 4 messages under way on each."""
MEASURED_BARE = {1: 2_866, 10: 13_410, 100: 22_970, 1_000: 24_150}
"""Throws/s of one writer without gRPC, by the size of its turns."""
MEASURED_OFFERED = {
    0.10: (2.09, 4.39),
    0.25: (2.88, 26.0),
    0.50: (4.31, 33.4),
    0.75: (6.43, 67.5),
    0.90: (12.7, 112),
}
"""Unary throws, Poisson, by their share of what 64 in flight achieve: p50 and p99, ms."""

EVENTS_PER_COMMAND = 2.37
"""Measured over 80,000 commands of whole rounds of cee-lo with four players."""
RECORD_BYTES = 167
"""A record, measured over the same events."""
FILE_BYTES = 287
"""What an event adds to a ledger's file: record, indexes, its part of a request id; the same."""
WRITTEN_BYTES = 13_900
"""What a command writes to the disk, whole pages of log and checkpoints, in turns of 16. Measured:
25,900 bytes in turns of 1, 17,700 of 4, 13,900 of 16, 7,100 of 100."""
RECOVERED_PER_S = 125_000
"""Events/s read when a ledger is opened without a snapshot. Measured: 8 s for 1,000,000 events with
50,000 accounts; an earlier version read 180,000/s of a log with few accounts."""
RECHECKED_PER_S = 20_000
"""Events/s read again in the background after a start from a snapshot. Measured: 1,000,000 in 49.8
seconds, by a process with nothing else to do."""
MEASURED_START_S = 0.32
"""From the start of a process to its first answer, with one ledger of 1,000,000 events or an empty
one: a ledger begins from the snapshot of its book and at most about 20,000 events after it, or two
for each account (docs/decisions/0007)."""
