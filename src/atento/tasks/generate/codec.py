"""The lossless codec of plain text: one row of token numbers."""

import math
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from atento.data.text.levels import CLOSED_VOCABULARY, USES_OF_A_WORD, learn_vocabulary, load_vocabulary, subword_level
from atento.data.text.vocabulary import END, START, UNKNOWN, LosslessWords, TokenList, Vocabulary, is_word
from atento.errors import InputError
from atento.spec import TokensRecipe, TrainRecipe
from atento.tasks.reading.text import FEW
from atento.tasks.task import Pair, Saved

MASK = START  # a text begins after an end token, so the start token is free to mask others
LEVEL_WORDS = {"char": "characters", "lossless": "words", "word": "words", "subword": "subwords"}
LONG_TEXT = 5_000_000  # characters, from which on characters one by one take too long
COMMON_WORDS = 2000  # that a blank may be filled with
CHARACTERS_COUNTED, TOKENS_COUNTED = 7, 5  # in a row, by an n-gram model of characters, or of words or subwords
AT_ONCE = 200  # tokens written when nothing says where to stop


@dataclass(frozen=True)
class TextCodec:
    """Text <-> a row of token numbers that begins with an end token; a whole document also ends with one."""

    prefix: ClassVar[tuple[int, ...]] = (END,)  # what every text begins after
    vocabulary: Vocabulary
    letters: int  # different characters of the training part
    ends: bool  # whether documents are whole, or parts of one long text
    longest: int  # tokens of the longest document, and half as many again
    words: tuple[str, ...]  # the commonest of the training part
    window: int = 256  # tokens that were learned at a time
    objective: str = "next"
    masked: float = 0.15
    notes: tuple[str, ...] = ()

    @classmethod
    def learn(cls, recipe: TokensRecipe, pairs: Sequence[Pair]) -> "TextCodec":
        """Level and vocabulary from the training part alone."""
        if recipe.lowercase:
            raise InputError(
                "tokens.lowercase: a model of plain text must be able to write what it reads.",
                found="tokens.lowercase=true",
                fix="leave tokens.lowercase out",
            )
        texts = [source for source, _ in pairs]
        level, reason = (recipe.source, "as asked") if recipe.source != "auto" else likely_level(texts)
        size, least = recipe.vocab_size, recipe.min_count
        if level == "word":  # every sign is kept
            return cls.over(LosslessWords.learn(texts, size=size, least_count=least), pairs, reason=reason)
        return cls.over(learn_vocabulary(level, texts, size=size, least_count=least), pairs, reason=reason)

    @classmethod
    def over(cls, vocabulary: Vocabulary, pairs: Sequence[Pair], *, reason: str) -> "TextCodec":
        """The codec with a given vocabulary."""
        texts = [source for source, _ in pairs]
        ends = len(texts) >= FEW
        longest = max(len(vocabulary.encode(text)) for text in texts) if ends else 0
        counts = Counter(word for text in texts for word in LosslessWords([]).tokenize(text) if is_word(word))
        kind = "documents, each begun anew" if ends else "running text"
        note = f"text: {len(vocabulary)} {LEVEL_WORDS[vocabulary.level]} ({reason}); {kind}"
        return cls(
            vocabulary,
            letters=len(set().union(*texts)),
            ends=ends,
            longest=longest + longest // 2 + 5 if ends else AT_ONCE,
            words=tuple(sorted(counts, key=lambda word: (-counts[word], word))[:COMMON_WORDS]),
            notes=(note,),
        )

    @classmethod
    def load(cls, saved: Saved) -> "TextCodec":
        """What `to_json` wrote; anything else is refused."""
        words = saved.get("words")
        match {key: value for key, value in saved.items() if key not in ("vocabulary", "words")}:
            case {
                "letters": int(letters),
                "ends": bool(ends),
                "longest": int(longest),
                "window": int(window),
                "objective": str(objective),
                "masked": float(masked),
                **others,
            } if not others:
                pass
            case plain:
                found = str(plain)[:80]
                raise InputError("the vocabulary file lacks what a text needs.", found=found, fix="train again")
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise InputError("the vocabulary file names no words.", found=str(words)[:80], fix="train again")
        vocabulary = load_vocabulary(saved.get("vocabulary"))
        return cls(vocabulary, letters, ends, longest, tuple(words), window, objective, masked)

    def answer_facts(self) -> dict[str, object]:
        """Texts that are continued."""
        return {"output": "completion"}

    def to_json(self) -> dict[str, object]:
        """All but the notes."""
        keys = ("letters", "ends", "longest", "window", "objective", "masked")
        plain = {key: getattr(self, key) for key in keys}
        return {"vocabulary": self.vocabulary.to_json(), "words": list(self.words), **plain}

    def suited(self, recipe: TrainRecipe) -> "TextCodec":
        """The codec with the window and the objective of the recipe."""
        return replace(self, window=recipe.sequence_length, objective=recipe.objective, masked=recipe.mask_probability)

    @property
    def level(self) -> str:
        """How text is cut."""
        return self.vocabulary.level

    @property
    def ngram_order(self) -> int:
        """How many tokens in a row are counted, where they are."""
        return CHARACTERS_COUNTED if self.level == "char" else TOKENS_COUNTED

    def row(self, text: str, *, whole: bool = True) -> Tensor:
        """An end token, the tokens, and another end token where the text is a whole document: (N,)."""
        tokens = self.vocabulary.encode(prepare_text(text))
        return torch.tensor([END, *tokens, *([END] if self.ends and whole else [])], dtype=torch.long)

    def spelling(self, text: str, row: Tensor) -> Tensor:
        """What the tokens of a row after the first still cost in nats: (N − 1,).

        To say that a word is unknown does not say which: its letters follow, each as likely as any, then a sign that
        ends them. A character never met is one and the same at every level.
        """
        costs = torch.zeros(len(row) - 1, dtype=torch.float64)
        if self.level == "char" or not (row == UNKNOWN).any():
            return costs
        letter = math.log(self.letters + 2)  # the known ones, any other, the end
        vocabulary = self.vocabulary
        cut = vocabulary.tokenize(prepare_text(text)) if isinstance(vocabulary, TokenList) else ["?"] * len(costs)
        for place in (row[1:] == UNKNOWN).nonzero().flatten().tolist():
            costs[place] = (len(cut[place]) + 1) * letter
        return costs


def likely_level(texts: Sequence[str]) -> tuple[str, str]:
    """Words where they are few and often used; characters unless there are very many."""
    total = sum(map(len, texts))
    if total > LONG_TEXT:
        return subword_level(f"{total:,} characters, too many to read one by one")
    words = Counter(word for text in texts for word in LosslessWords([]).tokenize(text))
    if len(words) <= CLOSED_VOCABULARY and sum(words.values()) >= USES_OF_A_WORD * len(words):
        return "word", f"only {len(words)} distinct words and signs"
    return "char", f"{len(words)} distinct words in {total:,} characters"


def prepare_text(text: str) -> str:
    """As training text was: composed characters."""
    return unicodedata.normalize("NFC", text)
