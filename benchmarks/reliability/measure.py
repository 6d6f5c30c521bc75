"""What the commands of this folder share: options, small runs in processes of their own, the verdict."""

import argparse
import runpy
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # of the tests whose parts are used here


@dataclass(frozen=True)
class Options:
    """What was typed."""

    count: int
    seed: int


def options(description: str | None, arguments: Sequence[str] | None, *, count: int) -> Options:
    """--count and --seed; the count that is not given is that of the target."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    return Options(given.count, given.seed)


def verdict(name: str, figure: str, target: str, *, met: bool) -> int:
    """The last line of a command, and its exit code."""
    print(f"{name}: {figure}; target: {target}: {'met' if met else 'MISSED'}", flush=True)
    return 0 if met else 1


def parts_of(test: str) -> dict[str, Any]:
    """The names of a file of tests."""
    return runpy.run_path(str(ROOT / "tests" / test))


def pairs(folder: Path) -> Path:
    """A file of 240 pairs that any model learns in seconds: words spelled, then spelled backwards."""
    words = ["".join("abcde"[(number // 5**place) % 5] for place in range(4)) for number in range(240)]
    path = folder / "pairs.tsv"
    path.write_text("".join(f"{word}\t{' '.join(reversed(word))}\n" for word in words), encoding="utf-8")
    return path


@contextmanager
def workshop() -> Iterator[Path]:
    """A folder for the time of a command."""
    folder = Path(tempfile.mkdtemp(prefix="reliability-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Trainings:
    """Small trainings by name of model and bounds, in processes of their own: `atento train` as a user types it."""

    def __init__(self, folder: Path) -> None:
        import importlib.util

        path = ROOT / "tests" / "journeys" / "commands.py"
        place = importlib.util.spec_from_file_location("atento_test_commands", path)
        if place is None or place.loader is None:
            raise FileNotFoundError(path)
        self.parts: Any = importlib.util.module_from_spec(place)
        sys.modules["atento_test_commands"] = self.parts
        place.loader.exec_module(self.parts)
        said = folder / "said"
        said.mkdir()
        self.folder, self.commands, self.data = folder, self.parts.Commands(said), pairs(folder)
        self.made: dict[tuple[str, str], Path] = {}

    def words(self, model: str, bounds: str) -> tuple[str, ...]:
        """The arguments of a training without its folder."""
        sizes = (*self.parts.SIZES, *self.parts.PACE, *getattr(self.parts, bounds))
        return ("train", str(self.data), "--model", model, *sizes)

    def whole(self, model: str, bounds: str) -> Path:
        """The folder of that training, never stopped."""
        if (model, bounds) not in self.made:
            place = Path(tempfile.mkdtemp(dir=self.folder))
            done = self.commands.run(*self.words(model, bounds), "--out", "run", cwd=place)
            if done.code:
                raise RuntimeError(done.err)
            self.made[model, bounds] = place / "run"
        return self.made[model, bounds]
