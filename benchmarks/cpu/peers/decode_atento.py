"""atento decodes batches of number words with `greedy` and `beam`: a trained Transformer, or an LSTM that attends."""

from collections.abc import Callable
from pathlib import Path

import torch
from taking_turns import Facts, Turns, decode_in_turn
from torch import nn

import atento
from atento.data.examples.batches import pad
from atento.decoding.beam import beam
from atento.decoding.greedy import SpecialTokens, greedy
from atento.models.builders import Vocabularies, build_translator
from atento.models.translator import Translator
from atento.spec import ModelRecipe

PAD, UNKNOWN, START, END = range(4)
ENDLESS = SpecialTokens(start=START, end=END, forbidden=(PAD, UNKNOWN, START, END))


Encode = Callable[[str], list[int]]


def model_of(task: Facts) -> tuple[Translator, Encode]:
    """The Transformer that was trained for the comparison of equal weights, or an LSTM of random weights."""
    if task["kind"] == "Transformer":
        bundle = atento.load(task["run"]).predictor.bundle
        assert isinstance(bundle.module, Translator)
        return bundle.module, bundle.codec.input.encode
    letters = sorted(set(Path(task["sources"]).read_text()) - {"\n"})
    numbers = {letter: END + 1 + at for at, letter in enumerate(letters)}
    recipe, size = ModelRecipe(name="lstm+general", hidden=task["width"], layers=1, dropout=0.0), END + 1 + len(letters)
    return build_translator(recipe, Vocabularies(size, size)), lambda line: [numbers[letter] for letter in line]


def main() -> None:
    turns = Turns()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    module, encode = model_of(turns.task)
    length, width = turns.task["length"], turns.task["beam"]
    nn.Module.eval(module)

    def decode(lines: list[str]) -> list[list[int]]:
        """The tokens of each line, all of the same length."""
        tokens, valid = pad([encode(line) for line in lines])
        with torch.no_grad():
            encoded = module.encode(tokens, valid)
        if width == 1:
            best = greedy(module.decoder, encoded, special_tokens=ENDLESS, max_tokens=length)
        else:
            found = beam(module.decoder, encoded, special_tokens=ENDLESS, max_tokens=length, width=width)
            best = [one[0] for one in found]
        return [list(one.tokens) for one in best]

    decode_in_turn(turns, decode)


if __name__ == "__main__":
    main()
