"""At what level to cut a text: characters, words or subwords, judged from the training part."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from atento.data.features import Featured, count_features, divide, have_features
from atento.data.running_words import RunningWords
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


class Learned(NamedTuple):
    """A vocabulary, its level and why it is cut so."""

    vocabulary: Vocabulary
    level: str
    reason: str


def learn_target(asked: str, texts: Sequence[str], *, size: int, least_count: int) -> Learned:
    """The vocabulary of texts to be written, at the level that is asked or found."""
    level, reason = (asked, "as asked") if asked != "auto" else choose_level(texts)
    return Learned(learn_vocabulary(level, texts, size=size, least_count=least_count), level, reason)


def learn_source(asked: str, texts: Sequence[str], *, size: int, least_count: int) -> Learned:
    """The vocabulary of texts to be read; features after a tab stay whole."""
    if not have_features(texts):
        return learn_target(asked, texts, size=size, least_count=least_count)
    plain = learn_target(asked, [divide(text)[0] for text in texts], size=size, least_count=least_count)
    features = count_features(texts, least_count=least_count)
    reason = f"{plain.reason}; {len(features)} of them are features after a tab"
    return Learned(Featured(plain.vocabulary, features), plain.level, reason)


def load_vocabulary(saved: Any) -> Vocabulary:
    """What `Vocabulary.to_json` wrote; anything else is refused."""
    level = saved.get("level") if isinstance(saved, dict) else None
    features = saved.get("features") if level == "featured" else None
    if isinstance(features, list) and all(isinstance(feature, str) for feature in features):
        return Featured(load_plain(saved.get("text")), features)
    return load_plain(saved)


def load_plain(saved: Any) -> Vocabulary:
    """A vocabulary of text alone."""
    level = saved.get("level") if isinstance(saved, dict) else None
    if level == "subword" and isinstance(saved.get("tokenizer"), str):
        return Subwords.from_text(saved["tokenizer"])
    tokens = saved.get("tokens") if isinstance(saved, dict) else None
    known: dict[str, type[TokenList]] = {"char": Characters, "word": Words, "running": RunningWords}
    if level in known and isinstance(tokens, list) and all(isinstance(token, str) for token in tokens):
        return known[level](tokens)
    raise InputError("this is not a vocabulary.", found=str(saved)[:80], fix="train the model again")
