"""Rows of a request answered together, one by one or piece by piece: what a trained and an exported model share.

It needs no torch.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from atento.data.images.loading import UnusableImage
from atento.errors import InputError, is_out_of_memory
from atento.serving.answers import ANSWERS
from atento.serving.served import Emit, ModelCard, Row, RowAnswer, RowFailure
from atento.serving.sources import SOURCES

UNANSWERED = (ValueError, RuntimeError, LookupError, TypeError, ArithmeticError, MemoryError, OSError)  # of one row
UNFINISHED = "\ufffd"  # how a character is decoded of which some bytes are still to be written

Decode = Callable[[list[int]], str]  # tokens that are written so far -> how they read
Follow = Callable[[list[int]], None]  # receives the tokens that are written so far


class RowAnswerer(ABC):
    """A model that answers rows; a leaf says how it answers sources of its task."""

    def __init__(self, card: ModelCard) -> None:
        self.card = card

    @abstractmethod
    def answer_all(self, sources: Sequence[Any], follow: Follow | None) -> Sequence[Any]:
        """The answers of the task. `follow` is told the tokens of one source as they are decided."""

    @abstractmethod
    def decode_written(self, source: str) -> Decode:
        """How the tokens written so far read."""

    @abstractmethod
    def attention_of(self, source: Any) -> dict[str, Any]:
        """The weights that the model attended with; `explanation` says why there are none."""

    def answer(self, rows: Sequence[Row], *, attention: Sequence[bool]) -> list[RowAnswer | RowFailure]:
        """All rows together; where one of them cannot be answered, each by itself."""
        with ExitStack() as held:
            sources = [self.source_or_failure(row, held) for row in rows]
            good = [at for at, source in enumerate(sources) if not isinstance(source, RowFailure)]
            found: list[RowAnswer | RowFailure] = list(sources)
            for at, answered in zip(good, self.answer_sources([sources[at] for at in good]), strict=True):
                found[at] = answered
                if attention[at] and isinstance(answered, RowAnswer):
                    found[at] = answered._replace(attention=self.attention_of(sources[at]))
            return found

    def stream(self, row: Row, emit: Emit) -> RowAnswer | RowFailure:
        """The answer to one row; each piece of its text is told as soon as it is decided."""
        with ExitStack() as held:
            source = self.source_or_failure(row, held)
            if isinstance(source, RowFailure):
                return source
            follower = TextFollower(self.decode_written(source), emit)
            (answered,) = self.answer_sources([source], follower.take)
            if isinstance(answered, RowAnswer):
                follower.finish(str(answered.answer["added" if self.card.output == "completion" else "text"]))
            return answered

    def source_or_failure(self, row: Row, held: ExitStack) -> Any:
        """What the task takes for a row, or why it is none."""
        try:
            return SOURCES[self.card.input](self.card, row, held)
        except (UnusableImage, InputError) as error:
            return RowFailure(error.problem, error.found, error.fix)

    def answer_sources(self, sources: Sequence[Any], follow: Follow | None = None) -> list[RowAnswer | RowFailure]:
        """Equal sources are answered once: the draws of a sampled text must not depend on who else asks."""
        unique = list(dict.fromkeys(sources))
        try:
            answers = self.answer_all(unique, follow) if unique else []
            written = [RowAnswer(ANSWERS[self.card.output](self.card, answer)) for answer in answers]
            found: dict[Any, RowAnswer | RowFailure] = dict(zip(unique, written, strict=True))
        except UNANSWERED as error:
            if len(unique) > 1:
                found = {source: self.answer_sources([source])[0] for source in unique}
            else:
                found = {unique[0]: failure_of_row(error, str(unique[0]))}
        return [found[source] for source in sources]


class TextFollower:
    """Tokens as they are decided -> pieces of the text, none of which is ever taken back."""

    def __init__(self, decode: Decode, emit: Emit) -> None:
        self.decode, self.emit = decode, emit
        self.told = ""

    def take(self, tokens: list[int]) -> None:
        """All tokens so far, one more than before."""
        self.tell(self.decode(tokens).rstrip(UNFINISHED))

    def finish(self, text: str) -> None:
        """The end of the whole text, which beam search tells only now."""
        self.tell(text)

    def tell(self, text: str) -> None:
        """What is new; a text that begins otherwise waits for the end, where the answer holds all of it."""
        if text.startswith(self.told) and len(text) > len(self.told):
            self.emit(text[len(self.told) :])
            self.told = text


def failure_of_row(error: Exception, source: str) -> RowFailure:
    """What a caller is told of a row that the model could not answer: no path, no text of a library."""
    if isinstance(error, InputError):
        hidden = [text.replace(source, "this row") for text in (error.problem, error.found, error.fix)]
        return RowFailure(*hidden)
    if is_out_of_memory(error):
        return RowFailure("there is not enough memory to answer this row.", fix="send a shorter one")
    return RowFailure("the model could not answer this row.", type(error).__name__, "send a shorter or simpler one")
