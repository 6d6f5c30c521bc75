"""Writes constraints.txt: the exact version of every package that `make install` takes, torch first.

`make pins` runs it in the environment of `make install`, so that a fresh machine gets tomorrow what it gets today.
Whatever else is installed there is left out.
"""

from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
HEAD = "# Pins for a reproducible development machine. The package itself asks only for ranges (pyproject.toml)."
FIRST = "torch"  # installed by itself, so that its pinned build is taken
START = ("atento", "dev")  # a package and one of its extras


def pins() -> dict[str, str]:
    """Versions by name; a build of torch for one kind of device (2.13.0+cpu) is pinned without the device."""
    seen, waiting = set(), [START]
    while waiting:
        name, extra = place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        for line in distribution(name).requires or ():
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                waiting += [(canonicalize_name(needed.name), each) for each in ("", *needed.extras)]
    names = {name for name, _ in seen} - {START[0]}
    return {
        name: distribution(name).version.split("+")[0] for name in sorted(names, key=lambda one: (one != FIRST, one))
    }


if __name__ == "__main__":
    lines = [HEAD, *(f"{name}=={version}" for name, version in pins().items())]
    (ROOT / "constraints.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"constraints.txt: {len(lines) - 1} packages")
