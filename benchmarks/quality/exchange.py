"""Exchange rates of eight currencies, 96 to 720 days ahead: python benchmarks/quality/exchange.py FOLDER [--budget 2m].

The first 70 % of the days train, the next 10 % validate, the last 20 % test; z-scores by the training part, every
window of the test part counts. Repeating the last value is hard to beat on rates, which are nearly random walks: it is
the target, in the same run, at every horizon.
"""

import sys
from typing import Any

from forecasting import chosen, judge
from standing import Target, arguments

LOOK_BACK = 96
MODELS: dict[str, dict[str, Any]] = {"linear": {}, "gru": {}, "transformer+patches": {}}
PUBLISHED = {
    96: "last value .081, DLinear .081",
    192: "last value .167, DLinear .157",
    336: "last value .306, DLinear .305",
    720: "last value .810, DLinear .643",
}
RIVAL = "last-value"
ROUNDED = 5e-4  # half of the last digit that is published


def main() -> None:
    """Every horizon."""
    options = arguments("exchange rates, mean squared error", budget="2m")
    ends = []
    for horizon, published in PUBLISHED.items():
        protocol = {"data.split": "70/10/20", "data.horizon": horizon, "data.look_back": LOOK_BACK}
        target = Target("mean squared error", 0.0, published, smaller_is_better=True)  # the value is measured
        file, models = options.folder / "exchange_rate.csv", chosen(options, MODELS)
        line = f"exchange {horizon}"
        ends.append(judge(line, options, file, models, protocol, target, every=True, rival=RIVAL, slack=ROUNDED))
    sys.exit(max(ends))


if __name__ == "__main__":
    main()
