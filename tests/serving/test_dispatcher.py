"""The queue before a model by itself: order, batches, and what takes too long."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from atento.serving.dispatcher import Busy, Dispatcher, Late
from atento.serving.limits import Limits
from atento.serving.metrics import Metrics
from atento.serving.served import ModelCard

CARD = ModelCard("0123", "classify", "gru", "…", "text", "label")


class Model:
    """A model process that answers when it is told to."""

    card = CARD

    def __init__(self):
        self.asked, self.go, self.gone = [], asyncio.Event(), asyncio.Event()

    @property
    def lives(self):
        return not self.gone.is_set()

    async def ask(self, rows, attention):
        self.asked.append([row["text"] for row in rows])
        await self.go.wait()
        return [{"answer": row["text"]} for row in rows]

    async def ended(self):
        await self.gone.wait()

    async def end(self, *, at_once=False):
        self.gone.set()


def with_dispatcher(tmp_path, story, **limits):
    """Run a story of a dispatcher and its model; nothing in it takes more than a moment."""

    async def run():
        model = Model()
        async with Dispatcher(tmp_path, model, device="cpu", limits=Limits(**limits), metrics=Metrics()) as dispatcher:
            await asyncio.wait_for(story(dispatcher, model), 300)

    with ThreadPoolExecutor(1) as thread:  # a browser that another test has opened keeps a loop in the main one
        thread.submit(asyncio.run, run()).result()


def start(dispatcher, *texts):
    return asyncio.create_task(dispatcher.ask([{"text": text} for text in texts]))


def test_what_waits_is_asked_together_in_its_order_and_no_request_is_divided(tmp_path):
    async def story(dispatcher, model):
        first = start(dispatcher, "a")
        await asyncio.sleep(0.01)
        others = [start(dispatcher, *texts) for texts in ("bc", "d", "efg", "hi")]
        await asyncio.sleep(0.01)
        model.go.set()
        replies = await asyncio.gather(first, *others)
        assert model.asked == [["a"], ["b", "c", "d"], ["e", "f", "g"], ["h", "i"]]  # at most 4 rows at once
        assert [[one["answer"] for one in reply.answers] for reply in replies] == [
            ["a"], ["b", "c"], ["d"], ["e", "f", "g"], ["h", "i"],
        ]  # fmt: skip

    with_dispatcher(tmp_path, story, rows=4)


def test_what_takes_too_long_is_told_in_time_and_its_model_is_ended(tmp_path):
    async def story(dispatcher, model):
        asked = start(dispatcher, "a")
        while not model.asked:
            await asyncio.sleep(0)
        behind = start(dispatcher, "b")  # it waits in the queue, and no longer than the first
        for one in (asked, behind):
            with pytest.raises(Late):
                await one
        await model.ended()
        assert model.asked == [["a"]] and not dispatcher.ready
        with pytest.raises(Busy):
            await dispatcher.ask([{"text": "c"}])

    with_dispatcher(tmp_path, story, seconds=0.1)


def test_whoever_has_gone_is_not_answered(tmp_path):
    async def story(dispatcher, model):
        first = start(dispatcher, "a")
        await asyncio.sleep(0.01)
        gone, stays = start(dispatcher, "b"), start(dispatcher, "c")
        await asyncio.sleep(0.01)
        gone.cancel()
        await asyncio.sleep(0.01)
        model.go.set()
        await asyncio.gather(first, stays)
        assert model.asked == [["a"], ["c"]] and dispatcher.rows_waiting == 0

    with_dispatcher(tmp_path, story)
