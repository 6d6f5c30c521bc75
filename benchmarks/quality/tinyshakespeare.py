"""Nats a character on tinyshakespeare: python benchmarks/quality/tinyshakespeare.py FOLDER [--budget 10m] [--device …].

Protocol of nanoGPT: the last 10 % of the text are held out, and all their characters are judged. The model is chosen by
the 1 % before them, so that it learns from the first 89 %. On a GPU both an RNN and a Transformer must meet the target.
"""

import sys
from pathlib import Path

import torch
from standing import Figure, Target, arguments, settle

import atento
from atento.baselines.ngrams import CharacterCounts
from atento.spec import parse_settings

SPLIT = {"data.split": "89/1/10", "tokens.source": "char"}
ON_A_GPU = {  # larger than the defaults, which are for a few processors
    "lstm": {
        "model.layers": 2,
        "model.hidden": 768,
        "model.dropout": 0.5,
        "train.batch_tokens": 16384,
        "train.lr": 2e-3,
    },
    "transformer": {
        "model.layers": 6,
        "model.hidden": 384,
        "model.heads": 6,
        "model.dropout": 0.2,
        "train.window": 256,
        "train.batch_tokens": 16384,
        "train.lr": 1e-3,
    },
}


def main() -> None:
    """Each model, its seeds, the counts beside them."""
    asked = arguments("nats a character on tinyshakespeare")
    file = asked.folder / "input.txt"
    gpu = asked.device == "cuda" or (asked.device == "auto" and torch.cuda.is_available())
    models = [name for name in asked.models.split(",") if name] or (["lstm", "transformer"] if gpu else ["lstm"])
    figures = [counts(file)]
    for model in models:
        settings = {**SPLIT, **(ON_A_GPU.get(model, {}) if gpu else {}), **parse_settings(asked.set)}
        values = []
        for seed in range(asked.seeds):
            run = atento.fit(
                file,
                task="generate",
                model=model,
                settings=settings,
                budget=asked.budget,
                seed=seed,
                device=asked.device,
                out=asked.out / f"tinyshakespeare-{model}-{seed}",
            )
            values.append(run.metrics["scores"]["nats_per_char"][0])
        figures.append(Figure(model, values))
    published = "nanoGPT 1.4697 on a GPU, 1.88 on a processor; 5-gram counts 1.692"
    target = Target("nats a character", 1.4697 if gpu else 1.65, published, smaller_is_better=True, strict=True)
    late = [str(figure) for figure in figures[1:] if not target.met(figure.mean)]
    if gpu and late:
        print(f"both must meet the target; not met by {', '.join(late)}", file=sys.stderr)
    settle("tinyshakespeare", figures, target, all_met=not late)


def counts(file: Path) -> Figure:
    """5 characters in a row, counted in the first 90 %."""
    text = file.read_text(encoding="utf-8")
    border = int(len(text) * 0.9)
    nats, characters, *_ = CharacterCounts().fit([text[:border]], [""]).predict([text[border:]])[0]
    return Figure("5-gram", [-nats / characters], baseline=True)


if __name__ == "__main__":
    main()
