"""CMU dictionary, letters to phones: word error (the output is none of the variants) on the validation words.

python benchmarks/quality/cmudict_g2p.py FOLDER
"""

from standing import Target, arguments, on_gpu, settle
from translating import Outcome, figures, outcomes

from atento.metrics.text import EXACT_MATCH, SYMBOL_ERROR

PUBLISHED = "Transformer 0.302, Phonetisaurus 0.339 (test part of another split)"
ON_CUDA = {
    "model.hidden": 512,
    "model.layers": 2,
    "model.dropout": 0.3,
    "train.batch_tokens": 2048,
    "train.lr": 1.5e-3,
    "train.patience": 12,
}


def word_error(outcome: Outcome) -> float:
    """Outputs that differ from every variant."""
    return 1 - EXACT_MATCH.value(outcome.outputs, outcome.references)


def phone_error(outcome: Outcome) -> float:
    """Edits to the nearest variant, over its phones."""
    return SYMBOL_ERROR.value(outcome.outputs, outcome.references)


def main() -> None:
    """Train, test, say."""
    options = arguments("CMU dictionary, letters to phones, word error")
    cuda = on_gpu(options)
    found = outcomes(
        options,
        "cmudict-g2p",
        data={
            "data.train": str(options.folder / "train.tsv"),
            "data.test": str(options.folder / "valid.tsv"),
            "data.header": "no",
            "data.source": "1",
            "data.target": "2",
        },
        models=["lstm+additive"],
        on_cuda=ON_CUDA,
    )
    settle(
        "cmudict-g2p",
        figures(found, word_error),
        Target("word error", 0.30 if cuda else 0.38, PUBLISHED, smaller_is_better=True, strict=cuda),
        phone_error={figure.model: figure.mean for figure in figures(found, phone_error)},
    )


if __name__ == "__main__":
    main()
