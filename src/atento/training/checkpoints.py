"""Checkpoints: one file, written atomically, from which a run continues bit for bit. A checksum vouches for every byte
of it, and it for the other files that a run continues from: damage is told, never resumed.
"""

import hashlib
import json
import math
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from atento.bundle import CHECKPOINT, EVENTS, METADATA, RECIPE, SHARDS, VOCABULARY, damaged, require_fit, tensor_header
from atento.errors import InputError, is_machine_fault
from atento.lines import lines_of
from atento.training.distributed.ranks import ALONE, Ranks
from atento.training.distributed.shards import digests_of, load_shards, remove_shards, save_shards
from atento.training.distributed.strategies import is_shard
from atento.training.learner import Learner, Progress, impossible_value
from atento.writing import write_atomically

RESUMED_FROM = (RECIPE, VOCABULARY, EVENTS)  # beside the checkpoint itself
CHECKSUM = re.compile(rb'"checksum":"([0-9a-f]{64})"')  # in the header; quotes inside of other texts are escaped there
KINDS = ("model", "best", "ema")  # of the weights in a checkpoint
BLANK = b"0" * 64  # the checksum's place, while it is computed
MOST_THREADS = 512  # more are no number of threads that was measured
FIRST_SECONDS = 1.0  # of training, before the first checkpoint by the clock
MOST_SECONDS = 20.0  # between two of them
SAVING_TIME = 0.05  # share of the time that they may take


