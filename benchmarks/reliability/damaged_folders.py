"""F4: folders of models with random damage are all refused, none crashes, and memory does not grow.

    python benchmarks/reliability/damaged_folders.py [--count 10000] [--seed 0]

Half of the damages are signed with a new manifest, as someone would who means harm: such a folder is refused, or is
another valid model, and never a crash.
"""

import random
import resource
import sys
from collections.abc import Sequence

import torch
from measure import options, pairs, parts_of, verdict, workshop

import atento
from atento.bundle import MANIFEST, load_bundle
from atento.errors import InputError

MOST_MB = 64


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(arguments: Sequence[str] | None = None) -> int:
    given = options(__doc__, arguments, count=10_000)
    chance, parts = random.Random(given.seed), parts_of("test_bundle.py")
    torch.set_num_threads(1)
    loaded, crashed, valid = 0, 0, 0
    with workshop() as folder:
        settings = {"model.hidden": 16, "train.steps": 4, "train.threads": 1, "train.validations": 1}
        run = atento.fit(pairs(folder), model="lstm+additive", settings=settings, out=folder / "run", verbose=False)
        load_bundle(run.folder)
        before, manifest = peak_mb(), (run.folder / MANIFEST).read_bytes()
        for number in range(given.count):
            signed = bool(number % 2)
            path = run.folder / chance.choice(parts["NEEDED"] if signed else (*parts["VOUCHED"], MANIFEST))
            content = path.read_bytes()
            path.write_bytes(parts["corrupt"](chance, content))
            if signed:
                parts["sign"](run.folder)
            try:
                load_bundle(run.folder)
                loaded += not signed
                valid += signed
            except InputError:
                pass
            except Exception as error:  # noqa: BLE001
                crashed += 1
                print(f"{path.name}, number {number}: {type(error).__name__}: {error}", file=sys.stderr)
            path.write_bytes(content)
            (run.folder / MANIFEST).write_bytes(manifest)
        more = peak_mb() - before
    figure = (
        f"{given.count} damaged folders: {loaded} unsigned ones loaded, {crashed} crashes, {more:.0f} MB more memory; "
        f"{valid} signed ones were other valid models"
    )
    met = not loaded and not crashed and more <= MOST_MB
    return verdict("F4", figure, f"none loaded, no crash, at most {MOST_MB} MB", met=met)


if __name__ == "__main__":
    sys.exit(main())
