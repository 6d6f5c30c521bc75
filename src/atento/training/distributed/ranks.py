"""This process among those that train one model: who it is, what they agree on, and what it says when one is gone.

A rank is one of these processes, as torchrun counts them. What they tell each other besides gradients is small and goes
through memory on the CPU by gloo: counts, signs to stop, JSON. Nothing of it is pickled.
"""

import json
import os
import signal
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.distributed_c10d import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous

from atento.errors import AtentoError, InputError, MachineError, RunError

VARIABLES = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")  # what torchrun tells each process
SECONDS_TO_CONNECT = 120.0  # ATENTO_CONNECT_SECONDS changes it
SECONDS_TO_WAIT = 24 * 3600.0  # for others that validate or test; one that dies is noticed at once
SECONDS_BETWEEN_LOOKS = 0.02  # for others at the start
SECONDS_TO_ANSWER = 1.0  # within which those that live say so, after one is gone
GONE = ("closed by peer", "reset by peer", "broken pipe", "connection refused", "socket closed", "gloo", "nccl",
        "distbackenderror", "remote process exited", "timed out", "connection was likely closed")  # fmt: skip


class Signs(NamedTuple):
    """What all processes of a run do after a step, at the same step."""

    elapsed: float  # seconds of the run so far
    event: bool  # whether it is time for one
    checkpoint: bool  # whether it is time for one
    finish: bool  # whether a request asks to end
    signal: int  # 0: none


class PeerLost(RunError):
    """Another process of this run is gone."""


@dataclass
class Ranks:
    """This process among `size`; alone it is the first of one, and has no store."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    local_size: int = 1
    store: Store | None = None
    resume: str = ""  # what a user types to go on, known once the folder is

    @property
    def joined(self) -> bool:
        """Whether there is a process group, though it may hold this process alone."""
        return self.store is not None

    @property
    def first(self) -> bool:
        """Whether this process writes the folder, tests the model and shows progress."""
        return self.rank == 0

    def part(self, indices: Any) -> Any:
        """The examples of a batch that this process takes: every `size`-th, so that lengths are alike everywhere."""
        return indices if self.size == 1 else indices[self.rank :: self.size]

    def sum(self, tensor: Tensor) -> Tensor:
        """The sum over all processes, in place."""
        if self.size > 1:
            dist.all_reduce(tensor)
        return tensor

    def agree(self, signs: "Signs") -> "Signs":
        """What the clock of the first process says is true for all, and a signal to one of them is one to all."""
        if self.size == 1:
            return signs
        own = signs if self.first else Signs(0.0, False, False, False, signs.signal)
        tensor = torch.tensor([float(sign) for sign in own], dtype=torch.float64)
        dist.all_reduce(tensor, op=dist.ReduceOp.MAX)
        elapsed, event, checkpoint, finish, number = tensor.tolist()
        return Signs(elapsed, bool(event), bool(checkpoint), bool(finish), int(number))

    def from_first(self, value: Any = None) -> Any:
        """What the first process says, in JSON."""
        if self.size == 1:
            return value
        data = json.dumps(value).encode() if self.first else b""
        size = torch.tensor([len(data)])
        dist.broadcast(size, src=0)
        content = torch.frombuffer(bytearray(data), dtype=torch.uint8) if self.first else torch.empty(0)
        content = content if self.first else torch.empty(int(size), dtype=torch.uint8)
        dist.broadcast(content, src=0)
        return value if self.first else json.loads(content.numpy().tobytes())

    def gather(self, data: bytes) -> list[bytes]:
        """What every process gives, in the order of ranks, for all of them."""
        if self.size == 1:
            return [data]
        sizes = [torch.zeros(1, dtype=torch.long) for _ in range(self.size)]
        dist.all_gather(sizes, torch.tensor([len(data)]))
        longest = max(1, *(int(size) for size in sizes))
        own = torch.zeros(longest, dtype=torch.uint8)
        own[: len(data)] = torch.frombuffer(bytearray(data or b"\0"), dtype=torch.uint8)[: len(data)]
        parts = [torch.empty(longest, dtype=torch.uint8) for _ in range(self.size)]
        dist.all_gather(parts, own)
        return [part.numpy().tobytes()[: int(size)] for part, size in zip(parts, sizes, strict=True)]

    def say_done(self) -> None:
        """The first process has completed the folder."""
        if self.store is not None:
            self.store.set("atento/done", "1")

    def wait_until_done(self) -> None:
        """Wait for the first process to complete the folder."""
        if self.store is not None:
            self.store.wait(["atento/done"], timedelta(seconds=SECONDS_TO_WAIT))

    def failure(self, error: AtentoError) -> AtentoError:
        """The same failure, which is told to the others; what the first process says as well is said once."""
        if self.store is None:
            return error
        facts = {"problem": error.problem, "found": error.found, "fix": error.fix}
        with suppress(RuntimeError):
            self.store.set(f"atento/failed/{self.rank}", json.dumps(facts))
            if not self.first and not isinstance(error, PeerLost):
                self.store.wait(["atento/failed/0"], timedelta(seconds=SECONDS_TO_ANSWER))
                error.told = json.loads(self.store.get("atento/failed/0"))["problem"] == error.problem
        return error

    def lost(self, error: BaseException) -> AtentoError:
        """The failure of this process when another is gone: it names that one and the command to resume."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # torchrun stops all: this one ends by itself, with a word
        said = str(error).split("\n")[0]
        fix = f"go on with: {self.resume}" if self.resume else "start it again"
        gone, told = self.missing()
        if told:
            lost = PeerLost(told["problem"], found=told["found"], fix=told["fix"])
            lost.told = True  # by the process that failed
            return lost
        names = ", ".join(map(str, gone)) or "unknown"
        who = f"rank {names} of {self.size} has ended" if len(gone) < 2 else f"ranks {names} of {self.size} have ended"
        lost = PeerLost(f"{who}; this is rank {self.rank}, which cannot go on alone.", found=said[:160], fix=fix)
        lost.told = self.rank != min(set(range(self.size)) - set(gone), default=self.rank)
        return lost

    def missing(self) -> tuple[list[int], dict[str, str]]:
        """The ranks that no longer answer, and what one that failed by itself has left to say."""
        if self.store is None:
            return [], {}
        others = [rank for rank in range(self.size) if rank != self.rank]
        try:
            self.store.set(f"atento/alive/{self.rank}", "1")
            until = time.monotonic() + SECONDS_TO_ANSWER
            while others and time.monotonic() < until:
                for rank in list(others):
                    if self.store.check([f"atento/failed/{rank}"]):
                        facts = json.loads(self.store.get(f"atento/failed/{rank}"))
                        return [rank], facts
                    if self.store.check([f"atento/alive/{rank}"]):
                        others.remove(rank)
                time.sleep(0.05)
        except RuntimeError:  # the store itself is gone, and with it the process that held it
            return [0], {}
        return others, {}


