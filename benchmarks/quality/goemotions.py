"""GoEmotions, 27 emotions and neutral, several a text: macro-F1 over the 28 labels on the development part.

    python benchmarks/quality/goemotions.py FOLDER

A tenth of the training texts chooses the best validation and each label's threshold.
"""

from labelling import chosen, simple, trained
from standing import Figure, Target, arguments, on_gpu, settle

PUBLISHED = "BiLSTM 0.41, BERT 0.46 (Demszky et al. 2020, test part)"


def main() -> None:
    """Train, test, say."""
    options = arguments("GoEmotions, macro-F1")
    cuda = on_gpu(options)
    data = {
        "data.train": str(options.folder / "train.tsv"),
        "data.test": str(options.folder / "dev.tsv"),
        "data.header": "no",
        "data.source": "1",
        "data.label": "2",
        "data.separator": ",",
        "data.split": "90/10/0",
        "data.siblings": "no",
    }
    figures = simple("label", data, metric="macro_f1")
    for model in chosen(options, ["transformer", "transformer+wide"]):
        values = [
            trained(options, "goemotions", "label", model, data, seed=seed, metric="macro_f1")
            for seed in range(options.seeds)
        ]
        figures.append(Figure(model, values))
    settle("goemotions", figures, Target("macro F1", 0.45 if cuda else 0.43, PUBLISHED, strict=cuda))


if __name__ == "__main__":
    main()
