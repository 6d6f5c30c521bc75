"""Between requests and the model: a bounded queue, batches of what waits, and the model process, replaced when it dies
and exchanged when its folder holds another model.

One question is at the model at a time, and whatever waits meanwhile is asked together: the busier the server, the
larger its batches, and nobody waits for a timer. A request is never divided, so its answer is wholly of one model.
"""

import asyncio
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from atento.errors import AtentoError
from atento.serving.frames import Frame
from atento.serving.limits import Limits
from atento.serving.metrics import Metrics
from atento.serving.process import ModelProcess
from atento.serving.served import EXPORTED, ModelCard, Row

WATCHED = ("manifest.json", "board.json", EXPORTED)  # the files that are written last, whatever a folder holds
BETWEEN_LOOKS = 1.0  # seconds
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 30.0  # seconds before a process that died is started again, twice as long each time
STABLE = 60.0  # seconds after which a death is counted as the first


class Busy(Exception):
    """The request cannot be taken now; it may come again after some seconds."""

    def __init__(self, problem: str, *, seconds: int = 1) -> None:
        super().__init__(problem)
        self.problem, self.seconds = problem, seconds


class Late(Exception):
    """The request was not answered in time."""


class Reply(NamedTuple):
    """The answers to the rows of one request, and the model that gave all of them."""

    card: ModelCard
    answers: list[Frame]


class Waiting:
    """A request in the queue."""

    def __init__(self, rows: list[Row], attention: bool, on_piece: Callable[[str], None] | None) -> None:
        self.rows, self.attention, self.on_piece = rows, attention, on_piece
        self.reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()

    def fail(self, error: Exception) -> None:
        """Answer it with an error, unless nobody waits for it any more."""
        if not self.reply.done():
            self.reply.set_exception(error)


