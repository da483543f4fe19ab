"""TLS in front of a server that has none: certificates of a test's own, checked on both sides."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Self

import trustme

CHUNK = 1 << 16


class TLSFront:
    """Takes TLS connections of whoever has a certificate, and forwards what they say.

    It has an event loop in a thread of its own: its callers may keep theirs busy.
    """

    def __init__(self, folder: Path, port: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        authority = trustme.CA()
        self.ca, self.certificate, self.key = (
            folder / name for name in ("ca.pem", "client.pem", "client.key")
        )
        authority.cert_pem.write_to_path(self.ca)
        client = authority.issue_cert("client.test")
        client.cert_chain_pems[0].write_to_path(self.certificate)
        client.private_key_pem.write_to_path(self.key)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.verify_mode = ssl.CERT_REQUIRED
        authority.configure_trust(self._context)
        authority.issue_cert("localhost").configure_cert(self._context)
        self._to = port
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._serving: set[asyncio.Task[None]] = set()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()

    def url(self, user: str = "") -> str:
        """Return where it is, with what a caller needs to be let in."""
        files = f"ca={self.ca}&certificate={self.certificate}&key={self.key}"
        return f"rediss://{user}localhost:{self.port}?{files}"

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._context)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _serve(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        far, there = await asyncio.open_connection("127.0.0.1", self._to)
        ways = [
            asyncio.ensure_future(_forward(near, there)),
            asyncio.ensure_future(_forward(far, back)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            for writer in (there, back):
                writer.transport.abort()

    async def _end(self) -> None:
        self._server.close()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    def close(self) -> None:
        """Cut every connection and take no more."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


async def _forward(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError, ssl.SSLError):
        while data := await source.read(CHUNK):
            target.write(data)
            await target.drain()
