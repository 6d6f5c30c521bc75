"""One process of torchrun, by NCCL on a GPU or gloo on a CPU, beside the plain training: equal weights, and how fast.

    python benchmarks/one_process.py [--device cuda] [--steps 200] [--hidden 256]

All train a Transformer on number words from the same seed for as many steps, without validations. The weights must be
equal bit for bit by DDP, and to 1e-6 of the largest one by FSDP2, whose optimizer may round otherwise; where a second
plain training is not equal to the first, as on a GPU that adds in any order, no farther apart than twice these two.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from safetensors.torch import load_file
from torch import Tensor

ROOT = Path(__file__).parents[1]


def train(words: list[str], out: Path, *options: str) -> dict[str, float]:
    """Train by a command; what its metrics say."""
    path = os.pathsep.join([str(ROOT / "src"), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    environment = {**os.environ, "PYTHONPATH": path, "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
    command = [sys.executable, "-m", *words, "train", "numbers", "--model", "transformer", "--out", str(out), "--json"]
    done = subprocess.run([*command, *options], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def apart(weights: dict[str, Tensor], folder: Path) -> float:
    """The largest difference of a weight from that of another run."""
    other = load_file(folder / "weights.safetensors")
    return max((tensor - other[key]).abs().max().item() for key, tensor in weights.items())


def main() -> int:
    """Plain, DDP and FSDP2."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--hidden", type=int, default=256)
    options = parser.parse_args()
    settings = [f"train.steps={options.steps}", f"model.hidden={options.hidden}", "train.validations=1",
                "train.baselines=no", "train.threads=1"]  # fmt: skip
    words = ["--device", options.device, *(word for one in settings for word in ("--set", one))]
    torchrun = ["torch.distributed.run", "--standalone", "--nproc-per-node", "1", "-m", "atento"]
    missed = False
    with tempfile.TemporaryDirectory() as name:
        plain = train(["atento"], Path(name) / "plain", *words)
        weights = load_file(Path(name) / "plain" / "weights.safetensors")
        largest = max(tensor.abs().max().item() for tensor in weights.values())
        print(f"plain: {plain['examples_per_second']:,.0f} examples/s on {plain['device']}", flush=True)
        again = train(["atento"], Path(name) / "again", *words)
        chance = apart(weights, Path(name) / "again")
        print(f"plain again: {again['examples_per_second']:,.0f} examples/s; weights at most {chance:.2g} apart")
        for strategy in ("ddp", "fsdp"):
            found = train(torchrun, Path(name) / strategy, *words, "--strategy", strategy)
            most = apart(weights, Path(name) / strategy)
            rate = found["examples_per_second"] / max(plain["examples_per_second"], again["examples_per_second"])
            met = most <= max(2 * chance, 1e-6 * largest if strategy == "fsdp" else 0.0)
            missed |= not met
            print(
                f"{strategy}, one process: {found['examples_per_second']:,.0f} examples/s, {rate:.2f} of the plain one;"
            )
            print(f"  weights at most {most:.2g} apart: {'met' if met else 'MISSED'}", flush=True)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
