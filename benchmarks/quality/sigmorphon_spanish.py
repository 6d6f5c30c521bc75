"""CoNLL-SIGMORPHON 2017, Spanish inflection, all 10,000 training forms: exact match on the development part.

python benchmarks/quality/sigmorphon_spanish.py FOLDER
"""

from standing import Target, arguments, on_gpu, settle
from translating import Outcome, figures, outcomes

from atento.metrics.text import EDITS, EXACT_MATCH

PUBLISHED = "best system 0.953, baseline 0.778 (means over 52 languages, test part)"
ON_CUDA = {
    "model.hidden": 512,
    "model.dropout": 0.3,
    "train.batch_tokens": 512,
    "train.lr": 1.5e-3,
    "train.patience": 12,
}


def exact(outcome: Outcome) -> float:
    """Forms that are wholly right."""
    return EXACT_MATCH.value(outcome.outputs, outcome.references)


def edits(outcome: Outcome) -> float:
    """Mean edits from the true form."""
    return EDITS.value(outcome.outputs, outcome.references)


def main() -> None:
    """Train, test, say."""
    options = arguments("Spanish inflection, exact match")
    found = outcomes(
        options,
        "sigmorphon-spanish",
        data={
            "data.train": str(options.folder / "spanish-train-high"),
            "data.test": str(options.folder / "spanish-dev"),
            "data.header": "no",
            "data.source": "1,3",
            "data.target": "2",
        },
        models=["lstm+additive"],
        on_cuda=ON_CUDA,
    )
    settle(
        "sigmorphon-spanish",
        figures(found, exact),
        Target("exact match", 0.96 if on_gpu(options) else 0.91, PUBLISHED),
        edits={figure.model: figure.mean for figure in figures(found, edits)},
    )


if __name__ == "__main__":
    main()
