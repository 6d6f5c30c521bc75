"""Pictures and a vocabulary of what is written of them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from atento.data.levels import learn_target, load_vocabulary
from atento.data.vocabulary import END, START, Vocabulary
from atento.errors import InputError
from atento.spec import Recipe, TokensRecipe
from atento.tasks.pair_codec import LEVEL_WORDS, MOST_TOKENS, SAMPLE, Limits
from atento.tasks.picture_codec import PictureReader


class EncodedCaption(NamedTuple):
    """A picture by its name, with its reader, and the token numbers of a caption."""

    reader: PictureReader
    source: str
    previous: list[int]  # start mark, then the caption
    target: list[int]  # the caption, then the end mark


class CaptionCodec:
    """Sources, paths or drawn scenes, and captions <-> pixels and token lists."""

    def __init__(
        self, pictures: PictureReader, target: Vocabulary, *, limits: Limits, notes: tuple[str, ...] = ()
    ) -> None:
        self.pictures, self.target, self.limits, self.notes = pictures, target, limits, notes

    @classmethod
    def learn(cls, recipe: TokensRecipe, pairs: Sequence[tuple[str, str]]) -> "CaptionCodec":
        """The vocabulary from the captions of the training part alone; pictures as they are until `suited`."""
        captions = [caption for _, caption in pairs]
        vocabulary, level, reason = learn_target(
            recipe.target, captions, size=recipe.size, least_count=recipe.least_count
        )
        sample = [vocabulary.encode(caption) for caption in captions[:: 1 + len(captions) // SAMPLE]]
        limits = Limits.of([[START]] * len(sample), sample)  # a picture is one source
        note = f"captions: {len(vocabulary)} {LEVEL_WORDS[level]} ({reason})"
        return cls(PictureReader.of([source for source, _ in pairs]), vocabulary, limits=limits, notes=(note,))

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> "CaptionCodec":
        """What `to_json` wrote."""
        longest, growth = saved.get("longest"), saved.get("growth")
        if not isinstance(longest, int) or not 1 <= longest <= MOST_TOKENS or not isinstance(growth, float):
            raise InputError("the vocabulary file names no longest caption.", found=repr(longest), fix="train again")
        target = load_vocabulary(saved.get("target"))
        return cls(PictureReader.load(saved.get("pictures")), target, limits=Limits(longest, growth))

    def to_json(self) -> dict[str, Any]:
        """How pictures are read, the vocabulary, and how long a caption may become."""
        return {"pictures": self.pictures.to_json(), "target": self.target.to_json(), **self.limits._asdict()}

    def suited(self, recipe: Recipe) -> "CaptionCodec":
        """The same captions of pictures that are read as the recipe says."""
        pictures = self.pictures.suited(recipe.data)
        notes = (*([pictures.note] if pictures.note else []), *self.notes)
        return CaptionCodec(pictures, self.target, limits=self.limits, notes=notes)

    def encode(self, pair: tuple[str, str]) -> EncodedCaption:
        """A training example."""
        target = self.target.encode(pair[1])
        return EncodedCaption(self.pictures, pair[0], [START, *target], [*target, END])

    @property
    def longest(self) -> int:
        """The most tokens a caption may have."""
        return self.limits.tokens(1)
