"""What an installation of atento adds to torch: the packages and megabytes of a fresh environment with the wheel alone.

`--extras studio,parquet` adds extras. torch is installed first, in the version of constraints.txt, and is not counted;
nor is what it brings along.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
MEGA = 1e6
WEIGH = """
import json
from importlib.metadata import distributions
sizes = {}
for one in distributions():
    files = {file.locate() for file in one.files or ()}
    sizes[one.name] = sum(path.stat().st_size for path in files if path.is_file())
print(json.dumps(sizes))
"""


def build_wheel(folder: Path) -> Path:
    """The wheel of these sources."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return next(folder.glob("*.whl"))


def make_environment(folder: Path) -> Path:
    """The Python of a new virtual environment with torch alone."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    install(python, next(line for line in lines if line.startswith("torch==")))
    return python


def install(python: Path, *wanted: str) -> None:
    """Install packages; nothing is compiled, so that a machine without a compiler can do the same."""
    options = ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
    subprocess.run([str(python), "-m", "pip", "install", *options, *wanted], check=True)


def weigh(python: Path) -> dict[str, int]:
    """Bytes of every package of an environment, as installed."""
    return json.loads(subprocess.check_output([str(python), "-c", WEIGH], text=True))


def added(before: dict[str, int], after: dict[str, int]) -> list[tuple[str, float]]:
    """The packages that came, with their megabytes, the largest first."""
    new = [(name, size / MEGA) for name, size in after.items() if name not in before]
    return sorted(new, key=lambda pair: -pair[1])


def tell(packages: list[tuple[str, float]]) -> None:
    """A line for each package, and the sum."""
    for name, size in packages:
        print(f"{size:8.1f} MB  {name}")
    print(f"{sum(size for _, size in packages):8.1f} MB in {len(packages)} packages on top of torch")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--extras", default="", help="names of extras, with commas between")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        wheel = build_wheel(Path(place))
        python = make_environment(Path(place) / "environment")
        empty = weigh(python)
        install(python, f"{wheel}[{chosen.extras}]" if chosen.extras else str(wheel))
        tell(added(empty, weigh(python)))
