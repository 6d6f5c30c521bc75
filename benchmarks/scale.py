"""What more processes cost and gain: throughput on 2 against 1, seconds per token and per byte, memory per parameter.

    python benchmarks/scale.py [--processes 2] [--steps 30] [--hidden 256] [--layers 6]

A Transformer decoder learns plain text, with one thread a process. Throughput is that of the whole group, beside the
plain training of one process in the same minute, by the fastest step of each. Memory is what a process holds between
two steps (weights, gradients, optimizer), counted from its tensors, and the growth of its resident memory from before
the model to its largest, both divided by all parameters of the model.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
WARM_UP = 3


def work(options: argparse.Namespace) -> None:
    """One process: some steps by a strategy, or plain where torchrun did not start it."""
    import torch

    from atento.api.fit import begin
    from atento.api.prepare import assemble, gather_values, prepare, read_data
    from atento.training.distributed.ranks import join
    from atento.training.events import EventLog
    from atento.training.loop import take_step

    device = torch.device("cpu")
    values = gather_values(
        options.file, task="generate", model="transformer", seed=0, budget=None,
        settings={"model.hidden": options.hidden, "model.layers": options.layers, "model.heads": 4,
                  "model.dropout": 0.0, "train.steps": 10_000, "train.batch_tokens": options.tokens,
                  "train.sequence_length": 64, "train.threads": 1, "train.stateful": False},
    )  # fmt: skip
    data = read_data(assemble(values), values)
    with join(device) as ranks:
        before = resident()
        prepared = prepare(data)
        log = EventLog(Path(options.file).parent, writes=False)
        plan, learner = begin(prepared, Path(), device, log, ranks, strategy=options.strategy, resume=False)
        order: Any = plan.order
        batches = order.epoch(0)
        times, tokens, made = [], 0, 0.0
        for number in range(options.steps + WARM_UP):
            batch = batches[number % len(batches)]
            started = time.perf_counter()
            take_step(plan, learner, batch, batches=len(batches))
            times.append(time.perf_counter() - started)
            started = time.process_time()
            plan.batch(ranks.part(batch))
            made += time.process_time() - started
            tokens += 64 * len(batch)
        took = (options.steps + WARM_UP) * min(times[WARM_UP:])  # other programs slow the other steps
        parameters = sum(weight.numel() for weight in learner.module.parameters())
        held = [*learner.module.parameters(), *(weight.grad for weight in learner.module.parameters())]
        held += [part for state in learner.optimizer.state.values() for part in state.values()]
        local = [part.to_local() if hasattr(part, "to_local") else part for part in held if part is not None]
        size = sum(part.numel() * part.element_size() for part in local)
        facts = {"tokens": tokens, "seconds": took, "batching": made, "parameters": parameters, "held": size,
                 "grown": resident() - before}  # fmt: skip
        found = [json.loads(one) for one in ranks.gather(json.dumps(facts).encode())]
        if ranks.first:
            print(json.dumps(found))


def encode(rows: int = 20_000) -> None:
    """Print what a batch of texts from disk costs the process that trains: reading, encoding and padding it."""
    from atento.data.examples.batches import Sampler
    from atento.data.examples.stored import StoredPairs
    from atento.spec import TokensRecipe
    from atento.tasks.catalogue import CLASSIFY
    from atento.tasks.encoding import EncodedOnDemand

    chance, pairs, learning = random.Random(0), StoredPairs(), CLASSIFY.learning
    words = [first + vowel + last for first in "bdklmnprst" for vowel in "aeiou" for last in "nrsl"]
    for row in range(rows):
        pairs.append((" ".join(chance.choices(words, k=chance.randint(15, 60))), "yes" if row % 3 else "no"))
    pairs.close_writing()
    for level in ("word", "subword"):
        codec = learning.learn(TokensRecipe(source=level), pairs.sample())
        examples = EncodedOnDemand(CLASSIFY, codec, pairs)
        tokens = size = 0
        began = time.process_time()
        for batch in Sampler(examples.lengths(0, rows).tolist(), batch_tokens=8192, seed=0).epoch(0)[:40]:
            made = learning.batch(codec, [examples[row] for row in batch])
            tokens, size = (
                tokens + int(made[1].sum()),
                size + int(sum(pairs.bytes_of(row, row + 1)[0] for row in batch)),
            )
        cost = 1e6 * (time.process_time() - began)
        print(f"texts from disk as batches of {level}s: {cost / tokens:.2f} core-µs a token, ", end="")
        print(f"{cost / size:.3f} a byte; {1e6 * tokens / cost:,.0f} tokens/s")


def resident() -> int:
    """The most memory of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(options: argparse.Namespace, file: Path, strategy: str, processes: int) -> list[dict[str, float]]:
    """What the processes of a strategy found; plain training with none."""
    path = os.pathsep.join([str(ROOT / "src"), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    environment["TORCH_CPP_LOG_LEVEL"] = "ERROR"
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)] if processes else []
    words = [*torchrun, __file__, "--worker", "--file", file, "--strategy", strategy]
    for name in ("steps", "hidden", "layers", "tokens"):
        words += [f"--{name}", str(getattr(options, name))]
    done = subprocess.run(
        [sys.executable, *map(str, words)], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    """All ways to train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--tokens", type=int, default=2048, help="of a batch")
    parser.add_argument("--file", default="", help="of a worker")
    parser.add_argument("--strategy", default="ddp", help="of a worker")
    parser.add_argument("--worker", action="store_true")
    options = parser.parse_args()
    if options.worker:
        work(options)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        file, chance = Path(folder) / "some.txt", random.Random(0)
        words = [first + vowel + last for first in "bdklmnprst" for vowel in "aeiou" for last in "nrsl"]
        file.write_text("".join(" ".join(chance.choices(words, k=12)) + ".\n" for _ in range(6000)))
        ways = [("plain", "ddp", 0), ("ddp × 1", "ddp", 1), (f"ddp × {options.processes}", "ddp", options.processes),
                (f"fsdp × {options.processes}", "fsdp", options.processes)]  # fmt: skip
        plain = 0.0
        for name, strategy, processes in ways:
            found = measure(options, file, strategy, processes)
            rate = found[0]["tokens"] / max(one["seconds"] for one in found)
            plain = plain or rate
            parameters = found[0]["parameters"]
            held = max(one["held"] for one in found) / parameters
            grown = ", ".join(f"{one['grown'] / parameters:.1f}" for one in found)
            cost = 1e6 * max(1, processes) / rate
            print(f"{name:9} {rate:8,.0f} tokens/s, {rate / plain:.2f} of plain, {cost:.0f} core-µs a token; ", end="")
            print(f"a process holds {held:.1f} bytes a parameter and grows by {grown}")
        encode()
        cost = 1e6 * found[0]["batching"] / found[0]["tokens"]
        print(f"{parameters:,} parameters; batches are made at {cost:.2f} µs a token")
        print(f"6 N / token: {6 * parameters * plain / 1e9:.1f} GFLOP/s of one core")
    return 0


if __name__ == "__main__":
    sys.exit(main())
