"""F5: no pickle, no import by a name from a file, nothing executed when a model is loaded, no connection to anywhere.

    python benchmarks/reliability/nothing_is_executed.py [--count 200] [--seed 0]

The sources are searched for calls that execute or connect, and Python's own audit events are heard while models are
trained, loaded, used and refused, some of them with a pickle in the place of each file.
"""

import ast
import pickle
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from measure import ROOT, options, pairs, parts_of, verdict, workshop

import atento
from atento.bundle import MANIFEST, load_bundle
from atento.errors import InputError

FORBIDDEN = (
    "pickle.find_class",
    "socket.connect",
    "socket.sendto",
    "socket.getaddrinfo",
    "os.system",
    "subprocess.Popen",
)
HEARD: Counter[str] = Counter()
LISTENING: list[bool] = []


def hear(event: str, _: Any) -> None:
    """Count what must not happen; a hook stays until the process ends, so it listens only for a time."""
    if LISTENING and (event in FORBIDDEN or event == "exec"):
        HEARD[event] += 1


def main(arguments: Sequence[str] | None = None) -> int:
    given = options(__doc__, arguments, count=200)
    chance, parts, rules = random.Random(given.seed), parts_of("test_bundle.py"), parts_of("architecture/test_files.py")
    sources = sorted((ROOT / "src" / "atento").rglob("*.py"))
    sockets = {ROOT / "src" / "atento" / name for name in rules["SOCKETS"]}
    faults = [
        f"{path.name}: {fault}"
        for path in sources
        if path not in sockets
        for fault in rules["faults_of"](ast.parse(path.read_text(encoding="utf-8")))
    ]
    torch.set_num_threads(1)
    sys.addaudithook(hear)
    opened = 0
    with workshop() as folder:
        settings = {"model.hidden": 16, "train.steps": 4, "train.threads": 1, "train.validations": 1}
        run = atento.fit(pairs(folder), model="lstm+additive", settings=settings, out=folder / "run", verbose=False)
        atento.load(run.folder).predict(["abcd"])  # whatever is imported late is imported now
        LISTENING.append(True)
        atento.load(run.folder).predict(["abcd"])
        manifest = (run.folder / MANIFEST).read_bytes()
        for number in range(given.count):
            path = run.folder / chance.choice((*parts["NEEDED"], MANIFEST))
            content = path.read_bytes()
            trap = folder / "made by a pickle"
            path.write_bytes(pickle.dumps(parts["Intruder"](trap)))
            if number % 2 and path.name != MANIFEST:
                parts["sign"](run.folder)
            try:
                load_bundle(run.folder)
            except InputError:
                pass
            else:
                opened += 1
            opened += Path(trap).exists()
            path.write_bytes(content)
            (run.folder / MANIFEST).write_bytes(manifest)
        LISTENING.clear()
    for fault in faults:
        print(fault, file=sys.stderr)
    heard = ", ".join(f"{name} {times}" for name, times in HEARD.items()) or "nothing"
    figure = f"{len(sources)} files with {len(faults)} forbidden calls; {given.count} pickles, {opened} opened"
    figure += f"; heard: {heard}"
    return verdict(
        "F5", figure, "no forbidden call, no pickle opened, nothing heard", met=not (faults or opened or HEARD)
    )


if __name__ == "__main__":
    sys.exit(main())
