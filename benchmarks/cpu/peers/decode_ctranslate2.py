"""CTranslate2 decodes batches of number words, with the weights that `atento export --to ct2` wrote."""

from pathlib import Path

import ctranslate2
from taking_turns import Turns, decode_in_turn

from atento.bundle import read_json
from atento.data.text.levels import load_vocabulary
from atento.data.text.vocabulary import PAD, START
from atento.exporting.folder import CODEC
from atento.exporting.runtime.ctranslate2 import token_names


def main() -> None:
    turns = Turns()
    task = turns.task
    engine = ctranslate2.Translator(task["exported"], device="cpu", inter_threads=1, intra_threads=1)
    written = token_names(load_vocabulary(read_json(Path(task["exported"]), CODEC)["output"]["vocabulary"]))
    numbers = {name: number for number, name in enumerate(written)}

    def decode(lines: list[str]) -> list[list[int]]:
        """The tokens of each line, all of the same length."""
        found = engine.translate_batch(
            [list(line) for line in lines], beam_size=task["beam"], length_penalty=1.0,
            min_decoding_length=task["length"], max_decoding_length=task["length"], disable_unk=True,
            suppress_sequences=[[written[PAD]], [written[START]]],
        )  # fmt: skip
        return [[numbers[one] for one in result.hypotheses[0]] for result in found]

    decode_in_turn(turns, decode)


if __name__ == "__main__":
    main()
