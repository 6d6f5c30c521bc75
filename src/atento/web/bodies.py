"""The bodies of requests: bounded, read once more, or taken and thrown away. The types are those of ASGI."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

from atento.errors import InputError

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

DRAINED = 2**23  # bytes of the body of a refused request that are taken
PATIENCE = 0.3  # seconds for them


class BodyTooLarge(InputError):
    """The body of a request is larger than the server takes."""


def counted(receive: Receive, limit: int) -> Receive:
    """The body of an upload, part by part, which fails once it is larger than it may be."""
    seen = 0

    async def receive_some() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            raise BodyTooLarge("the request is too large.", found=f"more than {limit:,} bytes", fix="send less")
        return message

    return receive_some


async def whole_body(receive: Receive, limit: int) -> bytes | None:
    """The body of a request; None where it is larger than it may be, whatever its length was said to be, or where the
    client hangs up before its end.
    """
    parts: list[bytes] = []
    more, seen = True, 0
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        more, seen = message.get("more_body", False), seen + len(parts[-1])
        if seen > limit:
            return None
    return b"".join(parts)


def again(body: bytes, receive: Receive) -> Receive:
    """A body that was read, to be read once more; then whatever comes after it."""
    left = [body]

    async def receive_body() -> Message:
        return {"type": "http.request", "body": left.pop(), "more_body": False} if left else await receive()

    return receive_body


async def drain(receive: Receive) -> None:
    """Take what comes of a body that nobody wants: a client that still sends when the connection is closed would not
    read why.
    """
    seen, more = 0, True
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while more and seen < DRAINED:
                message = await receive()
                seen, more = seen + len(message.get("body", b"")), message.get("more_body", False)
