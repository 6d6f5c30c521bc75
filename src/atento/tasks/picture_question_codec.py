"""Pictures, a vocabulary of what is asked about them, and the list of the answers."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from atento.data.levels import learn_vocabulary, load_vocabulary
from atento.data.vocabulary import UNKNOWN, Vocabulary
from atento.spec import Recipe, TokensRecipe
from atento.tasks.label_codec import LEVEL_WORDS, choose_level, load_lower, prepare
from atento.tasks.labelling import KnownLabels, labels_of, load_labels
from atento.tasks.match_codec import two_texts
from atento.tasks.picture_codec import PictureReader


class EncodedQuestion(NamedTuple):
    """A picture by its name, with its reader, the token numbers of a question, and the answer's number."""

    reader: PictureReader
    source: str
    question: list[int]
    label: int


class PictureQuestionCodec(KnownLabels):
    """`PATH<tab>question` and answers <-> pixels, token numbers and label numbers."""

    def __init__(
        self,
        pictures: PictureReader,
        vocabulary: Vocabulary,
        labels: Sequence[str],
        counts: Sequence[int],
        *,
        lower: bool,
        notes: tuple[str, ...] = (),
    ) -> None:
        super().__init__(labels, counts, notes=notes)
        self.pictures, self.vocabulary, self.lower = pictures, vocabulary, lower

    @classmethod
    def learn(cls, recipe: TokensRecipe, pairs: Sequence[tuple[str, str]]) -> "PictureQuestionCodec":
        """Level, vocabulary and answers from the training part alone, and how large its pictures are."""
        asked = [two_texts(source) for source, _ in pairs]
        questions = [question for _, question in asked]
        level, reason = (recipe.source, "as asked") if recipe.source != "auto" else choose_level(questions)
        cut = [prepare(question, lower=recipe.lower) for question in questions]
        vocabulary = learn_vocabulary(level, cut, size=recipe.size, least_count=recipe.least_count)
        labels, counts, said = labels_of([target for _, target in pairs])
        pictures = PictureReader.of([picture for picture, _ in asked])
        notes = (f"questions: {len(vocabulary)} {LEVEL_WORDS[level]} ({reason})", said, pictures.note)
        return cls(pictures, vocabulary, labels, counts, lower=recipe.lower, notes=notes)

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> "PictureQuestionCodec":
        """What `to_json` wrote."""
        lower, vocabulary = load_lower(saved), load_vocabulary(saved.get("vocabulary"))
        return cls(PictureReader.load(saved.get("pictures")), vocabulary, *load_labels(saved), lower=lower)

    def to_json(self) -> dict[str, Any]:
        """How pictures are read, the vocabulary, and every answer with how often it was true."""
        return {
            "pictures": self.pictures.to_json(),
            "vocabulary": self.vocabulary.to_json(),
            "labels": list(self.labels),
            "counts": list(self.counts),
            "lower": self.lower,
        }

    def suited(self, recipe: Recipe) -> "PictureQuestionCodec":
        """The same questions about pictures that are read as the recipe says."""
        pictures = self.pictures.suited(recipe.data)
        notes = (*self.notes[:-1], pictures.note)
        return PictureQuestionCodec(pictures, self.vocabulary, self.labels, self.counts, lower=self.lower, notes=notes)

    def encode(self, pair: tuple[str, str]) -> EncodedQuestion:
        """A training example; an answer that training never met counts as the first."""
        return self.read(pair[0])._replace(label=self.numbers.get(pair[1], 0))

    def read(self, source: str) -> EncodedQuestion:
        """A picture and the tokens of its question, never none at all."""
        picture, question = two_texts(source)
        tokens = self.vocabulary.encode(prepare(question, lower=self.lower)) or [UNKNOWN]
        return EncodedQuestion(self.pictures, picture, tokens, 0)

    def pieces(self, source: str) -> list[str]:
        """The tokens of the question as a person reads them."""
        question = prepare(two_texts(source)[1], lower=False)
        return [question[start:end] for start, end in self.vocabulary.offsets(question)] or ["<unknown>"]
