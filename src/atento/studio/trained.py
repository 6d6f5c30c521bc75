"""Trained models in memory: the last few that were asked for, one computation at a time."""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock

from atento import api
from atento.api.folders import find_model
from atento.api.predict import predict_file
from atento.api.report import REPORT, write_report
from atento.bundle import MANIFEST, Json
from atento.errors import InputError
from atento.studio import looking
from atento.studio.asking import same_as
from atento.studio.running import find_run, state_of
from atento.studio.workspace import free_path

MOST_LOADED = 3  # models that are kept
COMPUTING = RLock()  # modules are recorded while they compute, so one request at a time may use them
LOADED: "OrderedDict[tuple[Path, int], api.Run]" = OrderedDict()


@contextmanager
def trained(name: str) -> Iterator[api.Run]:
    """The model of a run by its ID, for one computation; of a comparison its best model."""
    place = find_run(name)
    folder = find_model(place).folder
    manifest = folder / MANIFEST
    if not manifest.is_file():
        raise InputError(f"{name} has no trained model yet.", found=state_of(place), fix="wait until it is finished")
    key = (folder, manifest.stat().st_mtime_ns)  # a folder that was trained anew is loaded anew
    with COMPUTING:
        if key not in LOADED:
            LOADED[key] = api.load(folder)
            while len(LOADED) > MOST_LOADED:
                LOADED.popitem(last=False)
        LOADED.move_to_end(key)
        yield LOADED[key]


def explain(name: str, source: str) -> Json:
    """The answer to a source, and what it rests on."""
    with trained(name) as run:
        found = looking.explain(run, source)
        call = f"run = atento.load({str(run.folder)!r})\nprint(run.explain({source!r}))"
        return {**found, "same": same_as(["look", str(run.folder), source], call)}


def examples(name: str) -> Json:
    """Sources of the test part to choose from."""
    with trained(name) as run:
        return looking.examples(run)


def views(name: str) -> Json:
    """The views that fit a run."""
    with trained(name) as run:
        return {"views": looking.views(run)}


def page(name: str, what: str, text: str) -> str:
    """One view as a page."""
    with trained(name) as run:
        return looking.page(run, what, looking.allowed_source(run.predictor, text) if text.strip() else "")


def report(name: str) -> str:
    """The report of a run or a comparison; where its folder has none yet, it is written as `atento report` does."""
    folder = find_run(name)
    path = folder / REPORT
    with COMPUTING:
        return (path if path.is_file() else write_report(folder)).read_text(encoding="utf-8")


def predict(name: str, file: Path) -> Json:
    """The predictions for a dropped file, written beside it."""
    with trained(name) as run:
        ending = "".join(file.suffixes[-2:]) if file.suffix in (".gz", ".xz", ".bz2") else file.suffix
        out = free_path(f"{file.name.removesuffix(ending)}-predictions{ending or '.csv'}")
        found = predict_file(run.predictor, str(file), out=out)
        call = f"atento.load({str(run.folder)!r}).predict_file({str(file)!r}, out={str(out)!r})"
        same = same_as(["predict", str(run.folder), str(file), "--out", str(out)], call)
        notes = [*found.notes, *(f"not answered: {one}" for one in found.refused)]
        return {"name": str(out), "file": str(file), "rows": len(found.answers), "notes": notes, "same": same}
