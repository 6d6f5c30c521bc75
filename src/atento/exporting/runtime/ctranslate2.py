"""Texts written by CTranslate2, of a folder that was exported with --to ct2."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from atento.data.text.levels import load_vocabulary
from atento.data.text.vocabulary import PAD, SPECIAL_TOKENS, START, Vocabulary
from atento.errors import InputError
from atento.exporting.folder import Json
from atento.exporting.runtime.judged import ExportedAnswer
from atento.exporting.runtime.sources import SourceReader
from atento.extras import require_extra
from atento.spec import DecodeRecipe


class CTranslate2Writer:
    """A text of each source."""

    def __init__(self, folder: Path, reader: SourceReader, saved: Json, *, threads: int = 0) -> None:
        require_extra("ct2", "this folder")
        import ctranslate2

        self.reader, self.vocabulary = reader, load_vocabulary(saved.get("vocabulary"))
        self.longest, self.growth = int(saved["longest"]), saved.get("growth")
        self.names = token_names(reader.vocabulary)  # type: ignore[attr-defined]
        self.numbers = {name: number for number, name in enumerate(token_names(self.vocabulary))}
        self.engine = ctranslate2.Translator(str(folder), device="cpu", intra_threads=threads)

    def limit(self, length: int | None) -> int:
        """The most tokens that are written of a source of that length."""
        if length is None or self.growth is None:
            return self.longest
        return min(self.longest, int(self.growth * length) + 10)

    def __call__(self, sources: Sequence[str], recipe: DecodeRecipe) -> list[ExportedAnswer]:
        """The best text for each source; sources with the same limit are decoded together."""
        if recipe.temperature:
            raise InputError(
                "CTranslate2 draws by its own generator: a seed would give other texts than atento's.",
                found=f"decode.temperature={recipe.temperature}",
                fix="leave it out, or export with --to onnx",
            )
        encoded = [self.reader.encode(source) for source in sources]
        groups: dict[int, list[int]] = defaultdict(list)
        for at, one in enumerate(encoded):
            groups[recipe.max_tokens or self.limit(self.reader.written_length(one))].append(at)
        found: dict[int, ExportedAnswer] = {}
        for limit, places in groups.items():
            tokens = [self.tokens_of(encoded[place]) for place in places]
            results = self.engine.translate_batch(tokens, max_decoding_length=limit, **options_of(recipe))
            for place, result in zip(places, results, strict=True):
                found[place] = self.answer(result, recipe)
        return [found[place] for place in range(len(sources))]

    def tokens_of(self, encoded: Any) -> list[str]:
        """The names of the tokens of a source."""
        (row,) = self.reader.arrays([encoded])["source"]
        return [self.names[number] for number in row.tolist()]

    def answer(self, result: Any, recipe: DecodeRecipe) -> ExportedAnswer:
        """The best hypothesis; the engine divides its log-probability by length^penalty, an end token counted."""
        numbers = [self.numbers[name] for name in result.hypotheses[0]]
        score = result.scores[0] * len(numbers) ** recipe.length_penalty
        return ExportedAnswer(self.vocabulary.decode(numbers), score)  # which leaves special tokens out


def options_of(recipe: DecodeRecipe) -> Json:
    """The options that make the engine search as atento does."""
    return {
        "beam_size": recipe.beam,
        "length_penalty": recipe.length_penalty,
        "patience": 2 if recipe.beam > 1 else 1,  # atento goes on as long as a longer text may still be better
        "return_scores": True,
        "return_end_token": True,
        "min_decoding_length": 0,
        "max_input_length": 0,
        "disable_unk": True,
        "suppress_sequences": [[SPECIAL_TOKENS[PAD]], [SPECIAL_TOKENS[START]]],
    }


def token_names(vocabulary: Vocabulary) -> list[str]:
    """A distinct name for each token: as it is written, with apostrophes where an earlier one is written alike."""
    listed = getattr(vocabulary, "id_to_token", None) or [
        *SPECIAL_TOKENS,
        *vocabulary.tokens(range(len(SPECIAL_TOKENS), len(vocabulary))),
    ]
    taken: set[str] = set()
    names = []
    for token in listed:
        name = token.replace("\n", "⏎")
        while name in taken:
            name += "'"
        taken.add(name)
        names.append(name)
    return names
