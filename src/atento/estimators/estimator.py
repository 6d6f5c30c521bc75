"""The base of all estimators: parameters as they are given, a run once fitted, and how both are saved."""

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from atento.api.advice import advice_in
from atento.api.fit import fit
from atento.api.given import as_source, count_from_zero
from atento.api.run import Run, load
from atento.bundle import BASELINE, CARD, EVENTS, MANIFEST, METRICS, OUTPUTS, PREDICTIONS, RECIPE, VOCABULARY, WEIGHTS
from atento.data.files.memory import MemoryFile
from atento.data.series import Past
from atento.data.sources.in_memory import write_rows
from atento.errors import InputError, unknown_name
from atento.estimators.frames import Kind, Rows, like, table_like
from atento.estimators.rows import texts_of
from atento.tasks.task import Answer
from atento.tasks.traces import Alignment
from atento.writing import write_atomically

FEW = 20  # rows; fewer are all learned from, and none validates
KEPT = (WEIGHTS, RECIPE, VOCABULARY, METRICS, CARD, EVENTS, PREDICTIONS, OUTPUTS, BASELINE, MANIFEST)


class SequenceEstimator(BaseEstimator):
    """Learns through `atento.fit`; all estimators share the parameters of `__init__`."""

    task: ClassVar[str]
    reads: ClassVar[Callable[..., list[str]]] = staticmethod(texts_of)  # rows -> sources as a run reads them

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
        """The parameters of every estimator.

        model: name of the model; `atento models` lists them.
        budget: training time, e.g. "60s", or seconds.
        steps: how many optimizer steps to train; 0: no such limit.
        epochs: how many passes over the data to train; 0: no such limit.
        random_state: the seed of weights, order, dropout and the split.
        settings: recipe keys and values, e.g. {"model.hidden": 64}.
        device: "auto", "cpu" or "cuda".
        out: folder of the run; None: a temporary one that is deleted with the estimator.
        """
        self.model = model
        self.budget = budget
        self.steps = steps
        self.epochs = epochs
        self.random_state = random_state
        self.settings = settings
        self.device = device
        self.out = out

    def learn(self, rows: Sequence[Mapping[str, object]], columns: Mapping[str, str], *, task: str = "") -> None:
        """Fit a run. Nine in ten rows are learned from, the others choose the best step.

        rows: a dict for each.
        columns: the data.* keys that name their cells.
        task: another than the estimator's own.
        """
        split = "90/10/0" if len(rows) >= FEW else "100/0/0"
        self.learn_file(write_rows(rows, "X"), {"split": split, **columns}, task=task)

    def learn_file(self, file: MemoryFile, data: Mapping[str, object], *, task: str = "") -> None:
        """Fit a run on a file in memory.

        file: the rows.
        data: values of data.* keys.
        task: another than the estimator's own.
        """
        values = {
            **{f"data.{key}": value for key, value in data.items()},
            **{f"train.{key}": getattr(self, key) for key in ("steps", "epochs") if getattr(self, key)},
            **(self.settings or {}),
        }
        with as_source(file.name), advice_in(partial(count_from_zero, file.name)):
            self.run_ = fit(
                file.name,
                task=task or self.task,
                model=self.model,
                settings=values,
                seed=int(self.random_state or 0),
                budget=self.budget,
                device=self.device,
                out=Path(self.out) if self.out else own_folder(self) / "run",
            )

    def sources(self, X: Rows, *, reset: bool = False) -> list[str]:
        """The rows as a run reads them; a frame has the columns that the estimator was fitted on.

        X: the rows.
        reset: whether these are the rows it is fitted on.
        """
        self.keep_columns(X, reset=reset)
        return self.reads(X)

    def keep_columns(self, X: Rows, *, reset: bool) -> None:
        """Remember the names of a frame's columns, or refuse a frame with others.

        X: the rows.
        reset: whether these are the rows it is fitted on.
        """
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        names = [str(name) for name in frame.columns] if isinstance(frame, nw.DataFrame) else []
        if reset:
            self.columns_ = names
        elif names and getattr(self, "columns_", []) not in ([], names):
            raise InputError(
                "The feature names should match those that were passed during fit.",
                found=f"{', '.join(names)} where it was fitted on {', '.join(self.columns_)}",
                fix=f"X = X[{self.columns_!r}]",
            )

    def explain(self, x: Any) -> Alignment:
        """The answer for one row, and what the model attended to.

        x: one row as `predict` takes a list of them; for a forecaster, the name of a series or a time.
        """
        check_is_fitted(self, "run_")
        run: Run = self.run_
        return run.explain(self.sources([x])[0])

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose the kind of what is predicted.

        transform: "pandas" or "polars"; "default" gives back the kind that X has; None changes nothing.
        """
        if transform not in (None, "default", "pandas", "polars"):
            raise unknown_name("kind of output", str(transform), ("default", "pandas", "polars"))
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    def like(self, X: Rows, values: Sequence[object]) -> Rows:
        """One value for each row, in the kind that `set_output` chose or X has.

        X: the rows.
        values: the values.
        """
        return like(X, values, self.output_kind())

    def table_like(self, X: Rows, values: np.ndarray, names: Iterable[object]) -> Rows:
        """Several numbers for each row, in the kind that `set_output` chose or X has.

        X: the rows.
        values: the numbers, (N, C).
        names: of the columns.
        """
        return table_like(X, values, names, self.output_kind())

    def output_kind(self) -> Kind:
        """What `set_output` chose."""
        kind: Kind = getattr(self, "_sklearn_output_config", {}).get("transform", "default")
        return kind

    def answers(self, sources: Sequence[str | Past]) -> list[Answer]:
        """The answers of the run.

        sources: as `sources` reads them.
        """
        check_is_fitted(self, "run_")
        run: Run = self.run_
        return run.predictor.answer(sources)

    def save(self, folder: str | Path) -> None:
        """The trained model as a folder that every command of atento takes.

        folder: a folder that is not there yet, or is empty.
        """
        check_is_fitted(self, "run_")
        target = Path(folder)
        if target.exists() and any(target.iterdir()):
            raise InputError(f"{target} is not empty.", found=str(target), fix="choose another folder")
        target.mkdir(parents=True, exist_ok=True)
        for name, content in kept_files(self.run_.folder).items():
            write_atomically(target / name, content)

    def _repr_mimebundle_(self, **options: object) -> dict[str, str]:
        """For notebooks: scikit-learn's diagram, and once fitted the run below it."""
        shown: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in shown and hasattr(self, "run_"):
            shown["text/html"] += self.run_._repr_html_()
        return shown

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
                    write_atomically(folder / name, files[name])
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
