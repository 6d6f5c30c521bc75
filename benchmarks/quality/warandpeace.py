"""War and Peace by characters or words: python benchmarks/quality/warandpeace.py FOLDER [--level word] [--budget 10m].

Protocol: 80 / 10 / 10 in order, the state carried through the last tenth, everything chosen on the tenth before it. By
characters the figure is nats a character. By words it is the perplexity of a token, which is a word or a punctuation
mark; line breaks are spaces, and a word seen once in the training part is one and the same <unknown>. The modified
Kneser–Ney model of the same tokens stands beside every figure. The recipes are the defaults.
"""

import lzma
import math
from pathlib import Path
from typing import Any

import torch
from standing import Figure, Target, arguments, on_gpu, settle

import atento
from atento.layers.kneser_ney import KneserNey
from atento.spec import parse_settings
from atento.tasks.generate.adapting import adapted
from atento.tasks.generate.codec import TextCodec
from atento.tasks.generate.scoring import log_probabilities
from atento.tasks.generate.training import TextModel

PUBLISHED = {
    "char": "3-layer LSTM of 512 units 1.08 to 1.10 on another copy of the text; 7-gram counts 1.464",
    "word": "none",
}
ADAPTED = 20_000  # tokens
MODELS = {"cpu": ("lstm", "lstm+ngram"), "cuda": ("lstm+ngram", "transformer+ngram")}


def main() -> None:
    """One level: all models, the counts beside them."""
    asked = arguments("War and Peace, by characters or by words", level=("char", "word"))
    gpu, level = on_gpu(asked), asked.level
    files = write_parts(asked.folder, asked.out / f"warandpeace-{level}", level)
    settings = {
        "data.valid": str(files["valid"]),
        "data.test": str(files["test"]),
        "data.documents": "file",
        "tokens.source": level,
        "train.baselines": False,
        **({"tokens.min_count": 2, "tokens.vocab_size": 1_000_000} if level == "word" else {}),
        **parse_settings(asked.set),
    }
    figures, counted = list[Figure](), None
    for model in asked.models.split(",") if asked.models else MODELS["cuda" if gpu else "cpu"]:
        values = []
        for seed in range(asked.seeds):
            out = asked.out / f"warandpeace-{level}-{model}-{seed}"
            keys: dict[str, Any] = {"task": "generate", "model": model, "settings": settings, "seed": seed, "out": out}
            run = atento.fit(files["train"], budget=asked.budget, device=asked.device, **keys)
            module, codec = run.predictor.module.to("cuda" if gpu else "cpu"), run.predictor.bundle.codec
            if counted is None:
                counted = counts(codec, files)
                print(counted.model, counted, flush=True)
            row = codec.row(files["test"].read_text(encoding="utf-8"))
            logs = log_probabilities(module, codec, [row])[0]
            values.append(figure(level, logs))
            best = min(point["value"] for point in run.metrics["curve"])
            print(f"{model} {values[-1]:.4f}, validation {best:.4f} nats a character", flush=True)
            print(f"  {beside(level, module, codec, row, logs)}", flush=True)
        figures.append(Figure(model, values))
    if counted is None:
        raise SystemExit("no model was named")
    target = {
        "char": ("nats a character", 1.15 if gpu else 1.35),
        "word": ("perplexity a word", counted.mean * (0.75 if gpu else 1.0)),
    }[level]
    wanted = Target(*target, PUBLISHED[level], smaller_is_better=True, strict=not gpu)
    settle(f"warandpeace by {level}s", [counted, *figures], wanted, budget=asked.budget)


def beside(level: str, module: TextModel, codec: TextCodec, row: torch.Tensor, logs: torch.Tensor) -> str:
    """What the model gains by adapting to the first of the tested tokens: never the figure."""
    plain = f"its first {ADAPTED:,} tokens {figure(level, logs[:ADAPTED]):.4f}"
    found = adapted(module, codec, row[: ADAPTED + 1])
    return ", ".join([plain, *(f"with {name} {figure(level, one):.4f}" for name, one in found.items())])


def write_parts(folder: Path, out: Path, level: str) -> dict[str, Path]:
    """The three parts as files; by words, with single spaces."""
    with lzma.open(folder / "warandpeace.txt.xz", "rt", encoding="utf-8", newline="") as file:
        text = file.read()
    first, second = int(0.8 * len(text)), int(0.9 * len(text))
    files = {}
    out.mkdir(parents=True, exist_ok=True)
    for name, part in (("train", text[:first]), ("valid", text[first:second]), ("test", text[second:])):
        files[name] = out / f"{name}.txt"
        files[name].write_text(" ".join(part.split()) if level == "word" else part, encoding="utf-8", newline="")
    return files


def counts(codec: TextCodec, files: dict[str, Path]) -> Figure:
    """The Kneser–Ney model of the codec's own tokens: 7 characters, or 5 words, in a row."""
    train, test = (codec.row(files[part].read_text(encoding="utf-8")).numpy() for part in ("train", "test"))
    model = KneserNey(codec.ngram_order, len(codec.vocabulary)).fit([train], skipped=1)
    logs = torch.from_numpy(model.score(test, skipped=1).probabilities).log()
    return Figure(f"kneser-ney {codec.ngram_order}-gram", [figure(codec.level, logs)], baseline=True)


def figure(level: str, logs: torch.Tensor) -> float:
    """Nats a character, or the perplexity of a word."""
    nats = -float(logs.double().mean())
    return nats if level == "char" else math.exp(nats)


if __name__ == "__main__":
    main()
