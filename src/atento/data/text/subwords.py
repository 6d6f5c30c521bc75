"""Subwords by byte-pair encoding (Sennrich et al., 2016), computed by the library `tokenizers`."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from atento.data.text.vocabulary import REMEMBERED, SPECIAL_TOKENS, Vocabulary
from atento.errors import InputError
from atento.extras import require_extra

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WORDS_INSTEAD = "read whole words: --set tokens.source=word --set tokens.target=word"
SPACE_SIGN = "▁"  # at the start of a subword that begins a word
ESCAPED_SPACE_SIGN = "\ue000"  # replaces that sign where a text has it


class Subwords(Vocabulary):
    """A vocabulary of frequent subwords, down to single characters; spaces are part of the subwords."""

    level = "subword"

    def __init__(self, tokenizer: "Tokenizer") -> None:
        self.tokenizer = tokenizer
        self.known: dict[str, list[int]] = {}  # words with the space before them, and their ids
        self.tokenizer.encode_special_tokens = True  # "<end>" in a text is text, never the special token

    def __len__(self) -> int:
        return int(self.tokenizer.get_vocab_size())

    def encode(self, text: str) -> list[int]:
        """The ids of the subwords, the most frequent pairs merged first; no pair is merged across a space."""
        first, *others = text.replace(SPACE_SIGN, ESCAPED_SPACE_SIGN).split(" ")
        ids = list(self.encode_word(first))
        for word in others:
            ids += self.encode_word(f" {word}")
        return ids

    def encode_word(self, word: str) -> list[int]:
        """The ids of a text with no space but at its start: the same words come again and again."""
        ids = self.known.get(word)
        if ids is None:
            if len(self.known) >= REMEMBERED:
                self.known.clear()
            ids = self.known[word] = self.tokenizer.encode(word).ids
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """The text of the subwords, the space sign as a space."""
        text = str(self.tokenizer.decode([id for id in ids if id >= len(SPECIAL_TOKENS)]))
        return text.replace(ESCAPED_SPACE_SIGN, SPACE_SIGN)

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """The subwords, with the sign that begins a word."""
        return [str(self.tokenizer.id_to_token(id)).replace(ESCAPED_SPACE_SIGN, SPACE_SIGN) for id in ids]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """The spans of the subwords, without the space before a word; a subword of a space alone has its span."""
        encoded = self.tokenizer.encode(text.replace(SPACE_SIGN, ESCAPED_SPACE_SIGN))
        spans = []
        for token, (start, end) in zip(encoded.tokens, encoded.offsets, strict=True):
            if token == SPACE_SIGN and text[start] != " ":
                end = start  # put before the text by the library
            elif token.startswith(SPACE_SIGN) and token != SPACE_SIGN and text[start] == " ":
                start += 1
            spans.append((start, end))
        return spans

    def to_json(self) -> dict[str, object]:
        """The level and the library's description as text."""
        return {"level": self.level, "tokenizer": self.tokenizer.to_str()}

    @classmethod
    def from_text(cls, description: str) -> "Subwords":
        """The vocabulary that `to_json` described."""
        require_extra("subwords", "a vocabulary of subwords")
        from tokenizers import Tokenizer

        try:
            return cls(Tokenizer.from_str(description))
        except Exception as error:  # noqa: BLE001 - the library raises bare Exception
            raise InputError("this is not a subword vocabulary.", found=str(error), fix="train again") from None

    @classmethod
    def learn(cls, texts: Iterable[str], *, size: int, least_count: int) -> "Subwords":
        """A vocabulary of `size` subwords, learned from training text."""
        require_extra("subwords", "a vocabulary of subwords", instead=WORDS_INSTEAD)
        from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

        tokenizer = Tokenizer(models.BPE(unk_token=SPECIAL_TOKENS[1]))
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Metaspace(replacement=SPACE_SIGN), pre_tokenizers.Punctuation("isolated")]
        )
        tokenizer.decoder = decoders.Metaspace(replacement=SPACE_SIGN)
        trainer = trainers.BpeTrainer(
            vocab_size=size, min_frequency=max(least_count, 2), special_tokens=list(SPECIAL_TOKENS), show_progress=False
        )
        tokenizer.train_from_iterator([text.replace(SPACE_SIGN, ESCAPED_SPACE_SIGN) for text in texts], trainer)
        return cls(tokenizer)
