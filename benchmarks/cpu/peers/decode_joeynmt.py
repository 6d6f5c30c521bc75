"""JoeyNMT decodes batches of number words by its `search`; its data set makes the batches."""

import time
from pathlib import Path
from typing import Any

import torch
from joeynmt.config import parse_global_args
from joeynmt.prediction import prepare
from joeynmt.search import search
from learn_joeynmt import configuration
from taking_turns import Turns


def transformer(size: int, layers: int, heads: int) -> dict[str, Any]:
    """The model section of a Transformer."""
    side = {
        "type": "transformer", "num_layers": layers, "num_heads": heads, "embeddings": {"embedding_dim": size},
        "hidden_size": size, "ff_size": 4 * size, "layer_norm": "pre",
    }  # fmt: skip
    return {"encoder": side, "decoder": dict(side)}


def main() -> None:
    turns = Turns()
    task = turns.task
    torch.set_num_threads(1)
    Path("joeynmt").mkdir(exist_ok=True)
    chosen = configuration({**task, "chunk": 0})
    if task["kind"] == "Transformer":
        chosen["model"] = transformer(task["width"], task["layers"], task["heads"])
    arguments = parse_global_args(chosen, rank=0, mode="train")
    model, _, lines, _ = prepare(arguments, rank=0, mode="train")
    model.eval()
    batches = lines.make_iter(
        batch_size=task["batch"], batch_type="sentence", shuffle=False, eos_index=model.eos_index,
        pad_index=model.pad_index, device=arguments.device,
    )  # fmt: skip

    def decode(batch: Any) -> Any:
        """The tokens of each line (B, length)."""
        batch.sort_by_src_length()
        found, *_ = search(
            model, batch, max_output_length=task["length"], min_output_length=task["length"], beam_size=task["beam"],
            beam_alpha=1.0,
        )  # fmt: skip
        return found

    decode(next(iter(batches)))
    turns.say(ready=True)
    for batch in batches:
        began = time.process_time()
        found = decode(batch)
        seconds = time.process_time() - began
        turns.say(seconds=seconds, lengths=[int((row != model.pad_index).sum()) for row in found], texts=[])


if __name__ == "__main__":
    main()
