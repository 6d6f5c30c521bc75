"""C3: decoding 1,000 number words, greedy and beam 5, beside JoeyNMT, transformers and CTranslate2.

    python benchmarks/cpu/decoding_cpu.py [--texts 1000]

An LSTM that attends (Luong, width 256) and a Transformer (3 layers of 256, 8 heads), 64 texts of like length in a
batch. All sides have the same sizes and write 60 tokens for every text, no more and no fewer: no search may end sooner.
The Transformer is trained for a moment and exported by `atento export --to ct2`, so that CTranslate2 computes with the
same weights: most of its greedy texts must be ours. Batches are decoded in turn.
"""

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from learning_cpu import write_pairs
from measuring_cpu import Claim, end, not_measured, one_thread, tell
from taking_turns import Contestant, Facts, Side, missing, running

import atento
from atento.data.builtin.numbers import english, german
from atento.exporting.export import export_bundle

WIDTH, LAYERS, HEADS, BATCH, LENGTH, STEPS = 256, 3, 8, 64, 60, 150
OURS = Contestant("atento", "decode_atento")
JOEY = Contestant("JoeyNMT", "decode_joeynmt", ("joeynmt",))
TRANSFORMERS = Contestant("transformers", "decode_transformers", ("transformers",))
ENGINE = Contestant("CTranslate2", "decode_ctranslate2", ("ctranslate2",))
GOALS: dict[str, dict[Contestant, float]] = {
    "LSTM": {JOEY: 2.0},
    "Transformer": {TRANSFORMERS: 1.5, JOEY: 4.0, ENGINE: 0.7},
}
ALIKE = 0.95  # of the texts of CTranslate2 must be ours; sums in another order may choose otherwise where scores tie


def prepare(folder: Path, texts: int) -> Facts:
    """Lines to read, a Transformer that has been trained for a moment, and its export."""
    numbers = random.Random(0).sample(range(100_000, 1_000_000), texts + 2048)
    pairs = sorted(((german(one), english(one)) for one in numbers[:texts]), key=lambda pair: len(pair[0]))
    train = [(german(one), english(one)) for one in numbers[texts:]]
    write_pairs(folder / "pairs", train, pairs)
    settings = {
        "tokens.source": "char", "tokens.target": "char", "model.name": "transformer", "model.hidden": WIDTH,
        "model.layers": LAYERS, "model.heads": HEADS, "train.steps": STEPS, "train.budget": 0, "train.baselines": "no",
        "train.validations": 1, "train.threads": 1, "train.batch_tokens": 1024, "train.warmup": 50,
        "data.valid": str(folder / "pairs" / "valid.tsv"), "train.validation_examples": 8, "decode.max_tokens": LENGTH,
    }  # fmt: skip
    run = atento.fit(folder / "pairs" / "train.tsv", settings=settings, device="cpu", out=folder / "run")
    exported = folder / "exported"
    if not missing(ENGINE):
        export_bundle(run.predictor.bundle, to="ct2", out=exported)
    return {
        "folder": str(folder / "pairs"), "sources": str(folder / "pairs" / "valid.de"), "run": str(folder / "run"),
        "exported": str(exported), "width": WIDTH, "layers": LAYERS, "heads": HEADS, "batch": BATCH, "length": LENGTH,
    }  # fmt: skip


def seconds_of(sides: Sequence[Side], batches: int) -> dict[str, float]:
    """Seconds of each side for all batches, which are decoded in turn."""
    total = {side.name: 0.0 for side in sides}
    texts: dict[str, list[list[int]]] = {side.name: [] for side in sides}
    for side in sides:
        side.hear()
    for _ in range(batches):
        for side in sides:
            found = side.go_on()
            assert set(found["lengths"]) == {LENGTH}, f"{side.name} wrote {sorted(set(found['lengths']))} tokens"
            total[side.name] += found["seconds"]
            texts[side.name] += found["texts"]
    if ENGINE.name in texts:
        equal = sum(one == other for one, other in zip(texts[OURS.name], texts[ENGINE.name], strict=True))
        assert equal >= ALIKE * len(texts[OURS.name]), f"{equal} of {len(texts[OURS.name])} texts are ours"
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=1000)
    options = parser.parse_args()
    one_thread()
    for peer in dict.fromkeys(peer for goals in GOALS.values() for peer in goals):
        if missing(peer):
            not_measured("decoding", peer.name, f"{missing(peer)} is not installed")
    claims = []
    with TemporaryDirectory() as name:
        common = prepare(Path(name), options.texts)
        for kind, goals in GOALS.items():
            here = [peer for peer in goals if not missing(peer)]
            for beam in (1, 5):
                task = {**common, "kind": kind, "beam": beam}
                with running([OURS, *here], lambda side, task=task: task) as sides:  # type: ignore[misc]
                    total = seconds_of(sides, -(-options.texts // BATCH))
                search = "greedy" if beam == 1 else f"beam {beam}"
                claim = f"{kind} {WIDTH}, {search}, {options.texts:,} × {LENGTH} letters"
                claims += [
                    tell(Claim(claim, one.name, total[OURS.name], total[one.name], goals[one], "s")) for one in here
                ]
    end(claims)


if __name__ == "__main__":
    main()
