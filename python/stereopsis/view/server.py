"""Serves HTTP and WebSocket at one address, http://HOST:PORT/TOKEN/. Clients must know the token."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import pathlib
import secrets
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from .. import _native
from .._errors import Error, FileError
from .._json import parsed
from .._native import devices
from .engine import Engine, Shown
from .keep import Keeper
from .messages import frame_message, packed_file, state_message
from .pairing import Pairing
from .probe import Probe

PAGE = pathlib.Path(__file__).parent / "page"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src 'self' data: blob:; media-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# The colours of all maps, 256 for each, in hexadecimal digits; the page draws with the tables of the command.
COLOR_MAPS = json.dumps(
    {"choices": _native.color_maps(), "tables": {name: _native.color_map(name).tobytes().hex() for name in [*_native.color_maps(), "difference", "error"]}}
).encode()
LARGEST_MESSAGE = 1 << 20
# Seconds between frames: for a page that draws them at once, and for a slow page, perhaps on the machine that also matches.
FAST, SLOW = 1 / 30, 1 / 18
SHARED = 1 / 10  # and for a page that is drawn by the cores that match: a browser without a GPU takes a third of two cores for 20 frames a second
EVERYWHERE = ("", "0.0.0.0", "::")  # the names of these addresses are unknown, so that only the token protects the page


class Page:
    """A connected page. The page receives messages, and takes the newest frame when it is ready."""

    def __init__(self, viewer: Viewer, connection: ServerConnection) -> None:
        self.viewer, self.connection = viewer, connection
        self.have: dict[str, object] | None = None
        self.fresh = asyncio.Event()
        self._revision, self._sent, self._taken = -1, 0.0, 0.0  # the last frame: revision, time sent, time received
        self._answers: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        await self.connection.send(self.viewer.state())
        sender = asyncio.create_task(self._send_frames())
        try:
            async for text in self.connection:  # slow requests do not block the next ones
                answer = asyncio.create_task(self._take(text))
                self._answers.add(answer)
                answer.add_done_callback(self._answers.discard)
        finally:
            sender.cancel()
            self.viewer.engine.want(self, None)

    async def _send_frames(self) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                await self.fresh.wait()
                self.fresh.clear()
                shown = self.viewer.engine.shown
                if self.have is None or shown is None or self._is_early(shown):
                    continue
                message = frame_message(self.viewer.engine, shown, self.have)
                if message is not None:
                    self.have = None
                    self._revision, self._sent = shown.revision, time.monotonic()
                    await self.connection.send(message)

    def _is_early(self, shown: Shown) -> bool:
        """Returns whether the page should not have this result yet. Results of changed settings are sent at once, others at the page's rate."""
        shared = shown.device == "cpu" and is_here(self.connection)
        pause = SHARED if shared else min(SLOW, max(FAST, 2.5 * (self._taken - self._sent)))
        wait = self._sent + pause - time.monotonic()
        if wait <= 0 or shown.revision != self._revision:
            return False
        asyncio.get_running_loop().call_later(wait, self.fresh.set)
        return True

    async def _take(self, text: str | bytes) -> None:
        try:
            message = parsed(text, "the page's message")
            answer = await self._answer(message["do"], message)
        except Error as error:
            answer = json.dumps({"kind": "refused", "text": str(error)})
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            answer = json.dumps({"kind": "refused", "text": f"the page sent what is no message: {error!r}"})
        with contextlib.suppress(ConnectionClosed):
            if answer is not None:
                await self.connection.send(answer)
            if isinstance(answer, str) and '"refused"' in answer:
                await self.connection.send(self.viewer.state())  # the page shows the settings in effect

    async def _answer(self, do: str, message: dict[str, Any]) -> str | bytes | None:
        viewer = self.viewer
        match do:
            case "ready":
                self.have, self._taken = dict(message["have"]), time.monotonic()
                viewer.engine.want(self, frozenset(self.have))
                self.fresh.set()
                return None
            case "probe":
                costs = await asyncio.to_thread(viewer.probe.costs, int(message["x"]), int(message["y"]))
                return json.dumps(costs)
            case "limits":
                name = str(message["name"])
                found = await asyncio.to_thread(viewer.engine.limits, name)
                return None if found is None else json.dumps({"kind": "limits", "name": name, "low": found[0], "high": found[1]})
            case "estimate":
                await asyncio.to_thread(viewer.engine.estimate)
                return None
            case "pairing":
                await asyncio.to_thread(viewer.engine.pair, Pairing.of(message))
                return None
            case "keep":
                file = await asyncio.to_thread(viewer.keeper.make, str(message["what"]))
                return packed_file(file)
            case "command":
                return json.dumps({"kind": "command", "text": viewer.keeper.command()})
        await asyncio.get_running_loop().run_in_executor(viewer.changes, viewer.engine.change, message)
        return None


