"""Runs and boards in a folder, newest first."""

from pathlib import Path
from typing import Any

from atento.api.folders import BOARD, RECIPES, RUNS, in_use
from atento.bundle import METRICS, RECIPE, is_finished, read_json
from atento.errors import AtentoError


def list_runs(folder: Path = RUNS) -> list[dict[str, Any]]:
    """One entry a run or comparison; a damaged one is listed as such."""
    if not folder.is_dir():
        return []
    places = [place for place in folder.iterdir() if (place / RECIPE).exists() or (place / RECIPES).is_dir()]
    return [describe(place) for place in sorted(places, key=lambda place: -place.stat().st_mtime)]


def describe(place: Path) -> dict[str, Any]:
    """What a folder holds."""
    entry: dict[str, Any] = {"folder": str(place), "kind": "run", "state": "finished", "model": "", "metric": ""}
    try:
        if (place / RECIPES).is_dir():
            entry["kind"] = "comparison"
            if (place / BOARD).is_file():
                board = read_json(place, BOARD)
                best = next((row for row in board["rows"] if row["model"] == board["winner"]), {"value": None})
                return {**entry, "model": board["winner"], "metric": board["metric"], "value": best["value"]}
        elif is_finished(place):
            metrics = read_json(place, METRICS)
            value = metrics["scores"][metrics["metric"]][0]
            return {**entry, "model": metrics["model"], "metric": metrics["metric"], "value": value}
        entry["state"] = "running" if in_use(place) else "can be resumed"
    except (AtentoError, KeyError, TypeError) as error:
        entry["state"] = f"damaged: {error}".splitlines()[0]
    return {**entry, "value": None}
