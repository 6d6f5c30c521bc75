"""A vocabulary of texts and how often each of its words was seen."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from atento.data.text.levels import learn_vocabulary, load_vocabulary, prepare
from atento.data.text.vocabulary import SPECIAL_TOKENS, Vocabulary
from atento.errors import InputError
from atento.spec import TokensRecipe
from atento.tasks.inputs.text import LEVEL_WORDS
from atento.tasks.task import Pair, Saved


@dataclass(frozen=True)
class WordCodec:
    """Texts -> token numbers, with the count of each token in the training part."""

    vocabulary: Vocabulary
    counts: tuple[int, ...]  # one for each token, 0 for special tokens
    lower: bool
    notes: tuple[str, ...] = ()

    @classmethod
    def learn(cls, recipe: TokensRecipe, pairs: Sequence[Pair]) -> "WordCodec":
        """Whole words unless another level is asked for."""
        level = "word" if recipe.source == "auto" else recipe.source
        texts = [prepare(source, lower=recipe.lowercase) for source, _ in pairs]
        source = learn_vocabulary(level, texts, size=recipe.vocab_size, least_count=recipe.min_count)
        seen = Counter(number for text in texts for number in source.encode(text))
        counts = tuple(seen[number] if number >= len(SPECIAL_TOKENS) else 0 for number in range(len(source)))
        distinct = sum(count > 0 for count in counts)
        if distinct < 2:
            raise InputError(
                "there are no words to learn.",
                found=f"{len(texts)} texts, {distinct} distinct words",
                fix="give a text of several words, or a smaller tokens.min_count",
            )
        note = f"text: {len(source)} {LEVEL_WORDS[level]}, {sum(counts):,} in the training part"
        return cls(source, counts, recipe.lowercase, (note,))

    @classmethod
    def load(cls, saved: Saved) -> "WordCodec":
        """What `to_json` wrote; anything else is refused."""
        source, counts, lower = load_vocabulary(saved.get("vocabulary")), saved.get("counts"), saved.get("lower")
        whole = isinstance(counts, list) and all(type(count) is int and count >= 0 for count in counts)
        if not isinstance(counts, list) or not whole or len(counts) != len(source) or not isinstance(lower, bool):
            raise InputError("this file does not count its words.", found=str(counts)[:80], fix="train again")
        return cls(source, tuple(counts), lower)

    def answer_facts(self) -> dict[str, object]:
        """The nearest words of a word."""
        return {"output": "neighbours"}

    def to_json(self) -> dict[str, object]:
        """The vocabulary and the counts."""
        return {"vocabulary": self.vocabulary.to_json(), "counts": list(self.counts), "lower": self.lower}

    def read(self, text: str) -> list[int]:
        """Token numbers."""
        return self.vocabulary.encode(prepare(text, lower=self.lower))
