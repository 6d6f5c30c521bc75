"""transformers decodes batches of number words with `generate`."""

from pathlib import Path

import torch
from learn_transformers import bart, letters
from taking_turns import Turns, decode_in_turn


def main() -> None:
    turns = Turns()
    task = turns.task
    torch.set_num_threads(1)
    torch.manual_seed(0)
    tokenizer = letters(Path(task["folder"]))
    model = bart(task, len(tokenizer))
    model.eval()

    def decode(lines: list[str]) -> list[list[int]]:
        """The tokens of each line, all of the same length."""
        read = tokenizer(lines, padding=True, return_tensors="pt", return_token_type_ids=False)
        with torch.no_grad():
            found = model.generate(
                **read, num_beams=task["beam"], do_sample=False, min_new_tokens=task["length"],
                max_new_tokens=task["length"],
            )  # fmt: skip
        return [row[1:] for row in found.tolist()]

    decode_in_turn(turns, decode)


if __name__ == "__main__":
    main()
