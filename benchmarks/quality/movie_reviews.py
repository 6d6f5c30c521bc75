"""Movie reviews, 2,000 documents: accuracy, the mean of five folds by the number in a file's name.

    python benchmarks/quality/movie_reviews.py FOLDER

Fold k tests the files cv(2k)xx and cv(2k+1)xx, chooses the best validation by the hundred after them, and learns from
the other seven hundreds. On two cores a hierarchical model is to be 3 points above the flat one of the same family; on
a GPU the best is to reach 0.87.
"""

import re
import zipfile
from pathlib import Path

from labelling import chosen, say_changes, simple, trained, write_rows
from standing import Figure, Target, arguments, on_gpu, settle

PUBLISHED = "naive Bayes SVM of bigrams 0.895 (ten folds, Wang & Manning 2012)"
FLAT, DEEP, WIDE = "gru+additive", "gru+additive+hierarchical", "gru+additive+wide"
LONG_TEXTS = {"train.batch_tokens": 8192}  # about 750 words each
ON_CUDA = {"train.batch_tokens": 16384, "train.epochs": 12}
FOLDS = 5


def reviews(archive: Path) -> list[tuple[int, str, str]]:
    """The hundred, the text and the label of every review."""
    found = []
    with zipfile.ZipFile(archive) as file:
        for name in sorted(file.namelist()):
            match = re.search(r"(pos|neg)/cv(\d)\d\d_\d+\.txt$", name)
            if match:
                found.append((int(match[2]), file.read(name).decode("utf-8", "replace"), match[1]))
    return found


def folds_of(rows: list[tuple[int, str, str]], folder: Path, fold: int) -> dict[str, str]:
    """The three files of a fold."""
    test, valid = {2 * fold, 2 * fold + 1}, {(2 * fold + 2) % 10}
    parts = {"test": test, "valid": valid, "train": set(range(10)) - test - valid}
    return {
        f"data.{part}": str(
            write_rows(
                folder / f"fold-{fold}-{part}.jsonl", [(text, label) for at, text, label in rows if at in wanted]
            )
        )
        for part, wanted in parts.items()
    }


def main() -> None:
    """Train, test, say."""
    options = arguments("movie reviews, accuracy", seeds=FOLDS)
    cuda = on_gpu(options)
    if cuda:
        say_changes(ON_CUDA)
    rows = reviews(options.folder / "movie_reviews.zip")
    values: dict[str, list[float]] = {}
    for fold in range(min(options.seeds, FOLDS)):
        data = folds_of(rows, options.out / "movie-reviews", fold) | {"data.siblings": "no", "data.source": "text"}
        data["data.label"] = "label"
        for figure in simple("classify", data, metric="accuracy"):
            values.setdefault(figure.model, []).extend(figure.values)
        for model in chosen(options, [FLAT, DEEP, WIDE]):
            one = trained(
                options,
                f"movie-reviews-{fold}",
                "classify",
                model,
                {**data, **(ON_CUDA if cuda else LONG_TEXTS)},
                seed=0,
                metric="accuracy",
            )
            values.setdefault(f"trained {model}", []).append(one)
    figures = [
        Figure(model.removeprefix("trained "), some, not model.startswith("trained ")) for model, some in values.items()
    ]
    by_name = {figure.model: figure.mean for figure in figures}
    least = 0.87 if cuda or FLAT not in by_name else round(by_name[FLAT] + 0.03, 4)
    settle(
        "movie-reviews", figures, Target("accuracy", least, PUBLISHED), flat=by_name.get(FLAT), deep=by_name.get(DEEP)
    )


if __name__ == "__main__":
    main()
