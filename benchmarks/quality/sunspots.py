"""Monthly sunspots, 12, 36 and 132 months ahead: python benchmarks/quality/sunspots.py FOLDER [--budget 2m].

The first 70 % of the months train, the next 10 % validate, the last 20 % test; z-scores by the training part, 264
months are read, every window counts. There is no published table: the target is the ridge regression that is fitted in
the same run, on the same windows.
"""

import sys
from typing import Any

from forecasting import chosen, judge
from standing import Target, arguments

LOOK_BACK = 264
MODELS: dict[str, dict[str, Any]] = {"gru": {}, "transformer+patches": {}}
HORIZONS = (12, 36, 132)
RIVAL = "ridge"


def main() -> None:
    """Every horizon."""
    options = arguments("monthly sunspots, mean squared error", budget="2m")
    ends = []
    for horizon in HORIZONS:
        protocol = {
            "data.split": "70/10/20",
            "data.horizon": horizon,
            "data.look_back": LOOK_BACK,
        }
        target = Target("mean squared error", 0.0, "none", smaller_is_better=True)  # the value is measured
        file, models = options.folder / "monthly-sunspots.csv", chosen(options, MODELS)
        ends.append(judge(f"sunspots {horizon}", options, file, models, protocol, target, every=False, rival=RIVAL))
    sys.exit(max(ends))


if __name__ == "__main__":
    main()
