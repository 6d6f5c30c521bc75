"""C4: fitting a forecaster to Rössler's x, look-back 40: windows a second, and time to an error of 1e-4.

    python benchmarks/cpu/forecasting_cpu.py [--only speed|quality] [--bound SECONDS] [--beside PEER ...] [--seeds 3]

One LSTM of 64 units and a linear layer forecast the next row. For the windows a second every side takes 128 windows a
step, Adam and the squared error. For the time to a mean squared error of 1e-4 (of standardized values, on 1,000 rows
after those that are learned) each has the size of ours, and all else as the library has it; the time counts from before
the data are read. Ours begins with a linear model in closed form, which alone is good enough here; a second row of each
peer is of ours without it, `train.closed_form=no`. The bound on a peer's training is four times what ours needs
without it, and 20 s at least; a peer that is not there by then counts with the bound: the ratio is a lower bound.
"""

import argparse
import statistics
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from measuring_cpu import Claim, end, not_measured, one_thread, tell
from taking_turns import Contestant, Facts, interleaved, missing, running, time_to

from atento.data.dynamics.systems import rossler

ROWS, LOOK_BACK, BATCH, WIDTH, ERROR = 10_000, 40, 128, 64, 1e-4
SPEED, SOONER, BEYOND, LEAST = {"Keras 3": 3.0}, 3.0, 4.0, 20.0
OURS = Contestant("atento", "forecast_atento")
PEERS = (
    Contestant("NeuralForecast", "forecast_neuralforecast", ("neuralforecast",)),
    Contestant("Darts", "forecast_darts", ("darts",)),
    Contestant("Keras 3", "forecast_keras", ("keras",)),
    Contestant("skorch", "forecast_skorch", ("skorch",)),
)
SETTINGS: Facts = {
    "data.look_back": LOOK_BACK, "data.horizon": 1, "data.split": "70/10/20", "model.name": "lstm",
    "model.hidden": WIDTH,
}  # fmt: skip
ALIKE: Facts = {
    "model.layers": 1, "model.dropout": 0.0, "model.strategy": "direct", "model.linear_skip": False, "model.anchor":
    "none", "train.batch_tokens": BATCH * LOOK_BACK, "train.ema": 0.0, "train.lr": 1e-3, "train.validations": 1,
    "train.epochs": 1000, "train.budget": 3600, "train.optimizer": "adam", "train.closed_form": False,
}  # fmt: skip


def write_series(folder: Path) -> None:
    """The series as a table, and its parts as arrays of standardized values."""
    values = rossler(ROWS)[:, 0]
    (folder / "x.csv").write_text("time,x\n" + "".join(f"{row},{one!r}\n" for row, one in enumerate(values.tolist())))
    train, valid = values[: ROWS * 7 // 10], values[ROWS * 7 // 10 : ROWS * 8 // 10]
    for name, part in (("train", train), ("valid", valid)):
        np.save(folder / f"{name}.npy", ((part - train.mean()) / train.std()).astype(np.float32))


def speed(folder: Path, peers: list[Contestant], rounds: int) -> list[Claim]:
    """Milliseconds for 1,000 windows."""
    task = {**common(folder), "settings": {**SETTINGS, **ALIKE}, "warm": 20, "chunk": 10}
    with running([OURS, *peers], lambda side: task) as sides:
        best = interleaved(sides, rounds=rounds)
    windows = {name: seconds * 1e6 / (10 * BATCH) for name, seconds in best.items()}
    claim = f"1,000 windows learned, LSTM {WIDTH}, B{BATCH} T{LOOK_BACK}"
    return [
        tell(Claim(claim, one.name, windows[OURS.name], windows[one.name], SPEED.get(one.name, 1.2))) for one in peers
    ]


def quality(folder: Path, peers: list[Contestant], options: argparse.Namespace) -> list[Claim]:
    """Seconds to an error of 1e-4: ours with and without the closed form, then each peer."""
    begun, plain = (ours(folder, options, closed_form=one) for one in (True, False))
    bound = options.bound or min(600.0, max(LEAST, BEYOND * plain))
    claims, claim = [], f"an MSE of {ERROR:g} on Rössler, LSTM {WIDTH}, own defaults"
    for peer in peers:
        with running([peer], lambda side: common(folder)) as (side,):
            found = time_to(side, enough=lambda error: error <= ERROR, bound=bound)
        for name, seconds in ((claim, begun), (f"{claim}, ours without its closed form", plain)):
            late = not found.in_time
            claims.append(tell(Claim(name, peer.name, seconds, found.seconds, SOONER, unit="s", is_bound=late)))
    return claims


def ours(folder: Path, options: argparse.Namespace, *, closed_form: bool) -> float:
    """The median of some seeds; infinite where most are not there in time."""
    times = []
    for seed in range(options.seeds):
        settings = {
            **SETTINGS, "train.seed": seed, "train.validations": 200, "train.budget": 600, "train.closed_form":
            closed_form,
        }  # fmt: skip
        task = {**common(folder), "settings": settings}
        with running([OURS], lambda side, task=task: task) as (side,):  # type: ignore[misc]
            found = time_to(side, enough=lambda error: error <= ERROR, bound=options.bound or 200.0)
        times.append(found.seconds if found.in_time else float("inf"))
    return statistics.median(times)


def common(folder: Path) -> Facts:
    """What every side is told."""
    return {
        "folder": str(folder), "data": str(folder / "x.csv"), "width": WIDTH, "look_back": LOOK_BACK, "batch": BATCH,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bound", type=float, help="seconds of training of a peer; four times ours if not given")
    parser.add_argument("--seeds", type=int, default=3, help="of ours, whose median time counts")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--only", choices=("speed", "quality"))
    parser.add_argument("--beside", nargs="+", choices=[peer.name for peer in PEERS], help="these peers alone")
    options = parser.parse_args()
    one_thread()
    asked = [peer for peer in PEERS if peer.name in (options.beside or peer.name)]
    here = [peer for peer in asked if not missing(peer)]
    for peer in asked:
        if missing(peer):
            not_measured("forecasting", peer.name, f"{missing(peer)} is not installed")
    with TemporaryDirectory() as name:
        write_series(Path(name))
        claims: list[Claim] = []
        if options.only != "quality":
            claims += speed(Path(name), here, options.rounds)
        if options.only != "speed":
            claims += quality(Path(name), here, options)
        end(claims)


if __name__ == "__main__":
    main()
