"""Subwords by byte-pair encoding (Sennrich et al., 2016), with the library `tokenizers`."""

from collections.abc import Iterable, Sequence
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from atento.data.text.vocabulary import MARKS, Vocabulary
from atento.errors import InputError

SPACE = "▁"  # a subword that begins a word
WRITTEN_SPACE = "\ue000"  # stands for that sign where a text itself has it


class Subwords(Vocabulary):
    """Frequent pieces of words, down to single characters; spaces are part of the pieces."""

    level = "subword"

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.tokenizer.encode_special_tokens = True  # "<end>" in a text is text, never the end mark

    def __len__(self) -> int:
        return int(self.tokenizer.get_vocab_size())

    def encode(self, text: str) -> list[int]:
        """Merge the commonest pairs first."""
        return list(self.tokenizer.encode(text.replace(SPACE, WRITTEN_SPACE)).ids)

    def decode(self, numbers: Sequence[int]) -> str:
        """Pieces side by side, the space sign a space again."""
        text = str(self.tokenizer.decode([number for number in numbers if number >= len(MARKS)]))
        return text.replace(WRITTEN_SPACE, SPACE)

    def pieces(self, numbers: Sequence[int]) -> list[str]:
        """The pieces, with the sign that begins a word."""
        return [str(self.tokenizer.id_to_token(number)).replace(WRITTEN_SPACE, SPACE) for number in numbers]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Where the pieces stand, without the space before a word; a piece that is a space alone stands on it."""
        cut = self.tokenizer.encode(text.replace(SPACE, WRITTEN_SPACE))
        places = []
        for piece, (start, end) in zip(cut.tokens, cut.offsets, strict=True):
            if piece == SPACE and text[start] != " ":
                end = start  # put before the text by the library
            elif piece.startswith(SPACE) and piece != SPACE and text[start] == " ":
                start += 1
            places.append((start, end))
        return places

    def to_json(self) -> dict[str, Any]:
        """The library's own description, as text."""
        return {"level": self.level, "tokenizer": self.tokenizer.to_str()}

    @classmethod
    def from_text(cls, description: str) -> "Subwords":
        """What `to_json` wrote."""
        try:
            return cls(Tokenizer.from_str(description))
        except Exception as error:  # noqa: BLE001 - the library raises bare Exception
            raise InputError("this is not a subword vocabulary.", found=str(error), fix="train again") from None

    @classmethod
    def learn(cls, texts: Iterable[str], *, most: int, least_count: int) -> "Subwords":
        """`most` pieces of the training text."""
        tokenizer = Tokenizer(models.BPE(unk_token=MARKS[1]))
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Metaspace(replacement=SPACE), pre_tokenizers.Punctuation("isolated")]
        )
        tokenizer.decoder = decoders.Metaspace(replacement=SPACE)
        trainer = trainers.BpeTrainer(
            vocab_size=most, min_frequency=max(least_count, 2), special_tokens=list(MARKS), show_progress=False
        )
        tokenizer.train_from_iterator([text.replace(SPACE, WRITTEN_SPACE) for text in texts], trainer)
        return cls(tokenizer)
