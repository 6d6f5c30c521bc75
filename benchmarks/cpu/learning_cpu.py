"""C2: learning to translate number words, German to English, as letters: steps a second, and time to 95 % exact.

    python benchmarks/cpu/learning_cpu.py [--only speed|quality] [--bound SECONDS] [--beside PEER ...] [--seeds 3]

An LSTM in both directions and one that attends (Luong's general scores, no input feeding) beside JoeyNMT, OpenNMT-py
and Keras; a Transformer of three layers beside transformers, which has no such LSTM. For the steps a second all sides
compute in float32, ours once more with the bf16 products that it has by default; they have the same sizes, Adam,
clipping, no dropout, and 64 pairs a step from the same 4,096, in which source and target have 115 letters together. For
the time to 95 % of 100 validation pairs exact by greedy search, all learn from the same 20,000 pairs. Ours is `atento
train numbers`, whose recipe was chosen on the validation part of this very set (but for its budget, which is by the
clock: here others may use the machine); a peer has the size of that recipe, 128, and all else as the library has it.
The bound on a peer's training is four times what ours needs; a peer that is not there by then counts with the bound:
the ratio is a lower bound. The time counts from before the data are read.
"""

import argparse
import random
import statistics
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from measuring_cpu import Claim, end, not_measured, one_thread, tell
from taking_turns import Contestant, Facts, interleaved, missing, running, time_to

from atento.data.builtin.numbers import english, german, number_pairs

BATCH, PAIRS, LAYERS = 64, 4096, 3
HEADS = {64: 4, 256: 8}
SPEED = {64: 2.0, 256: 1.1}  # goals by width
EXACT, SOONER, BEYOND, JUDGED, SIZE = 0.95, 3.0, 4.0, 100, 128
LSTM, TRANSFORMER = Contestant("atento, LSTM", "learn_atento"), Contestant("atento, Transformer", "learn_atento")
SHORT = {
    LSTM: LSTM._replace(name="atento, LSTM, bf16"),
    TRANSFORMER: TRANSFORMER._replace(name="atento, Transformer, bf16"),
}
PEERS = (
    Contestant("JoeyNMT", "learn_joeynmt", ("joeynmt",)),
    Contestant("OpenNMT-py", "learn_opennmt", ("onmt",)),
    Contestant("Keras 3", "learn_keras", ("keras",)),
    Contestant("transformers", "learn_transformers", ("transformers", "accelerate")),
)
LETTERS: Facts = {"tokens.source": "char", "tokens.target": "char"}

Pairs = Sequence[tuple[str, str]]


def write_pairs(folder: Path, train: Pairs, valid: Pairs) -> None:
    """The parts as two files of lines, and as one table."""
    folder.mkdir()
    for name, pairs in (("train", train), ("valid", valid)):
        for place, side in enumerate(("de", "en")):
            (folder / f"{name}.{side}").write_text("".join(f"{pair[place]}\n" for pair in pairs))
        (folder / f"{name}.tsv").write_text("source\ttarget\n" + "".join("\t".join(pair) + "\n" for pair in pairs))


def write_all(folder: Path) -> None:
    """Pairs of like length for the speed, and the built-in set for the quality."""
    numbers = random.Random(0).sample(range(100_000, 1_000_000), 80_000)
    found = [(german(number), english(number)) for number in numbers]
    ((length, _),) = Counter(sum(map(len, pair)) for pair in found).most_common(1)
    alike = [pair for pair in found if sum(map(len, pair)) == length]
    write_pairs(folder / "speed", alike[:PAIRS], alike[PAIRS : PAIRS + JUDGED])
    parts = number_pairs()
    write_pairs(folder / "quality", parts.train, parts.valid[:JUDGED])


