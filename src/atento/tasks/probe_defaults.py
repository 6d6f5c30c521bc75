"""Recipes of the built-in probes that are translated, chosen by measurement: docs/decisions/0011-probes.md says how."""

from typing import Any

Values = dict[str, Any]

PROBE: Values = {
    "model.hidden": 64,
    "model.dropout": 0.0,
    "train.batch_tokens": 1536,
    "train.budget": 60,
    "train.warmup": 100,
}
FAMILIES: dict[str, Values] = {
    "rnn": {**PROBE, "train.lr": 2e-3},
    "gru": {**PROBE, "train.lr": 8e-3},
    "lstm": {**PROBE, "train.lr": 4e-3},
    "transformer": {**PROBE, "train.lr": 2e-3, "train.batch_tokens": 768, "model.layers": 1},
}
REACH = {"cook": 0, "copy": 1, "alignment": 2}  # of a window that still shows the place to look at

PROBES: dict[str, dict[str, Values]] = {
    "recall": {
        **FAMILIES,
        "transformer": {**FAMILIES["transformer"], "model.layers": 2, "model.positions": "relative"},
    },
    **{
        name: {family: {**values, "model.reach": reach} for family, values in FAMILIES.items()}
        for name, reach in REACH.items()
    },
}
