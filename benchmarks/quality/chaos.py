"""Valid times on Lorenz-63 and Rössler: python benchmarks/quality/chaos.py FOLDER [--budget 10m] [--device …].

Protocol of the folder: all of `*_train.csv` is learned from (a twentieth of it, the last, validates); of each of the 20
runs in `*_starts.csv` 100 steps are given, then a model runs free on its own output. The figure is the median over runs
of the first time at which the error passes 0.4 spreads, in Lyapunov times. Beside it what simple models reach, and the
climate of a long free run. The recipes are the defaults of such files, on a processor and on a GPU.
"""

import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from standing import Figure, Target, arguments, on_gpu, settle

import atento
from atento.api.explain.series import free_runs
from atento.baselines.dynamics import Polynomial, Reservoir
from atento.metrics.dynamics import ValidTimes, climate, valid_times
from atento.spec import parse_settings

Numbers = NDArray[np.float64]

GIVEN = 100  # steps of a run
CLIMATE = 5000  # steps of a free run whose statistics are compared


class System(NamedTuple):
    """What the folder says of a set."""

    name: str
    step: float
    exponent: float
    horizon: int  # steps of a validation's forecasts: about two Lyapunov times
    targets: tuple[float, float]  # on two cores, on a GPU
    published: str


SYSTEMS = (
    System("lorenz63", 0.02, 0.9056, 100, (4.0, 6.7), "quadratic ridge 6.7, cubic 10.8; LSTM and GRU 1-4"),
    System("rossler", 0.1, 0.0714, 250, (2.0, 3.0), "quadratic ridge 0.05, cubic 0.7"),
)
MODELS = ("rnn",)


def main() -> None:
    """Both systems, unless one is named."""
    asked = arguments("valid prediction times of chaotic systems")
    systems = [system for system in SYSTEMS if (asked.folder / f"{system.name}_train.csv").exists()]
    ends = [judge(asked, system) for system in systems]
    sys.exit(max(ends, default=1))


def judge(asked: Any, system: System) -> int:
    """Print the table of one system; 0 when its target is met."""
    train, starts = numbers_of(asked.folder, system)
    gpu = on_gpu(asked)
    print(f"{system.name}: {len(train)} rows to learn from, {len(starts)} runs of {starts.shape[1] - GIVEN} steps")
    figures = [Figure("last value", [tell(system, "last value", train, starts, repeat_last)], baseline=True)]
    for simple in (Polynomial(degree=2), Polynomial(degree=3), Polynomial(degree=5, delays=1), Reservoir()):
        simple.fit([train])
        figures.append(Figure(simple.name, [tell(system, simple.name, train, starts, simple.rollout)], baseline=True))
    for model in asked.models.split(",") if asked.models else MODELS:
        values = []
        for seed in range(asked.seeds):
            run = learn(asked, system, model, seed)
            values.append(
                tell(
                    system,
                    f"{model}, seed {seed}",
                    train,
                    starts,
                    lambda pasts, steps, run=run: free_runs(run, pasts, steps),
                )
            )
        figures.append(Figure(model, values))
    target = Target("median valid time in Lyapunov times", system.targets[gpu], system.published, strict=gpu)
    try:
        settle(system.name, figures, target, device="gpu" if gpu else "cpu", budget=asked.budget)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def learn(asked: Any, system: System, model: str, seed: int) -> Any:
    """One model by its default recipe."""
    settings = {"data.split": "95/5/0", "data.horizon": system.horizon}
    began = time.monotonic()
    run = atento.fit(
        asked.folder / f"{system.name}_train.csv",
        task="forecast",
        model=model,
        settings={**settings, **parse_settings(asked.set)},
        budget=asked.budget,
        seed=seed,
        device=asked.device,
        out=asked.out / f"{system.name}-{model}-{seed}",
    )
    print(f"  {model}: {run.metrics['steps']} steps in {time.monotonic() - began:.0f} s", flush=True)
    return run


def numbers_of(folder: Path, system: System) -> tuple[Numbers, Numbers]:
    """The training rows (T, 3) and the runs (R, T, 3)."""
    train = np.loadtxt(folder / f"{system.name}_train.csv", delimiter=",", skiprows=1)
    rows = np.loadtxt(folder / f"{system.name}_starts.csv", delimiter=",", skiprows=1)
    return train, rows[:, 2:].reshape(len(np.unique(rows[:, 0])), -1, train.shape[1])


def tell(system: System, name: str, train: Numbers, starts: Numbers, go_on: Any) -> float:
    """Print a model's valid times and the climate of a long run; the median."""
    found = valid(system, train, starts, go_on)
    weather = climate(go_on(starts[:1, :GIVEN], CLIMATE)[0], train)
    off = ", ".join(f"{place:.2f}" for place in weather.histogram)
    print(f"  {name:26} {found}")
    print(f"  {'':26} free for {CLIMATE} steps: {weather.outcome}; in wrong places {off} of the time", flush=True)
    return found.median


def valid(system: System, train: Numbers, starts: Numbers, go_on: Any) -> ValidTimes:
    """How long the free runs of a model are with the truth."""
    runs = go_on(starts[:, :GIVEN], starts.shape[1] - GIVEN)
    return valid_times(runs, starts[:, GIVEN:], train.var(axis=0), step=system.step, exponent=system.exponent)


def repeat_last(pasts: Numbers, steps: int) -> Numbers:
    """The last state again and again."""
    return np.repeat(pasts[:, -1:], steps, axis=1)


if __name__ == "__main__":
    main()