class CheckpointClock:
    """When the next checkpoint is due: a second after training began, then after as long again as it has trained, at
    most after 20 s; where saving takes long they are rarer, so that they take a twentieth of the time.
    """

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self.now = now
        self.began = self.last = now()
        self.took = 0.0  # seconds of the last save

    def due(self) -> bool:
        """Whether it is time for a checkpoint."""
        wait = min(max(self.last - self.began, FIRST_SECONDS), MOST_SECONDS)
        return self.now() - self.last >= max(wait, self.took / SAVING_TIME)

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Within it a checkpoint is saved."""
        started = self.now()
        yield
        self.last = self.now()
        self.took = self.last - started


def save_checkpoint(folder: Path, learner: Learner, *, fingerprint: str, ranks: Ranks = ALONE) -> None:
    """Save the weights, the best weights, their EMA, the optimizer and the random states; as text the progress, the
    number of threads, the fingerprint of the data, and size and SHA-256 of the other files that a run resumes from.

    Many processes save together and the first one writes; what they hold in shards goes into files beside it.
    """
    tensors, step, shards = learned_tensors(learner), learner.progress.step, {}
    if any(is_shard(tensor) for tensor in tensors.values()):
        shards, tensors = save_shards(folder, tensors, step=step, ranks=ranks), {}
    own = own_tensors(learner)
    for rank, other in enumerate(ranks.gather(save(own) if ranks.size > 1 else b"")):
        tensors |= own if rank == 0 else {f"rank.{rank}.{name}": tensor for name, tensor in load(other).items()}
    if not ranks.first:
        return
    if learner.closed_form_statistics is not None:
        tensors["closed_form_statistics"] = learner.closed_form_statistics
    facts = {
        "progress": json.dumps(asdict(learner.progress)),
        "threads": str(torch.get_num_threads()),
        "fingerprint": fingerprint,
        "files": json.dumps({name: file_digest(folder / name) for name in RESUMED_FROM if (folder / name).exists()}),
        "checksum": BLANK.decode(),
    }
    if ranks.joined:
        facts |= {"processes": str(ranks.size), "shards": json.dumps(shards)}
    plain = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    write_atomically(folder / CHECKPOINT, with_checksum(save(plain, metadata=facts)))
    if ranks.joined:
        remove_shards(folder, but=step if shards else None)


def learned_tensors(learner: Learner) -> dict[str, Tensor]:
    """What all processes have alike, or hold in shards: the weights, the best weights, their EMA and the optimizer."""
    tensors: dict[str, Tensor] = {f"model.{name}": tensor for name, tensor in learner.module.state_dict().items()}
    tensors |= {f"best.{name}": tensor for name, tensor in learner.best_weights.items()}
    if learner.ema is not None:
        tensors |= {f"ema.{name}": tensor for name, tensor in learner.ema.weights.items()}
    for index, values in learner.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{key}": torch.as_tensor(value) for key, value in values.items()}
    return tensors


def own_tensors(learner: Learner) -> dict[str, Tensor]:
    """What each process has for itself: its random states, and the recurrent state of its part of stateful batches."""
    tensors = {f"state.{place:04}": tensor.cpu().contiguous() for place, tensor in enumerate(learner.state)}
    tensors["random.cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    return tensors


class FileDigest(NamedTuple):
    """What a file held."""

    size: int  # bytes
    digest: str  # SHA-256


def file_digest(path: Path, size: int | None = None) -> FileDigest:
    """What a file holds, or its first `size` bytes."""
    content = path.read_bytes()[:size]
    return FileDigest(len(content), hashlib.sha256(content).hexdigest())


def with_checksum(content: bytes) -> bytes:
    """The bytes of a checkpoint with the checksum that fits them."""
    place = CHECKSUM.search(content)
    if place is None:
        raise ValueError("there is no place for the checksum")
    return content[: place.start(1)] + checksum_of(content).encode() + content[place.end(1) :]


def checksum_of(content: bytes) -> str:
    """SHA-256 of a checkpoint, its own checksum taken as zeros; nothing where there is none."""
    place = CHECKSUM.search(content)
    if place is None:
        return ""
    view, digest = memoryview(content), hashlib.sha256()
    for part in (view[: place.start(1)], BLANK, view[place.end(1) :]):
        digest.update(part)
    return digest.hexdigest()


def check_checkpoint(folder: Path, *, hashed_up_to: float = math.inf) -> dict[str, str]:
    """The facts of a checkpoint that is whole, as is every other file that the run resumes from; of a checkpoint with
    more bytes than `hashed_up_to` only the size and the header are compared.
    """
    facts = tensor_header(folder, CHECKPOINT).get(METADATA)
    if not isinstance(facts, dict) or not all(isinstance(value, str) for value in facts.values()):
        raise damaged(folder, CHECKPOINT, "no facts")
    if (folder / CHECKPOINT).stat().st_size <= hashed_up_to:
        found, stated = checksum_of((folder / CHECKPOINT).read_bytes()), facts.get("checksum", "")
        if not stated or found != stated:
            what = f"SHA-256 {found[:12]}… where it says {stated[:12]}…" if stated else "no checksum"
            raise damaged(folder, CHECKPOINT, what)
    try:
        digests, others = saved_digests(facts["files"]), saved_digests(facts.get("also", "{}"))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise damaged(folder, CHECKPOINT, f"files: {type(error).__name__}: {error}") from None
    for name, saved in digests.items():
        require_as_saved(folder, name, saved, others.get(name, saved))
    if hashed_up_to == math.inf and facts.get("shards", "{}") != "{}":
        require_shards(folder, facts)
    return facts


def saved_digests(text: str) -> dict[str, FileDigest]:
    """What files held, by name, as a checkpoint writes it."""
    files: dict[str, tuple[int, str]] = json.loads(text)
    return {name: FileDigest(int(size), str(digest)) for name, (size, digest) in files.items()}


def vouch_also(folder: Path, name: str, content: bytes) -> None:
    """Let a checkpoint also vouch for the content that a file is about to have: it may then be there or not yet."""
    facts = check_checkpoint(folder)
    now = {**json.loads(facts["files"]), name: file_digest(folder / name)}  # which may be what it vouched for before
    also = {name: FileDigest(len(content), hashlib.sha256(content).hexdigest())}
    whole = {**facts, "files": json.dumps(now), "also": json.dumps(also), "checksum": BLANK.decode()}
    tensors = load((folder / CHECKPOINT).read_bytes())
    write_atomically(folder / CHECKPOINT, with_checksum(save(tensors, metadata=whole)))


def require_shards(folder: Path, facts: dict[str, str]) -> None:
    """The shards that a checkpoint names must be what they were when it was saved."""
    try:
        place = folder / f"{SHARDS}{int(json.loads(facts['progress'])['step'])}"
        saved = {str(name): (int(size), str(digest)) for name, (size, digest) in json.loads(facts["shards"]).items()}
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise damaged(folder, CHECKPOINT, f"shards: {type(error).__name__}: {error}") from None
    found = digests_of(place) if place.is_dir() else {}
    wrong = next((name for name in {**saved, **found} if found.get(name) != saved.get(name)), None)
    if wrong is not None:
        what = "another content than was saved" if wrong in found and wrong in saved else "a file too many or too few"
        raise damaged(folder, f"{place.name}/{wrong}", what)


def require_as_saved(folder: Path, name: str, saved: FileDigest, also: FileDigest) -> None:
    """A file must begin with the bytes it held when the checkpoint was saved, or be as the checkpoint says it may
    become; only events may follow them.
    """
    if name not in RESUMED_FROM:
        raise damaged(folder, CHECKPOINT, f"the name {name!r}")
    if not (folder / name).is_file():
        raise damaged(folder, name, "no such file")
    found = file_digest(folder / name, saved.size if name == EVENTS else None)
    if found not in (saved, also):
        what = f"SHA-256 {found.digest[:12]}… where the checkpoint says {saved.digest[:12]}…"
        raise damaged(folder, name, what)


def load_checkpoint(folder: Path, learner: Learner, *, fingerprint: str, ranks: Ranks = ALONE) -> None:
    """Restore a learner, the random states and the number of threads from a checkpoint that is whole."""
    facts = check_checkpoint(folder)
    if facts.get("fingerprint", "") != fingerprint:
        raise InputError(
            f"{folder}: the data has changed since this run began.",
            found=f"fingerprint {fingerprint[:12]}… where the run began with {facts.get('fingerprint', '')[:12]}…",
            fix="restore the data, or start a new run with another --out",
        )
    sharded = facts.get("shards", "{}") != "{}"
    if not sharded and any(is_shard(weight) for weight in learner.module.parameters()):
        raise InputError(f"--resume: {folder} began without shards.", found="--strategy fsdp", fix="--strategy ddp")
    require_processes(folder, facts, ranks)
    try:
        tensors = load((folder / CHECKPOINT).read_bytes())
        if sharded:
            like = {f"{kind}.{name}": tensor for name, tensor in learner.module.state_dict().items() for kind in KINDS}
            weights = [weight for group in learner.optimizer.param_groups for weight in group["params"]]
            like |= {f"optimizer.{index}": weight for index, weight in enumerate(weights)}
            step = int(json.loads(facts["progress"])["step"])
            tensors |= load_shards(folder, step=step, like=like, ranks=ranks)
        restore(learner, tensors, facts, ranks=ranks)
    except (SafetensorError, LookupError, TypeError, ValueError, RuntimeError) as error:
        if is_machine_fault(error):
            raise
        raise damaged(folder, CHECKPOINT, lines_of(f"{type(error).__name__}: {error}")[0]) from None


def require_processes(folder: Path, facts: dict[str, str], ranks: Ranks) -> None:
    """Stateful batches go on with as many processes as before, for each has the state of its own part of them."""
    began = facts.get("processes", "1")
    if began != str(ranks.size) and any(name.startswith("state.") for name in tensor_header(folder, CHECKPOINT)):
        raise InputError(
            f"--resume: {folder} carries a state from batch to batch, which {began} processes hold in parts.",
            found=f"{ranks.size} processes",
            fix=f"--devices {began}",
        )


def restore(learner: Learner, tensors: dict[str, Tensor], facts: dict[str, str], *, ranks: Ranks = ALONE) -> None:
    """Put what `save_checkpoint` saved in its place, if it is possible at all."""
    saved, threads = json.loads(facts["progress"]), int(facts["threads"])
    progress = Progress(**saved)
    if "gain_step" not in saved:  # an older version had one step for both
        progress.gain_step = progress.best_step
    wrong = impossible_value(progress) or ("" if 1 <= threads <= MOST_THREADS else f"threads = {threads}")
    if wrong:
        raise ValueError(wrong)
    learner.progress = progress
    learner.best_weights = with_prefix("best.", tensors)
    for weights in filter(None, (with_prefix("model.", tensors), learner.best_weights)):
        require_fit(learner.module, weights, where=CHECKPOINT)
    learner.module.load_state_dict(with_prefix("model.", tensors))
    if learner.ema is not None:
        learner.ema.load(with_prefix("ema.", tensors))
    learner.closed_form_statistics = tensors.get("closed_form_statistics")
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in with_prefix("optimizer.", tensors).items():
        index, _, key = name.partition(".")
        state.setdefault(int(index), {})[key] = tensor
    groups = learner.optimizer.state_dict()["param_groups"]
    learner.optimizer.load_state_dict({"state": state, "param_groups": groups})
    own = tensors if ranks.first else with_prefix(f"rank.{ranks.rank}.", tensors)
    parts = with_prefix("state.", own)
    learner.state = [parts[place] for place in sorted(parts)]
    if ranks.first or own:  # a process that was not there before keeps the random state it began with
        torch.set_rng_state(own["random.cpu"])
        if "random.cuda" in own and torch.cuda.is_available():
            torch.cuda.set_rng_state(own["random.cuda"])
    torch.set_num_threads(threads)


def with_prefix(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose name has a prefix, by the rest of their name."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
