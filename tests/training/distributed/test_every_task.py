import json
import math
import random
from pathlib import Path

import pytest

from atento.tasks.catalogue import TASKS

SCRIPT = Path(__file__).parent / "every_task.py"


@pytest.fixture(scope="module")
def found(tmp_path_factory, processes):
    """What two gloo processes found for every task by each strategy, beside one process."""
    folder = tmp_path_factory.mktemp("every_task")
    chance = random.Random(0)
    words = ["the", "cat", "dog", "sees", "a", "house", "and", "runs", "away", "from", "it"]
    lines = (" ".join(chance.choices(words, k=chance.randint(5, 9))) for _ in range(120))
    (folder / "some.txt").write_text("".join(f"{line}.\n" for line in lines))
    rows = (
        f"2024-01-{1 + i // 24:02d} {i % 24:02d}:00,{math.sin(i / 5) + 0.1 * math.cos(i):.5f}\n" for i in range(400)
    )
    (folder / "series.csv").write_text("time,value\n" + "".join(rows))
    started = processes("torch.distributed.run", "--standalone", "--nproc-per-node", 2, SCRIPT, folder, cwd=folder)
    _, errors = started.communicate(timeout=300)
    assert started.returncode == 0, errors[-2000:]
    return [json.loads(line) for line in (folder / "found.jsonl").read_text().splitlines()]


def test_every_task_is_there_by_both_strategies(found):
    assert {(line["task"], line["strategy"]) for line in found} == {
        (task, strategy) for task in TASKS for strategy in ("ddp", "fsdp")
    }


def test_two_processes_have_the_loss_of_one(found):
    """Of uneven shares too, and of batches of which one process has nothing."""
    for line in found:
        assert line["together"] == pytest.approx(line["alone"], rel=1e-6, abs=1e-6), line


def test_two_processes_have_the_weights_of_one(found):
    """To what Adam makes of rounding: it divides a gradient by its own size, also one that is 0 but for rounding. One
    process computes Transformers without padding, sharded ones layer by layer.
    """
    assert {(line["task"], line["strategy"]): line["apart"] for line in found if line["apart"] > 3e-4} == {}
