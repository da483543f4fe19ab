"""What every command needs of its process: an event loop, signals, log lines, an end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from importlib import import_module
from typing import Any, NoReturn, TextIO, TypeVar, cast

import structlog
import typer
from structlog.typing import EventDict

T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the fastest event loop there is."""
    # Whoever is ended before it began says no word of it.
    with contextlib.closing(coroutine):
        loop_factory: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
        with contextlib.suppress(ImportError):  # uvloop is not on every platform
            loop_factory = import_module("uvloop").new_event_loop
        with asyncio.Runner(loop_factory=loop_factory) as runner:
            return runner.run(coroutine)


def raise_file_limit() -> None:
    """Allow as many open files as the system lets this process have: a ledger takes several."""
    with contextlib.suppress(ImportError, OSError, ValueError):  # not every system has such limits
        resource: Any = import_module("resource")
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


_SIGNALS = (signal.SIGINT, signal.SIGTERM)
Again = Callable[[signal.Signals], None]


def stop_asked(again: Again | None = None) -> asyncio.Event:
    """Return what is set by SIGINT or SIGTERM, from now on.

    Without `again` a second one ends the process at once: what was acknowledged is on disk, so
    nothing is lost, and who waits for an answer asks again. Else `again` is called with it.
    """
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()

    def first() -> None:
        asked.set()
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
            if again is not None:
                loop.add_signal_handler(number, again, number)
            else:
                # The system's own way asks nobody, not even a loop that is busy.
                signal.signal(number, signal.SIG_DFL)

    for number in _SIGNALS:
        loop.add_signal_handler(number, first)
    return asked


def end_by(number: signal.Signals) -> NoReturn:
    """End this process as a signal does that nobody handles; whoever started it sees by which."""
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)
    raise AssertionError  # it has ended


async def interrupted(again: Again | None = None) -> None:
    """Wait for SIGINT or SIGTERM; see `stop_asked`."""
    await stop_asked(again).wait()


@contextlib.contextmanager
def end_when_asked() -> Iterator[None]:
    """End this process on SIGTERM until `stop_asked` takes over: so far there is nothing to finish.

    The first process of a container is never ended by a signal that it does not handle. Afterwards
    the process ends anyway, and a signal is not to interrupt that with a traceback.
    """

    def end(number: int, frame: object) -> None:
        del number, frame
        sys.exit(0)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


class StandardError:
    """Standard error as it is when a line is written, even if nobody can be told.

    A log line that cannot be written (a closed pipe, a full disk) must not end a call whose answer
    is decided.
    """

    def write(self, text: str) -> int:
        """Write what can be written."""
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush what can be flushed."""
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()


def set_up_logging(level: str, form: str, **always: str) -> None:
    """Write structured log lines to standard error; each says what is `always` so."""

    def add_always(logger: Any, method: str, event: EventDict) -> EventDict:
        del logger, method
        return {**event, **always}

    renderer: Any = (
        structlog.processors.JSONRenderer()
        if form == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            add_always,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.PrintLoggerFactory(cast(TextIO, StandardError())),
    )


def fail(message: str, code: int = 1) -> NoReturn:
    """Say what is wrong on standard error and exit."""
    typer.echo(message, err=True)
    raise typer.Exit(code)
