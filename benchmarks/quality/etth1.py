"""ETTh1, squared error of all seven channels: python benchmarks/quality/etth1.py FOLDER [--budget 10m] [--device …].

Protocol of the papers: rows 0–8640 train, 8640–11520 validate, 11520–14400 test, z-scores by the training rows, every
window of the test part at stride 1, no window dropped. Ridge on the same windows stands beside the networks. On a
processor a GRU and a Transformer must both meet the target at 96 steps, by their default recipes; on a GPU the better
of the two is judged at 96, 192, 336 and 720 steps; there both read 512 rows.
"""

import sys
from typing import Any

from forecasting import chosen, judge
from standing import Target, arguments, on_gpu

LOOK_BACK, NEAR = 336, 96
MODELS: dict[str, dict[str, Any]] = {"gru": {}, "transformer+patches": {}}
ON_A_GPU: dict[str, dict[str, Any]] = {
    "gru": {"data.look_back": 512, "model.patch": 12},
    "transformer+patches": {"data.look_back": 512, "model.patch": 48},
}
FAR: dict[str, dict[str, Any]] = {"transformer+patches": {"train.lr": 1e-3, "train.epochs": 3}}  # beyond 96 steps
TARGETS = {96: 0.370, 192: 0.403, 336: 0.427, 720: 0.428}  # on a GPU: what ridge reaches
ON_A_PROCESSOR = {96: 0.375}
PUBLISHED = {
    96: "ridge .370, PatchTST/42 .375, DLinear .375, NLinear .374",
    192: "ridge .403, PatchTST/42 .414, DLinear .405, NLinear .408",
    336: "ridge .427, PatchTST/42 .431, DLinear .439, NLinear .429",
    720: "ridge .428, PatchTST/42 .449, DLinear .472, NLinear .440",
}


def main() -> None:
    """Every horizon that is asked."""
    options = arguments("ETTh1, mean squared error")
    gpu = on_gpu(options)
    ends = []
    for horizon, most in (TARGETS if gpu else ON_A_PROCESSOR).items():
        protocol = {
            "data.split": "8640/2880/2880",
            "data.horizon": horizon,
            "data.look_back": LOOK_BACK,
        }
        target = Target("mean squared error", most, PUBLISHED[horizon], smaller_is_better=True)
        models = chosen(options, ON_A_GPU if gpu else MODELS)
        if horizon > NEAR:
            models = {name: {**settings, **FAR.get(name, {})} for name, settings in models.items()}
        file = options.folder / "ETTh1.csv"
        ends.append(judge(f"etth1 {horizon}", options, file, models, protocol, target, every=not gpu))
    sys.exit(max(ends))


if __name__ == "__main__":
    main()
