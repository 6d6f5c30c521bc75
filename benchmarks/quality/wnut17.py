"""WNUT-17 emerging entities: F1 of whole entities on the dev part. Tags judged together (crf) are to beat those judged
one by one.

python benchmarks/quality/wnut17.py FOLDER
"""

from typing import Any

from standing import Target, arguments, settle
from tagging import figures

from atento.metrics.tags import SPAN_F1

PUBLISHED = "0.408 to 0.419 with outside vectors (test part); from scratch 0.2 to 0.3"
ALONE, TOGETHER, WIDE = "lstm", "lstm+crf", "lstm+crf+wide"
ON_CUDA: dict[str, Any] = {}


def main() -> None:
    """Train, test, say."""
    options = arguments("WNUT-17 entities, F1 on dev", budget="2m", seeds=3)
    data = {
        "data.train": str(options.folder / "wnut17train.conll"),
        "data.test": str(options.folder / "emerging.dev.conll"),
        "data.split": "95/5/0",
    }
    found = figures(options, "wnut17", SPAN_F1, data=data, models=(ALONE, TOGETHER, WIDE), on_cuda=ON_CUDA)
    alone = next((figure.mean for figure in found if figure.model == ALONE), 0.0)
    settle("wnut17", found, Target("span_f1", alone, PUBLISHED, strict=True), seeds=options.seeds)


if __name__ == "__main__":
    main()
