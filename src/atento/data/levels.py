"""At what level to cut a text: characters, words or subwords, judged from the training part."""

from collections.abc import Sequence
from typing import Any, Literal

from atento.data.subwords import Subwords
from atento.data.vocabulary import Characters, TokenList, Vocabulary, Words
from atento.errors import InputError

LEVELS: dict[str, type[TokenList] | type[Subwords]] = {"char": Characters, "word": Words, "subword": Subwords}

CLOSED_VOCABULARY = 1000  # so few distinct words are all seen in training, and whole words are best
SAMPLE = 20_000
USES_OF_A_WORD = 20  # ... if each is used so often


def choose_level(texts: Sequence[str]) -> tuple[Literal["char", "word", "subword"], str]:
    """The level and the reason, in words."""
    cutter = Words([])
    sample = texts[:: 1 + len(texts) // SAMPLE]  # spread: files are often sorted by length
    counts = [len(text.split()) for text in sample]
    mean = sum(counts) / max(1, len(counts))
    distinct = {token for text in sample for token in cutter.cut(text)}
    if mean < 1.5:
        return "char", f"mostly single words ({mean:.1f} a text)"
    if len(distinct) <= CLOSED_VOCABULARY and sum(counts) >= USES_OF_A_WORD * len(distinct):
        return "word", f"only {len(distinct)} distinct words"
    return "subword", f"{len(distinct)} distinct words, {mean:.1f} a text"


def learn_vocabulary(level: str, texts: Sequence[str], *, size: int, least_count: int) -> Vocabulary:
    """A vocabulary of that level, from training text alone."""
    vocabulary = LEVELS[level].learn(texts, most=size, least_count=least_count)
    return vocabulary


def load_vocabulary(saved: Any) -> Vocabulary:
    """What `Vocabulary.to_json` wrote; anything else is refused."""
    level = saved.get("level") if isinstance(saved, dict) else None
    if level == "subword" and isinstance(saved.get("tokenizer"), str):
        return Subwords.from_text(saved["tokenizer"])
    tokens = saved.get("tokens") if isinstance(saved, dict) else None
    known = {"char": Characters, "word": Words}
    if level in known and isinstance(tokens, list) and all(isinstance(token, str) for token in tokens):
        return known[level](tokens)
    raise InputError("this is not a vocabulary.", found=str(saved)[:80], fix="train the model again")