class Dispatcher:
    """`async with Dispatcher(...)`: the model is loaded when it begins, and let go when it ends."""

    def __init__(self, folder: Path, model: ModelProcess, *, device: str, limits: Limits, metrics: Metrics) -> None:
        self.folder, self.device, self.limits, self.metrics = folder, device, limits, metrics
        self.model: ModelProcess | None = model
        self.card = model.card  # of the model that answers, or that answered last
        self.next: ModelProcess | None = None  # loaded, and waits for its turn
        self.queue: deque[Waiting] = deque()
        self.rows_waiting = 0
        self.work = asyncio.Event()
        self.look = asyncio.Event()
        self.draining = False
        self.tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> "Dispatcher":
        self.tasks = [asyncio.create_task(one()) for one in (self.answer_queue, self.keep_alive, self.watch)]
        return self

    async def __aexit__(self, *error: object) -> None:
        self.draining = True
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        for waiting in self.queue:
            waiting.fail(Busy("the server is ending."))
        await asyncio.gather(*(one.end() for one in (self.model, self.next) if one is not None))

    @property
    def ready(self) -> bool:
        """Whether a request that comes now will be answered."""
        return self.model is not None and self.model.lives and not self.draining

    def require_room(self, rows: int) -> None:
        """Refuse rows that cannot be taken now."""
        if not self.ready:
            raise Busy("the model is being loaded.", seconds=2)
        if self.rows_waiting + rows > self.limits.queue:
            raise Busy("too many requests wait.")

    async def ask(
        self, rows: list[Row], *, attention: bool = False, on_piece: Callable[[str], None] | None = None
    ) -> Reply:
        """The answers to the rows of one request; `Busy` where they cannot be taken, `Late` after too long a time."""
        self.require_room(len(rows))
        waiting = Waiting(rows, attention, on_piece)
        self.queue.append(waiting)
        self.rows_waiting += len(rows)
        self.work.set()
        timer = asyncio.get_running_loop().call_later(self.limits.seconds, waiting.fail, Late())
        try:
            return await waiting.reply
        finally:
            timer.cancel()

    async def answer_queue(self) -> None:
        """Ask the model whatever waits, for ever."""
        while True:
            await self.work.wait()
            if self.next is not None:
                await self.exchange_models()
            if self.model is None or not self.model.lives or not self.queue:  # the queue waits for the next one
                self.work.clear()
                continue
            batch = self.take_batch()
            if batch:
                await self.answer_batch(self.model, batch)

    def take_batch(self) -> list[Waiting]:
        """The oldest requests that fit together; a stream comes alone. Those that nobody waits for are left out."""
        batch: list[Waiting] = []
        rows = 0
        while self.queue and rows + len(self.queue[0].rows) <= max(self.limits.rows, len(self.queue[0].rows)):
            if batch and (self.queue[0].on_piece is not None or batch[0].on_piece is not None):
                break
            waiting = self.queue.popleft()
            self.rows_waiting -= len(waiting.rows)
            if not waiting.reply.done():
                batch.append(waiting)
                rows += len(waiting.rows)
        return batch

    async def answer_batch(self, model: ModelProcess, batch: list[Waiting]) -> None:
        """Ask once, and give each request its part. A model that dies or takes too long is replaced."""
        rows = [row for waiting in batch for row in waiting.rows]
        attention = [waiting.attention for waiting in batch for _ in waiting.rows]
        self.metrics.batches.add(len(rows))
        first = batch[0]
        try:
            async with asyncio.timeout(self.limits.seconds):
                if first.on_piece is not None:
                    answers = [await model.follow(first.rows[0], first.on_piece)]
                else:
                    answers = await model.ask(rows, attention)
        except (EOFError, TimeoutError) as error:
            late = isinstance(error, TimeoutError)
            await model.end(at_once=True)  # what it would still send belongs to nobody
            for waiting in batch:
                waiting.fail(
                    Late() if late else Busy("the process of the model ended; it is started again.", seconds=2)
                )
            return
        except asyncio.CancelledError:
            for waiting in batch:
                waiting.fail(Busy("the server is ending."))
            raise
        at = 0
        for waiting in batch:
            if not waiting.reply.done():
                waiting.reply.set_result(Reply(model.card, answers[at : at + len(waiting.rows)]))
            at += len(waiting.rows)

    async def exchange_models(self) -> None:
        """Between two batches, let the model that is loaded take over."""
        before, self.model, self.next = self.model, self.next, None
        if self.model is not None:
            self.card = self.model.card
        self.metrics.swaps += 1
        tell(f"{self.card.model} {self.card.id} answers now.")
        if before is not None:
            await before.end()

    async def keep_alive(self) -> None:
        """Start the model again whenever its process has died, after a pause that grows with every death."""
        pause, started = FIRST_PAUSE, time.monotonic()
        while True:
            model = self.model
            if model is not None:
                await model.ended()
                if self.model is not model:  # it was exchanged
                    continue
                self.model = None
                self.metrics.restarts += 1
                tell("the process of the model has died; it is started again.")
                pause = FIRST_PAUSE if time.monotonic() - started > STABLE else pause
            await asyncio.sleep(pause)
            pause, started = min(2 * pause, LONGEST_PAUSE), time.monotonic()
            if self.model is None:
                await self.load_again()

    async def load_again(self) -> None:
        """Load what the folder holds now; where that fails, readiness stays false."""
        try:
            found = await ModelProcess.start(self.folder, device=self.device)
        except (AtentoError, OSError) as error:
            tell(f"the model cannot be loaded: {error}")
            return
        if not self.fits(found.card):
            await found.end()
            return
        if self.model is None:
            self.model, self.card = found, found.card
            self.work.set()
        else:  # another one took over meanwhile
            await found.end()

    async def watch(self) -> None:
        """Load another model as soon as the folder holds one, or a signal asks to look; the old one answers until the
        new one can.
        """
        seen = state_of(self.folder)
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(BETWEEN_LOOKS):
                    await self.look.wait()
            asked, now = self.look.is_set(), state_of(self.folder)
            self.look.clear()
            if (now != seen or asked) and any(now) and self.model is not None:
                seen = now
                await self.load_next()

    async def load_next(self) -> None:
        """Load the model that the folder holds now, and let it wait for its turn; one that cannot be is told."""
        try:
            found = await ModelProcess.start(self.folder, device=self.device)
        except (AtentoError, OSError) as error:
            self.metrics.failed_swaps += 1
            tell(f"{self.folder} cannot be served: {error}\n{self.card.model} {self.card.id} goes on.")
            return
        if found.card.id == self.card.id or not self.fits(found.card):
            await found.end()
            return
        unused, self.next = self.next, found
        self.work.set()
        if unused is not None:
            await unused.end()

    def fits(self, card: ModelCard) -> bool:
        """Whether a model takes the same rows and gives the same kind of answers, as the schema promised."""
        if card.form == self.card.form:
            return True
        self.metrics.failed_swaps += 1
        tell(f"{self.folder} holds a model of another form ({card.task}); {self.card.id} goes on. Start a new server.")
        return False


def state_of(folder: Path) -> tuple[tuple[int, int, int] | None, ...]:
    """What tells whether a folder holds another model: of each file, when it was written, how long and which it is."""
    found: list[tuple[int, int, int] | None] = []
    for name in WATCHED:
        try:
            stat = (folder / name).stat()
            found.append((stat.st_mtime_ns, stat.st_size, stat.st_ino))
        except OSError:
            found.append(None)
    return tuple(found)


def tell(text: str) -> None:
    """A line for the person who watches the terminal."""
    print(f"atento serve: {text}", file=sys.stderr, flush=True)
