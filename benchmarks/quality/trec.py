"""TREC questions, six classes: accuracy on the 500 test questions, the mean of five seeds, and that of the mean of
their probabilities.

    python benchmarks/quality/trec.py FOLDER

A tenth of the training questions chooses the best validation.
"""

from typing import Any

from labelling import chosen, mean_of_seeds, say_changes, simple, trained
from standing import Figure, Target, arguments, on_gpu, settle

PUBLISHED = "CNN of random vectors 0.912 (Kim 2014)"
ON_CUDA = {"model.hidden": 256, "train.epochs": 15}


def main() -> None:
    """Train, test, say."""
    options = arguments("TREC-6, accuracy", budget="1m", seeds=5)
    cuda = on_gpu(options)
    data: dict[str, Any] = {
        "data.train": str(options.folder / "TREC.train.txt"),
        "data.test": str(options.folder / "TREC.test.txt"),
        "data.split": "90/10/0",
        "data.siblings": "no",
    }
    figures = simple("classify", data, metric="accuracy")
    if cuda:
        say_changes(ON_CUDA)
        data |= ON_CUDA
    for model in chosen(options, ["gru", "gru+additive+wide"]):
        values = [
            trained(options, "trec", "classify", model, data, seed=seed, metric="accuracy")
            for seed in range(options.seeds)
        ]
        figures.append(Figure(model, values))
        if options.seeds > 1:
            figures.append(mean_of_seeds(options, "trec", model, metric="accuracy"))
    settle("trec", figures, Target("accuracy", 0.912 if cuda else 0.91, PUBLISHED, strict=cuda))


if __name__ == "__main__":
    main()
