"""Planted mutants: what each one changes, which rows it attacks, and whether the tests of those rows see it."""

import os
import shutil
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "atento"


@dataclass(frozen=True)
class Mutant:
    """One wrong version of one file."""

    group: str
    what: str  # the mistake in words
    file: str  # inside src/atento
    old: str
    new: str
    rows: tuple[str, ...]  # rows of docs/coverage.md, one of whose tests must fail; none: any test
    tests: tuple[str, ...]  # where those tests are

    def broken(self) -> str:
        """The file with the mistake in it; the place must be there once, and the mistake must change it."""
        text = (SOURCE / self.file).read_text(encoding="utf-8")
        if text.count(self.old) != 1 or self.old == self.new:
            raise ValueError(f"{self.group}: {self.what!r} no longer fits {self.file}: {text.count(self.old)} places")
        return text.replace(self.old, self.new)


def planted() -> list[Mutant]:
    """Every mutant of the tables beside this file."""
    mutants = []
    for path in sorted(Path(__file__).parent.glob("*.toml")):
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]:
            tests = entry["tests"] if isinstance(entry["tests"], list) else [entry["tests"]]
            mutants.append(
                Mutant(path.stem, **{**entry, "rows": tuple(entry["rows"]), "tests": tuple(tests)}),
            )
    return mutants


def outcome_of(tests: tuple[str, ...], rows: tuple[str, ...], *, mutant: Mutant | None = None) -> int:
    """Pytest's exit code for the tests of some rows, in a process of its own, on the sources or on a mutant of them."""
    with tempfile.TemporaryDirectory() as folder:
        home = ROOT / "src"
        if mutant is not None:
            home = Path(folder) / "src"
            shutil.copytree(SOURCE, home / "atento", ignore=shutil.ignore_patterns("__pycache__"))
            (home / "atento" / mutant.file).write_text(mutant.broken(), encoding="utf-8")
        child = os.fork()
        if child == 0:
            os._exit(run_tests(tests, rows, home=home, said=Path(folder) / "said"))
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run_tests(tests: tuple[str, ...], rows: tuple[str, ...], *, home: Path, said: Path) -> int:
    """In the child: atento is not imported yet, so it is taken from `home`."""
    os.environ["PYTHONPATH"] = str(home)  # for the commands that tests start
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(home))
    os.chdir(ROOT)
    with said.open("w") as heard:
        os.dup2(heard.fileno(), 1)
        os.dup2(heard.fileno(), 2)
    import pytest

    arguments = [*tests, "-x", "-p", "no:cacheprovider"]
    return int(pytest.main([*arguments, "--rows", ",".join(rows)] if rows else arguments))
