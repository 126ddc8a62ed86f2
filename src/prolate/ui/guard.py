"""Who is let in: whoever has the token, under a name of this machine, from no other page."""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

__all__ = ["Guard"]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; "
    "connect-src 'self'; frame-src 'self'; frame-ancestors 'self'; base-uri 'none'; "
    "form-action 'none'"
)
_SECONDS = 300.0  # for which a key works
_TOO_LATE = (
    b"This link works once, and for five minutes. Open the address that the terminal shows, or "
    b"end `prolate ui` and start it again.\n"
)
_HEADERS = [
    (b"cache-control", b"no-store"),
    (b"content-security-policy", _POLICY.encode()),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
]


class Guard:
    """An application behind a token.

    Every request, a websocket's too, must name this machine in its ``Host``, so that a name
    that was made to point here (DNS rebinding) is of no use; must come from no other origin;
    and must have the token as the first part of its path, which is compared in constant time.
    Anything else gets 403 and learns nothing.

    Parameters
    ----------
    app : ASGI application
        Sees paths without the token.
    token : str
    port : int
        Where it listens.
    """

    def __init__(self, app: App, token: str, port: int) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = {f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost")}
        self._key: bytes | None = None
        self._until = 0.0
        self._used: Callable[[], object] | None = None
        self._path = f"/{token}/".encode()

    def once(self, used: Callable[[], object]) -> str:
        """Return a key that opens the page once, in the next minutes; `used` is called then."""
        key = secrets.token_urlsafe(24)
        self._key, self._until, self._used = key.encode(), time.monotonic() + _SECONDS, used
        return key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let in or refuse."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        names = [value for name, value in scope["headers"] if name == b"host"]
        origins = [value for name, value in scope["headers"] if name == b"origin"]
        own = {b"http://" + host for host in self._hosts}
        first, _, rest = scope["path"].lstrip("/").partition("/")
        known = len(names) == 1 and names[0] in self._hosts and set(origins) <= own
        if known and scope["type"] == "http" and self._is_key(first.encode(), rest):
            if self._opens():
                await _answer(send, 303, [(b"location", self._path)])
            else:
                await _answer(send, 403, [(b"content-type", b"text/plain")], _TOO_LATE)
        elif not (known and secrets.compare_digest(first.encode(), self._token)):
            await _refuse(scope, receive, send)
        else:
            root = scope.get("root_path", "") + "/" + first
            await self._app({**scope, "root_path": root}, receive, _sealed(send))

    def _is_key(self, first: bytes, rest: str) -> bool:
        return not rest and self._key is not None and secrets.compare_digest(first, self._key)

    def _opens(self) -> bool:
        used, self._used = self._used, None
        if used is None:
            return False
        used()
        return time.monotonic() <= self._until


def _sealed(send: Send) -> Send:
    async def sealed(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", []))
            own = {name for name, _ in given}
            ours = [(name, value) for name, value in _HEADERS if name not in own]
            message = {**message, "headers": given + ours}
        await send(message)

    return sealed


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})  # the handshake is answered 403
        return
    await _answer(send, 403, [(b"content-type", b"text/plain")], b"Forbidden.\n")


async def _answer(
    send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes = b""
) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send(
        {"type": "http.response.start", "status": status, "headers": [*headers, length, *_HEADERS]}
    )
    await send({"type": "http.response.body", "body": body})
