"""What the benchmarks on one core share: interleaved timing, a claim, and its report.

Times are processor times of this process: what others run on the machine does not count. The best of many short calls
is taken, of both sides in turn.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import NamedTuple, NoReturn

import torch

Run = Callable[[], object]


class Claim(NamedTuple):
    """How many times as fast as the peer, and the goal; 0: none was set."""

    claim: str
    peer: str
    ours: float
    peers: float  # the peer's
    goal: float
    unit: str = "ms"
    is_bound: bool = False  # the peer needs at least so much, the ratio is at least so large

    @property
    def ratio(self) -> float:
        return self.peers / self.ours


def one_thread() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)


def time_beside(*runs: Run, rounds: int = 30) -> list[float]:
    """The best milliseconds of each, taken in turn, after three calls that do not count."""
    best = [float("inf")] * len(runs)
    for turn in range(rounds + 3):
        order = range(len(runs)) if turn % 2 else reversed(range(len(runs)))
        for place in order:
            started = time.process_time()
            runs[place]()
            if turn >= 3:
                best[place] = min(best[place], (time.process_time() - started) * 1e3)
    return best


def tell(claim: Claim) -> Claim:
    """Print a claim as one line of JSON; a claim without a goal neither passes nor fails."""
    passed = claim.ratio >= claim.goal if claim.goal else None
    print(json.dumps({**claim._asdict(), "ratio": round(claim.ratio, 3), "pass": passed}), flush=True)
    return claim


def end(claims: list[Claim]) -> NoReturn:
    """Exit 1 if any claim is missed."""
    sys.exit(0 if all(one.ratio >= one.goal for one in claims) else 1)


def report(claims: list[Claim]) -> NoReturn:
    """Print all claims, then exit 1 if any is missed."""
    end([tell(one) for one in claims])


def not_measured(claim: str, peer: str, why: str) -> None:
    """One line of JSON for a claim whose peer is not here."""
    print(json.dumps({"claim": claim, "peer": peer, "why": why}), flush=True)
