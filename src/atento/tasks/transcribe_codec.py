"""Scales of the channels that are read, and a vocabulary of what is written."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from torch import Tensor

from atento.data.levels import learn_target, load_vocabulary
from atento.data.records import counted
from atento.data.vocabulary import END, START, Vocabulary
from atento.errors import InputError
from atento.spec import TokensRecipe
from atento.tasks.channels import Channels
from atento.tasks.pair_codec import LEVEL_WORDS, MOST_TOKENS


class EncodedFrames(NamedTuple):
    """Scaled numbers and token numbers."""

    values: Tensor  # (T, C)
    previous: list[int]  # start mark, then the target
    target: list[int]  # the target, then the end mark


class FramesCodec:
    """Texts of numbers and texts <-> tensors and token lists."""

    def __init__(self, channels: Channels, target: Vocabulary, *, longest: int, notes: tuple[str, ...] = ()) -> None:
        self.channels, self.target, self.longest, self.notes = channels, target, longest, notes

    @classmethod
    def learn(cls, recipe: TokensRecipe, pairs: Sequence[tuple[str, str]]) -> "FramesCodec":
        """Scales, level and vocabulary from the training part alone; an output may be half as long again as any."""
        texts = [target for _, target in pairs]
        target, level, reason = learn_target(recipe.target, texts, size=recipe.size, least_count=recipe.least_count)
        channels, steps = Channels.learn([source for source, _ in pairs])
        longest = max(len(target.encode(text)) for text in texts)
        notes = (
            f"source: {counted(len(channels), 'channel')}, {steps / len(pairs):.0f} steps a sequence",
            f"target: {len(target)} {LEVEL_WORDS[level]} ({reason})",
        )
        return cls(channels, target, longest=longest + longest // 2 + 5, notes=notes)

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> "FramesCodec":
        """What `to_json` wrote."""
        longest = saved.get("longest")
        if not isinstance(longest, int) or not 1 <= longest <= MOST_TOKENS:
            raise InputError("the vocabulary file names no longest output.", found=repr(longest), fix="train again")
        return cls(Channels.load(saved.get("channels")), load_vocabulary(saved.get("target")), longest=longest)

    def to_json(self) -> dict[str, Any]:
        """The scale of every channel, the vocabulary, and how long an output may become."""
        return {"channels": self.channels.to_json(), "target": self.target.to_json(), "longest": self.longest}

    def read(self, source: str) -> Tensor:
        """The scaled numbers (T, C) of a text."""
        return self.channels.read(source)

    def encode(self, pair: tuple[str, str]) -> EncodedFrames:
        """A training pair."""
        target = self.target.encode(pair[1])
        return EncodedFrames(self.read(pair[0]), [START, *target], [*target, END])
