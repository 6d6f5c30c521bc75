"""English to Spanish sentences (Tatoeba): BLEU and chrF on the validation part, all its variants as references.

    python benchmarks/quality/spa_eng.py FOLDER

Nobody has published a figure for this split; the target is to leave the simple baselines behind.
"""

import sacrebleu
from standing import Target, arguments, settle
from translating import Outcome, figures, outcomes, streams

ON_CUDA = {
    "model.hidden": 512,
    "model.dropout": 0.2,
    "train.batch_tokens": 4096,
    "train.lr": 1.5e-3,
    "train.patience": 12,
}


def bleu(outcome: Outcome) -> float:
    """Cased, on text as it is written, cut as 13a."""
    return sacrebleu.corpus_bleu(outcome.outputs, streams(outcome.references)).score


def chrf(outcome: Outcome) -> float:
    """Characters in common."""
    return sacrebleu.corpus_chrf(outcome.outputs, streams(outcome.references)).score


def main() -> None:
    """Train, test, say."""
    options = arguments("English to Spanish, BLEU")
    folder = options.folder
    found = outcomes(
        options,
        "spa-eng",
        data={
            "data.train": str(folder / "train.tsv.xz"),
            "data.test": str(folder / "valid.tsv"),
            "data.header": "no",
            "data.source": "1",
            "data.target": "2",
            "decode.beam": 5,
        },
        models=["lstm+additive"],
        on_cuda=ON_CUDA,
    )
    judged = figures(found, bleu)
    judge = sacrebleu.BLEU()
    judge.corpus_score(found[-1].outputs, streams(found[-1].references))
    settle(
        "spa-eng",
        judged,
        Target("BLEU", round(max(figure.mean for figure in judged if figure.baseline), 4), "none", strict=True),
        signature=str(judge.get_signature()),
        chrf={figure.model: figure.mean for figure in figures(found, chrf)},
    )


if __name__ == "__main__":
    main()
