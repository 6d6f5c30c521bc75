"""`make spec`: every row of docs/coverage.md with the tests that prove it. Fails while a row has none, but for groups
that the page calls planned; `--brief` names only what lacks a proof.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / ".spec-results.json"
SOURCES = ("src", "tests")


def rows_of(coverage: str) -> dict[str, str]:
    """Row number -> idea, from the tables of the coverage page."""
    return dict(re.findall(r"^\| ([A-Z]\d\d) \| (.+?) \|", coverage, flags=re.MULTILINE))


def planned_in(coverage: str) -> set[str]:
    """Letters of the groups that are not built yet."""
    return set(re.findall(r"^## ([A-Z]) · .*\(planned\)$", coverage, flags=re.MULTILINE))


def newest_source() -> float:
    """When a source file was last changed."""
    files = (path for folder in SOURCES for path in (ROOT / folder).rglob("*.py"))
    return max(path.stat().st_mtime for path in files)


def proofs(results: dict[str, dict[str, object]]) -> dict[str, list[tuple[str, str]]]:
    """Row -> (test, outcome)."""
    found: dict[str, list[tuple[str, str]]] = {}
    for test, entry in results.items():
        for row in entry["rows"]:
            found.setdefault(row, []).append((test, entry["outcome"]))
    return found


def main(*, run: bool, brief: bool) -> int:
    if run:
        RESULTS.unlink(missing_ok=True)
        subprocess.run(
            [sys.executable, "-m", "pytest", "--numprocesses=auto", "--dist=worksteal"], cwd=ROOT, check=False
        )
    if not RESULTS.exists():
        print("no test results yet: run `make test`, or `make spec RUN=1`")
        return 2
    results = json.loads(RESULTS.read_text())["tests"]
    changed = newest_source()
    old = [test for test, entry in results.items() if entry["at"] < changed]
    if old:
        print(f"{len(old)} of {len(results)} test results are older than the sources, e.g. {old[0]}")
        print("run `make test`, or `make spec RUN=1`")
        return 2
    page = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
    rows, planned = rows_of(page), planned_in(page)
    by_row = proofs(results)
    unknown = sorted(set(by_row) - set(rows))
    if unknown:
        print(f"tests claim rows that docs/coverage.md does not have: {', '.join(unknown)}")
        return 2
    proved, missing = 0, 0
    for row, idea in rows.items():
        tests = by_row.get(row, [])
        holds = bool(tests) and all(outcome == "passed" for _, outcome in tests)
        later = not tests and row[0] in planned
        proved, missing = proved + holds, missing + (not holds and not later)
        if brief and (holds or later):
            continue
        print(f"{'proved ' if holds else 'planned' if later else 'MISSING'} {row} {idea}")
        for test, outcome in tests:
            print(f"          {outcome}: {test}")
    left = f", {len(rows) - proved - missing} planned" if len(rows) > proved + missing else ""
    print(f"{proved} of {len(rows)} rows proved{left}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(run="--run" in sys.argv, brief="--brief" in sys.argv))
