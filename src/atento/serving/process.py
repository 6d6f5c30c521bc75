"""The server's end of a model process: start it, ask it, end it."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from atento.errors import InputError, MachineError, RunError
from atento.serving.frames import Frame, packed, receive_frame
from atento.serving.served import ModelCard, Row

LOADING = 300.0  # seconds that a model may take to load
ENDING = 2.0  # seconds that a process has to end by itself
FAILURES = {2: InputError, 3: MachineError}  # by the exit code of a process that could not load its model


class ModelProcess:
    """A process with a loaded model, which answers one question at a time."""

    def __init__(self, process: Process, card: ModelCard) -> None:
        self.process, self.card = process, card

    @classmethod
    async def start(cls, folder: Path, *, device: str) -> "ModelProcess":
        """Start one and wait until its model is loaded; an error tells why it is not."""
        words = [sys.executable, "-P", "-m", "atento.serving.worker", str(folder), device]
        process = await asyncio.create_subprocess_exec(*words, stdin=PIPE, stdout=PIPE)
        try:
            async with asyncio.timeout(LOADING):
                first = await receive_frame(streams_of(process)[1])
            if "card" in first:
                return cls(process, ModelCard.from_json(first["card"]))
        except (EOFError, TimeoutError, asyncio.CancelledError) as error:
            await end(process, at_once=True)
            if isinstance(error, asyncio.CancelledError):
                raise
            raise RunError("the process of the model ended while it loaded.", found=f"{folder}") from None
        told = first["failed"]
        await end(process)
        failure = FAILURES.get(told["code"], RunError)
        raise failure(told["problem"], found=told["found"], fix=told["fix"])

    async def ask(self, rows: list[Row], attention: list[bool]) -> list[Frame]:
        """The answers to rows; an `EOFError` where the process dies."""
        answers = (await self.exchange({"rows": rows, "attention": attention}, no_piece))["answers"]
        if len(answers) != len(rows):
            raise EOFError("as many answers as rows were due")
        return list(answers)

    async def follow(self, row: Row, on_piece: Callable[[str], None]) -> Frame:
        """The answer to one row; pieces of its text come before it."""
        return dict((await self.exchange({"stream": row}, on_piece))["answers"][0])

    async def exchange(self, question: Frame, on_piece: Callable[[str], None]) -> Frame:
        """Send one message, and take what comes until the answer is there."""
        asked, answers = streams_of(self.process)
        try:
            asked.write(packed(question))
            await asked.drain()
        except (ConnectionError, RuntimeError) as error:
            raise EOFError("the process of the model has ended") from error
        while "piece" in (frame := await receive_frame(answers)):
            on_piece(frame["piece"])
        return frame

    @property
    def lives(self) -> bool:
        """Whether the process is there."""
        return self.process.returncode is None

    async def ended(self) -> None:
        """Wait until the process is gone."""
        await self.process.wait()

    async def end(self, *, at_once: bool = False) -> None:
        """Let it go; a process that does not end by itself is killed."""
        await end(self.process, at_once=at_once)


def no_piece(piece: str) -> None:
    """Whole answers have none."""


def streams_of(process: Process) -> tuple[asyncio.StreamWriter, asyncio.StreamReader]:
    """Where questions go, and where answers come from."""
    if process.stdin is None or process.stdout is None:
        raise EOFError("the process has no streams")
    return process.stdin, process.stdout


async def end(process: Process, *, at_once: bool = False) -> None:
    """Close its input, at which it ends; kill it where that does not help."""
    if process.stdin is not None:
        process.stdin.close()
    if not at_once:
        with suppress(TimeoutError):
            async with asyncio.timeout(ENDING):
                await process.wait()
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
