"""The base of all estimators: parameters as they are given, a run once fitted, and how both are saved."""

import json
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from atento.api.fit import fit
from atento.api.run import Run, load
from atento.bundle import CARD, EVENTS, MANIFEST, METRICS, OUTPUTS, PREDICTIONS, RECIPE, VOCABULARY, WEIGHTS
from atento.data.series import Past
from atento.errors import InputError
from atento.tasks.task import Answer

FEW = 20  # rows; fewer are all learned from, and none validates
KEPT = (WEIGHTS, RECIPE, VOCABULARY, METRICS, CARD, EVENTS, PREDICTIONS, OUTPUTS, MANIFEST)


class SequenceEstimator(BaseEstimator):
    """Learns through `atento.fit`; `settings` are recipe keys such as {"model.hidden": 64}."""

    task: ClassVar[str]

    def __init__(
        self,
        model: str = "auto",
        *,
        budget: str | float | None = None,
        steps: int = 0,
        epochs: int = 0,
        random_state: int = 0,
        settings: Mapping[str, object] | None = None,
        device: str = "auto",
        out: str | None = None,
    ) -> None:
        self.model = model
        self.budget = budget
        self.steps = steps
        self.epochs = epochs
        self.random_state = random_state
        self.settings = settings
        self.device = device
        self.out = out

    def learn(self, rows: Sequence[Mapping[str, object]], columns: Mapping[str, str], *, task: str = "") -> None:
        """Fit a run on rows; `columns` are the data.* keys that name their cells. Nine in ten rows are learned from,
        the others choose the best step. `task`: another than the estimator's own.
        """
        split = "90/10/0" if len(rows) >= FEW else "100/0/0"
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "rows.jsonl"
            path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
            self.learn_file(path, {"split": split, **columns}, task=task)

    def learn_file(self, path: Path, data: Mapping[str, object], *, task: str = "") -> None:
        """Fit a run on a file; `data` are values of data.* keys."""
        values = {
            **{f"data.{key}": value for key, value in data.items()},
            **{f"train.{key}": getattr(self, key) for key in ("steps", "epochs") if getattr(self, key)},
            **(self.settings or {}),
        }
        self.run_ = fit(
            path,
            task=task or self.task,
            model=self.model,
            settings=values,
            seed=int(self.random_state or 0),
            budget=self.budget,
            device=self.device,
            out=Path(self.out) if self.out else own_folder(self) / "run",
        )

    def answers(self, sources: Sequence[str | Past]) -> list[Answer]:
        """The answers of the run."""
        check_is_fitted(self, "run_")
        run: Run = self.run_
        return run.predictor.answer(sources)

    def save(self, folder: str | Path) -> None:
        """The trained model as a folder that every command of atento takes."""
        check_is_fitted(self, "run_")
        target = Path(folder)
        if target.exists() and any(target.iterdir()):
            raise InputError(f"{target} is not empty.", found=str(target), fix="choose another folder")
        target.mkdir(parents=True, exist_ok=True)
        for name, content in kept_files(self.run_.folder).items():
            (target / name).write_bytes(content)

    def __getstate__(self) -> dict[str, object]:
        """Parameters, and the run as the bytes of its files."""
        state = {key: value for key, value in super().__getstate__().items() if key != "run_"}
        if hasattr(self, "run_"):
            state["files_of_run"] = kept_files(self.run_.folder)
        return state

    def __setstate__(self, state: dict[str, object]) -> None:
        """Put the files into a folder of their own and load the run from there, every file checked."""
        files = state.pop("files_of_run", None)
        super().__setstate__(state)
        if isinstance(files, dict):
            folder = own_folder(self)
            for name in KEPT:
                if name in files:
                    (folder / name).write_bytes(files[name])
            self.run_ = load(folder, device=self.device)

    def __sklearn_tags__(self) -> Tags:
        """Rows are texts, not numbers."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.non_deterministic = False
        return tags


def own_folder(owner: SequenceEstimator) -> Path:
    """A folder that is deleted with its owner."""
    folder = Path(tempfile.mkdtemp(prefix="atento-"))
    weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    return folder


def kept_files(folder: Path) -> dict[str, bytes]:
    """What makes a run."""
    return {name: (folder / name).read_bytes() for name in KEPT if (folder / name).exists()}
