"""Checkpoints: one file, written atomically, from which a run continues bit for bit."""

import json
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from atento.bundle import damaged, require_fit, write_atomically
from atento.errors import InputError
from atento.lines import lines_of
from atento.training.learner import Learner, Progress

CHECKPOINT = "checkpoint.safetensors"


def save_checkpoint(folder: Path, learner: Learner, *, fingerprint: str) -> None:
    """Save the weights, the best weights, their EMA, the optimizer and the random states; as text the progress, the
    number of threads and the fingerprint of the data.
    """
    tensors: dict[str, Tensor] = {f"model.{name}": tensor for name, tensor in learner.module.state_dict().items()}
    tensors |= {f"best.{name}": tensor for name, tensor in learner.best_weights.items()}
    if learner.ema is not None:
        tensors |= {f"ema.{name}": tensor for name, tensor in learner.ema.weights.items()}
    for index, values in learner.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{key}": torch.as_tensor(value) for key, value in values.items()}
    if learner.closed_form_statistics is not None:
        tensors["closed_form_statistics"] = learner.closed_form_statistics
    tensors |= {f"state.{place:04}": tensor for place, tensor in enumerate(learner.state)}
    tensors["random.cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    facts = {
        "progress": json.dumps(asdict(learner.progress)),
        "threads": str(torch.get_num_threads()),
        "fingerprint": fingerprint,
    }
    plain = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    write_atomically(folder / CHECKPOINT, save(plain, metadata=facts))


def load_checkpoint(folder: Path, learner: Learner, *, fingerprint: str) -> None:
    """Restore a learner, the random states and the number of threads."""
    tensors, facts = read_checkpoint(folder)
    if facts.get("fingerprint", fingerprint) != fingerprint:
        raise InputError(
            f"{folder}: the data has changed since this run began.",
            found=f"fingerprint {fingerprint[:12]}… where the run began with {facts['fingerprint'][:12]}…",
            fix="restore the data, or start a new run with another --out",
        )
    try:
        restore(learner, tensors, facts)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise damaged(folder, CHECKPOINT, lines_of(f"{type(error).__name__}: {error}")[0]) from None


def restore(learner: Learner, tensors: dict[str, Tensor], facts: dict[str, str]) -> None:
    """Put what `save_checkpoint` saved in its place."""
    learner.progress = Progress(**json.loads(facts["progress"]))
    learner.best_weights = with_prefix("best.", tensors)
    for weights in filter(None, (with_prefix("model.", tensors), learner.best_weights)):
        require_fit(learner.module, weights, where=CHECKPOINT)
    learner.module.load_state_dict(with_prefix("model.", tensors))
    if learner.ema is not None:
        learner.ema.load(with_prefix("ema.", tensors))
    parts = with_prefix("state.", tensors)
    learner.state = [parts[place] for place in sorted(parts)]
    learner.closed_form_statistics = tensors.get("closed_form_statistics")
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in with_prefix("optimizer.", tensors).items():
        index, _, key = name.partition(".")
        state.setdefault(int(index), {})[key] = tensor
    groups = learner.optimizer.state_dict()["param_groups"]
    learner.optimizer.load_state_dict({"state": state, "param_groups": groups})
    torch.set_rng_state(tensors["random.cpu"])
    if "random.cuda" in tensors and torch.cuda.is_available():
        torch.cuda.set_rng_state(tensors["random.cuda"])
    torch.set_num_threads(int(facts["threads"]))


def read_checkpoint(folder: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors and the text of a checkpoint file."""
    try:
        with safe_open(folder / CHECKPOINT, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except (SafetensorError, ValueError, OSError) as error:
        raise damaged(folder, CHECKPOINT, str(error)) from None


def with_prefix(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose name has a prefix, by the rest of their name."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