class Viewer:
    """The server of one engine."""

    def __init__(self, engine: Engine, keeper: Keeper, host: str, port: int) -> None:
        self.engine, self.keeper, self.host, self.port = engine, keeper, host, port
        self.probe = Probe(engine)
        self.changes = ThreadPoolExecutor(1, "changes")  # one thread, so that changes are applied in order
        self.token = secrets.token_urlsafe(12)
        self.pages: set[Page] = set()
        self._files = {file.name: file for file in PAGE.iterdir() if file.suffix in TYPES}
        self._devices = [
            {"name": d.name, "description": d.description, "usable": d.usable, "reason": d.reason} for d in devices()
        ]

    @property
    def address(self) -> str:
        host = socket.gethostname() if self.host in EVERYWHERE else bracketed(self.host)
        return f"http://{host}:{self.port}/{self.token}/"

    def state(self) -> str:
        return state_message(self.engine, self._devices)

    async def serve(self, ready: Callable[[str], None], stop: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()

        def notify(what: str) -> None:
            loop.call_soon_threadsafe(self._notify, what)

        self.engine.notify = notify
        listening = serve(
            self._handle,
            self.host,
            self.port,
            process_request=self._request,
            compression=None,
            max_size=LARGEST_MESSAGE,
            server_header=None,
        )
        try:
            server = await listening
        except OSError as error:
            raise FileError(f"the viewer cannot listen on {self.host}:{self.port} ({error.strerror}); choose another --port") from error
        async with server:
            self.port = port_of(server)
            self.engine.start()
            ready(self.address)
            await stop.wait()
        self.changes.shutdown(cancel_futures=True)
        await asyncio.to_thread(self.engine.close)

    def _notify(self, what: str) -> None:
        for page in list(self.pages):
            if what == "frame":
                page.fresh.set()
            else:
                asyncio.ensure_future(self._tell(page))

    async def _tell(self, page: Page) -> None:
        with contextlib.suppress(ConnectionClosed):
            await page.connection.send(self.state())

    async def _handle(self, connection: ServerConnection) -> None:
        page = Page(self, connection)
        self.pages.add(page)
        try:
            with contextlib.suppress(ConnectionClosed):
                await page.run()
        finally:
            self.pages.discard(page)

    def _request(self, connection: ServerConnection, request: Request) -> Response | None:
        hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
        host = hosts[0] if len(hosts) == 1 else ""
        _, token, *rest = [*request.path.partition("?")[0].split("/"), ""]
        if self.host not in EVERYWHERE and not self._is_own(host):
            return refusal(HTTPStatus.FORBIDDEN, "this address is not one of the viewer's")
        if any(origin != f"http://{host}" for origin in origins):
            return refusal(HTTPStatus.FORBIDDEN, "pages of other origins are refused")
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            return refusal(HTTPStatus.FORBIDDEN, "open the address that the viewer printed, with its token")
        if getattr(request, "method", "GET") != "GET":  # earlier versions of websockets refuse other methods themselves
            return refusal(HTTPStatus.METHOD_NOT_ALLOWED, "the viewer's pages can only be read, with GET")
        name = "/".join(rest).strip("/") or "index.html"
        if name == "socket":
            return None
        if name == "color-maps.json":
            return response(HTTPStatus.OK, "application/json", COLOR_MAPS)
        if name not in self._files:
            return refusal(HTTPStatus.NOT_FOUND, "there is no such page")
        body = self._files[name].read_bytes()
        kind = TYPES[self._files[name].suffix] + "; charset=utf-8"
        return response(HTTPStatus.OK, kind, body)

    def _is_own(self, host: str) -> bool:
        """Returns whether a Host header names this machine. The port may be any, because a tunnel has its own."""
        name, colon, port = host.rpartition(":")
        named = name if colon and port.isdecimal() else host
        return named in {"127.0.0.1", "localhost", "[::1]", bracketed(self.host)}


def is_here(connection: ServerConnection) -> bool:
    """Returns whether the page is on this machine, or comes through a tunnel that ends here."""
    address = (connection.remote_address or ("",))[0]
    return str(address).removeprefix("::ffff:").startswith("127.") or address == "::1"


def bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def port_of(server: Server) -> int:
    return int(next(iter(server.sockets)).getsockname()[1])


def refusal(status: HTTPStatus, sentence: str) -> Response:
    return response(status, "text/plain; charset=utf-8", sentence.encode() + b"\n")


def response(status: HTTPStatus, kind: str, body: bytes) -> Response:
    headers = Headers()
    headers["Content-Type"] = kind
    headers["Content-Length"] = str(len(body))
    headers["Content-Security-Policy"] = POLICY
    headers["Cache-Control"] = "no-store"
    headers["Referrer-Policy"] = "no-referrer"
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Connection"] = "close"
    return Response(status.value, status.phrase, headers, body)
