"""A sealed test part: examples that a model is tested on, which nothing may see before its final examination.

Reading makes three parts, removes what they share and fingerprints them; then `seal` closes the test part. How many
examples it holds is known; they themselves can be taken out once, by `final_examination`.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn, TypeVar

from atento.tasks.task import Dataset, EvaluationExample

T = TypeVar("T")


class SealBroken(Exception):
    """A function asked for test examples that it must not see: a mistake in the code, never of the user."""


class SealedTest(Sequence[T]):
    """Test examples that can be opened once; its length and the fingerprint of its data set are known before."""

    def __init__(self, examples: Sequence[T], *, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self._examples: Sequence[T] = examples
        self._size = len(examples)
        self._opened_by = ""

    def __len__(self) -> int:
        return self._size

    def open(self) -> Sequence[T]:
        """The examples, once."""
        asking = calling_function()
        if self._opened_by:
            raise SealBroken(f"{asking} opens the test part, which {self._opened_by} opened before: it is opened once.")
        self._opened_by = asking
        examples, self._examples = self._examples, ()
        return examples

    def __getitem__(self, place: Any) -> NoReturn:
        self._refuse()

    def __iter__(self) -> Iterator[T]:
        self._refuse()

    def __reduce__(self) -> NoReturn:  # a copy could be opened once more
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise SealBroken(f"{calling_function()} reads the test part, which only the final examination may open.")

    def __repr__(self) -> str:
        return f"SealedTest({self._size:,} examples, {'opened by ' + self._opened_by if self._opened_by else 'closed'})"


def seal(reading: Dataset) -> Dataset:
    """The same data set with its test part sealed."""
    return reading._replace(test=SealedTest(reading.test, fingerprint=reading.fingerprint))


def final_examination(reading: Dataset) -> Sequence[EvaluationExample]:
    """Open the test part, when nothing is left to be learned or chosen."""
    if not isinstance(reading.test, SealedTest):
        raise SealBroken(f"the test part that {calling_function()} opens was never sealed: it comes from `seal`.")
    return reading.test.open()


def calling_function() -> str:
    """The function that asks, by its module and name; this file and the standard library ask for others."""
    frame = sys._getframe(1)
    while frame.f_back is not None and is_passed_through(frame.f_globals["__name__"]):
        frame = frame.f_back
    return f"{frame.f_globals['__name__']}.{frame.f_code.co_qualname}"


def is_passed_through(module: str) -> bool:
    """Whether a module only carries out what its caller asks for."""
    return module == __name__ or module.partition(".")[0] in sys.stdlib_module_names