ALONE = Ranks()


def is_rank() -> bool:
    """Whether torchrun, or a scheduler that sets the same variables, started this process as one of several."""
    return all(os.environ.get(name) for name in VARIABLES)


def is_restarted() -> bool:
    """Whether torchrun started the processes again after one of them failed."""
    return is_rank() and os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") != "0"


@contextmanager
def join(device: torch.device) -> Iterator[Ranks]:
    """Join the other processes that the environment names; alone without any. The group ends with the context."""
    if not is_rank():
        yield ALONE
        return
    ranks = connect(device)
    try:
        yield ranks
    except AtentoError as error:
        raise ranks.failure(error) from error.__cause__
    except RuntimeError as error:
        if is_lost(error):
            raise ranks.lost(error) from None
        raise
    dist.destroy_process_group()  # after a failure it would wait for processes that are gone


def connect(device: torch.device) -> Ranks:
    """Meet the others at the address that the environment names."""
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    address = f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
    seconds = float(os.environ.get("ATENTO_CONNECT_SECONDS", SECONDS_TO_CONNECT))
    main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGTERM, signal.SIG_DFL) if main else None  # torch waits without looking at ours
    try:
        shared, rank, size = next(rendezvous("env://", timeout=timedelta(seconds=seconds)))
        store = meet(shared, rank, size, seconds)
        both = "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"
        dist.init_process_group(
            both, store=store, rank=rank, world_size=size, timeout=timedelta(seconds=SECONDS_TO_WAIT)
        )
    except (RuntimeError, ValueError, OSError) as error:
        raise not_connected(address, rank, size, seconds, error) from None
    finally:
        if main:
            signal.signal(signal.SIGTERM, handler)
    local = int(os.environ.get("LOCAL_RANK", "0"))
    return Ranks(rank, size, local, int(os.environ.get("LOCAL_WORLD_SIZE", "1")), store)


def meet(store: Store, rank: int, size: int, seconds: float) -> Store:
    """The part of a store that only the processes of this start use.

    Processes that torchrun starts again find what those before them left in it, their addresses too. So each writes a
    number that is drawn anew, the first answers it with a name for this start, and they acknowledge that.
    """
    own, until = uuid.uuid4().hex, time.monotonic() + seconds
    name, waiting = own if rank == 0 else "", set(range(1, size))
    store.set(f"atento/number/{rank}", own)
    while (waiting if rank == 0 else not name) and time.monotonic() < until:
        for other in list(waiting) if rank == 0 else ():
            if store.check([f"atento/number/{other}"]):
                store.set(f"atento/name/{store.get(f'atento/number/{other}').decode()}", name)
            if store.check([f"atento/here/{name}/{other}"]):
                waiting.remove(other)
        if rank and store.check([f"atento/name/{own}"]):
            name = store.get(f"atento/name/{own}").decode()
            store.set(f"atento/here/{name}/{rank}", "1")
        time.sleep(SECONDS_BETWEEN_LOOKS)
    if rank == 0 and waiting:
        raise TimeoutError(f"rank {', '.join(map(str, sorted(waiting)))} did not come")
    if not name:
        raise TimeoutError("rank 0 did not answer")
    return PrefixStore(name, store)


def not_connected(address: str, rank: int, size: int, seconds: float, error: Exception) -> MachineError:
    """The one message for a process that does not meet the others, with the address and who is missing."""
    return MachineError(
        f"rank {rank} of {size} could not meet the others at {address} within {seconds:g} s.",
        found=str(error).split("\n")[0][:120],
        fix=f"start all {size} processes, with one MASTER_ADDR and MASTER_PORT that every machine can reach",
    )


def is_lost(error: BaseException) -> bool:
    """Whether an error says that another process, or the way to it, is gone."""
    if isinstance(error, AtentoError) or not isinstance(error, RuntimeError):
        return False
    said = f"{type(error).__name__} {error}".lower()
    return any(sign in said for sign in GONE)


def local_device(device: torch.device, local_rank: int) -> torch.device:
    """The GPU of this process, or the CPU."""
    if device.type != "cuda":
        return device
    if local_rank >= torch.cuda.device_count():
        raise too_many(local_rank + 1, torch.cuda.device_count(), "GPU")
    torch.cuda.set_device(local_rank)
    return torch.device("cuda", local_rank)


def too_many(asked: int, there: int, what: str) -> InputError:
    """The one message for more devices than there are."""
    return InputError(
        f"--devices {asked}: this machine has fewer.",
        found=f"{there} {what}{'' if there == 1 else 's'}",
        fix=f"--devices {there}" if there > 1 else "leave --devices out",
    )
