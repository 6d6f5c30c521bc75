"""Multi30k, German to English: BLEU on the validation part, beam 5.

python benchmarks/quality/multi30k.py FOLDER
"""

import sacrebleu
from standing import Target, arguments, on_gpu, settle
from translating import Outcome, figures, outcomes, streams

PUBLISHED = "RNN 28.1, Transformer 36.5 (test part, lower case, greedy)"
ON_CUDA = {
    "model.hidden": 512,
    "model.dropout": 0.3,
    "tokens.vocab_size": 6000,
    "train.batch_tokens": 2048,
    "train.lr": 1.5e-3,
    "train.patience": 12,
}


def bleu(outcome: Outcome) -> float:
    """Cased, on text as it is written, cut as 13a."""
    return sacrebleu.corpus_bleu(outcome.outputs, streams(outcome.references)).score


def main() -> None:
    """Train, test, say."""
    options = arguments("Multi30k de-en, BLEU")
    cuda = on_gpu(options)
    folder = options.folder
    found = outcomes(
        options,
        "multi30k",
        data={
            "data.train": f"{folder / 'train.de'},{folder / 'train.en'}",
            "data.test": f"{folder / 'val.de'},{folder / 'val.en'}",
            "data.source": "de",
            "data.target": "en",
            "decode.beam": 5,
        },
        models=["lstm+additive"],
        on_cuda=ON_CUDA,
    )
    judge = sacrebleu.BLEU()
    judge.corpus_score(found[-1].outputs, streams(found[-1].references))
    settle(
        "multi30k",
        figures(found, bleu),
        Target("BLEU", 38.0 if cuda else 22.0, PUBLISHED),
        signature=str(judge.get_signature()),
        chrf={figure.model: figure.mean for figure in figures(found, chrf)},
    )


def chrf(outcome: Outcome) -> float:
    """Characters in common."""
    return sacrebleu.corpus_chrf(outcome.outputs, streams(outcome.references)).score


if __name__ == "__main__":
    main()