def settings_alike(name: str, width: int) -> Facts:
    """A recipe that computes what the peers compute: 64 pairs of 116 tokens, of which one ends the target."""
    family: Facts = {"model.name": "lstm+general"}
    if TRANSFORMER.name in name:
        family = {"model.name": "transformer", "model.layers": LAYERS, "model.heads": HEADS[width]}
    return {
        **LETTERS, **family, "model.hidden": width, "model.dropout": 0.0, "train.label_smoothing": 0.0,
        "train.ema": 0.0, "train.precision": "auto" if "bf16" in name else "fp32",
        "train.optimizer": "adam", "train.lr": 1e-3, "train.batch_tokens": BATCH * 116, "train.validations": 1,
        "train.budget": 7200,
    }  # fmt: skip


def speed(folder: Path, peers: Sequence[Contestant], width: int, rounds: int) -> list[Claim]:
    """Milliseconds of a step."""

    def task(side: Contestant) -> Facts:
        settings = {**settings_alike(side.name, width), "data.valid": str(folder / "valid.tsv")}
        sizes = {"width": width, "layers": LAYERS, "heads": HEADS[width], "warm": 4, "chunk": 4}
        return {"folder": str(folder), "data": str(folder / "train.tsv"), "settings": settings, **sizes}

    with running([LSTM, TRANSFORMER, *SHORT.values(), *peers], task) as sides:
        best = {name: seconds * 1e3 / 4 for name, seconds in interleaved(sides, rounds=rounds).items()}
    claims = []
    for peer in peers:
        ours = TRANSFORMER if peer.name == "transformers" else LSTM
        kind = f"Transformer, {LAYERS} layers" if ours is TRANSFORMER else "LSTM, Luong"
        claim = f"a training step as its users call it, {kind}, B{BATCH}, width {width}"
        claims.append(tell(Claim(claim, peer.name, best[ours.name], best[peer.name], SPEED[width])))
        short = Claim(f"{claim}, ours in bf16", peer.name, best[SHORT[ours].name], best[peer.name], 0.0)
        claims.append(tell(short))
    return claims


def quality(folder: Path, peers: Sequence[Contestant], options: argparse.Namespace) -> list[Claim]:
    """Seconds to 95 % exact: ours, the median of three seeds, then each peer."""
    judged = list(zip(*((folder / f"valid.{side}").read_text().splitlines() for side in ("de", "en")), strict=True))
    task: Facts = {"folder": str(folder), "data": "numbers", "judged": judged, "width": SIZE}
    times = []
    for seed in range(options.seeds):
        settings = {"train.seed": seed, "train.validations": 1, "train.budget": 600}
        with running([LSTM], lambda side, settings=settings: {**task, "settings": settings}) as (side,):  # type: ignore[misc]
            found = time_to(side, enough=lambda share: share >= EXACT, bound=options.bound or 600.0)
            times.append(found.seconds if found.in_time else float("inf"))
    ours, claims = statistics.median(times), []
    for peer in peers:
        with running([peer], lambda side: {**task, "layers": 2, "heads": 8}) as (side,):
            found = time_to(side, enough=lambda share: share >= EXACT, bound=options.bound or min(600.0, BEYOND * ours))
        claim, late = f"{EXACT:.0%} of number words exact, width {SIZE}, own defaults", not found.in_time
        claims.append(tell(Claim(claim, peer.name, ours, found.seconds, SOONER, unit="s", is_bound=late)))
    return claims


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bound", type=float, help="seconds of training of a peer; four times ours if not given")
    parser.add_argument("--seeds", type=int, default=3, help="of ours, whose median time counts")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--only", choices=("speed", "quality"))
    parser.add_argument("--beside", nargs="+", choices=[peer.name for peer in PEERS], help="these peers alone")
    options = parser.parse_args()
    one_thread()
    asked = [peer for peer in PEERS if peer.name in (options.beside or peer.name)]
    here = [peer for peer in asked if not missing(peer)]
    for peer in asked:
        if missing(peer):
            not_measured("learning to translate", peer.name, f"{missing(peer)} is not installed")
    with TemporaryDirectory() as name:
        write_all(Path(name))
        claims: list[Claim] = []
        if options.only != "quality":
            claims += [claim for width in SPEED for claim in speed(Path(name) / "speed", here, width, options.rounds)]
        if options.only != "speed":
            claims += quality(Path(name) / "quality", here, options)
        end(claims)


if __name__ == "__main__":
    main()
