"""Universal Dependencies English EWT: accuracy of the universal tags on the dev part, an averaged perceptron beside it.

python benchmarks/quality/ud_english_ewt.py FOLDER
"""

from typing import Any

from standing import Target, arguments, on_gpu, settle
from tagging import figures

from atento.metrics.tags import TAG_ACCURACY

PUBLISHED = "words and characters without outside vectors 0.94 to 0.95, averaged perceptron 0.939"
MODELS = ("lstm+crf", "lstm+crf+wide")
ON_CUDA: dict[str, Any] = {
    "model.hidden": 512,
    "model.layers": 2,
    "model.characters": 256,
    "model.dropout": 0.5,
    "train.batch_tokens": 1500,
    "train.lr": 2e-3,
    "train.ema": 0.999,
}


def main() -> None:
    """Train, test, say."""
    options = arguments("EWT tags, accuracy on dev")
    data = {
        "data.train": str(options.folder / "en_ewt-ud-train.conllu.xz"),
        "data.test": str(options.folder / "en_ewt-ud-dev.conllu"),
        "data.source": "form",
        "data.label": "upos",
        "data.split": "97/3/0",
    }
    found = figures(options, "ud-english-ewt", TAG_ACCURACY, data=data, models=MODELS, on_cuda=ON_CUDA)
    settle("ud-english-ewt", found, Target("accuracy", 0.95 if on_gpu(options) else 0.938, PUBLISHED))


if __name__ == "__main__":
    main()
