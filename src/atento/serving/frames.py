"""Messages between a server and the process that holds its model: JSON, with four bytes before it that say its length.

There is no pickle: neither side can make the other execute anything.
"""

import json
from typing import Any, BinaryIO, Protocol

HEADER = 4  # bytes
LARGEST = 2**28  # bytes of a message; both ends are ours, so a longer one is damage

Frame = dict[str, Any]


class FrameStream(Protocol):
    """What a frame is read from; `asyncio.StreamReader` is one."""

    async def readexactly(self, n: int, /) -> bytes:
        """So many bytes, or an `EOFError`."""


def packed(frame: Frame) -> bytes:
    """A message as it is sent."""
    body = json.dumps(frame, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")
    return len(body).to_bytes(HEADER, "big") + body


def read_frame(stream: BinaryIO) -> Frame | None:
    """The next message, waited for; None at the end of the stream."""
    header = stream.read(HEADER)
    if len(header) < HEADER:
        return None
    body = stream.read(require_length(header))
    return unpacked(body) if len(body) == int.from_bytes(header, "big") else None


async def receive_frame(stream: FrameStream) -> Frame:
    """The next message; an `EOFError` where the other process has ended."""
    return unpacked(await stream.readexactly(require_length(await stream.readexactly(HEADER))))


def require_length(header: bytes) -> int:
    """The length that a header says."""
    length = int.from_bytes(header, "big")
    if length > LARGEST:
        raise EOFError(f"a message of {length:,} bytes is damage")
    return length


def unpacked(body: bytes) -> Frame:
    """The message itself."""
    found = json.loads(body)
    if not isinstance(found, dict):
        raise EOFError("a message is no object")
    return found
