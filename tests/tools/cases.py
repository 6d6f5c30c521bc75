"""Which cases of a product a law is asked of, and which of them failed."""

import functools
import heapq
import inspect
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
import torch

Law = Callable[..., None]


def all_pairs(*factors: Iterable[Any], allowed: Callable[..., bool] = lambda *case: True) -> list[tuple[Any, ...]]:
    """All-pairs testing: cases, one value of each factor, that hold every pair of values which an allowed case holds.

    Greedy and without chance: the next case is the first of those that hold the most pairs not met so far.
    """
    values = [list(factor) for factor in factors]
    cases = [case for case in itertools.product(*values) if allowed(*case)]
    bits = pair_bits(values)
    held = [pairs_of(case, bits) for case in cases]
    missing, chosen = functools.reduce(operator.or_, held, 0), []
    heap = [(-pairs.bit_count(), at) for at, pairs in enumerate(held)]  # equal counts in order: a heap already
    while missing:
        earlier, at = heapq.heappop(heap)
        gain = (held[at] & missing).bit_count()  # never more than it was earlier
        if gain == -earlier:
            chosen.append(cases[at])
            missing &= ~held[at]
        else:
            heapq.heappush(heap, (-gain, at))
    return chosen


def pair_bits(factors: Sequence[Sequence[Any]]) -> dict[tuple[int, int], dict[tuple[Any, Any], int]]:
    """For every two factors a number with one bit, its own, for each pair of their values."""
    numbers = itertools.count()
    return {
        (one, two): {pair: 1 << next(numbers) for pair in itertools.product(factors[one], factors[two])}
        for one, two in itertools.combinations(range(len(factors)), 2)
    }


def pairs_of(case: tuple[Any, ...], bits: dict[tuple[int, int], dict[tuple[Any, Any], int]]) -> int:
    """The pairs that a case holds, as the bits of a number."""
    held = 0
    for (one, two), numbers in bits.items():
        held |= numbers[case[one], case[two]]
    return held


def asked_of(groups: Mapping[Any, Sequence[Any]]) -> Callable[[Law], Law]:
    """A law `law(case)` becomes a test for each named group of cases; its other arguments are fixtures.

    Every case starts from the same random state.
    """

    def as_test(law: Law) -> Law:
        _, *fixtures = inspect.signature(law).parameters.values()

        @pytest.mark.parametrize("group", groups)
        def test(group: Any, **given: Any) -> None:
            for case in groups[group]:
                torch.manual_seed(0)
                with in_case(case):
                    law(case, **given)

        return as_named(law, test, "group", fixtures)

    return as_test


def law_over(*, allowed: Callable[..., bool] = lambda *case: True, **factors: Iterable[Any]) -> Callable[[Law], Law]:
    """A law `law(**factors)` becomes a test for each value of the first, over cases in which every two values meet."""
    groups = by_first(all_pairs(*factors.values(), allowed=allowed))

    def as_test(law: Law) -> Law:
        def of_case(case: tuple[Any, ...], **given: Any) -> None:
            law(**dict(zip(factors, case, strict=True)), **given)

        fixtures = [one for name, one in inspect.signature(law).parameters.items() if name not in factors]
        return asked_of(groups)(as_named(law, of_case, "case", fixtures))

    return as_test


def by_first(cases: Iterable[tuple[Any, ...]]) -> dict[Any, list[tuple[Any, ...]]]:
    groups: dict[Any, list[tuple[Any, ...]]] = {}
    for case in cases:
        groups.setdefault(case[0], []).append(case)
    return groups


def as_named(law: Law, test: Law, argument: str, fixtures: list[inspect.Parameter]) -> Law:
    """The test under the law's name; pytest reads from its signature which arguments it takes."""
    test.__name__, test.__doc__ = law.__name__, law.__doc__
    first = inspect.Parameter(argument, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    test.__signature__ = inspect.Signature([first, *fixtures])
    return test


@contextmanager
def in_case(*values: object) -> Iterator[None]:
    """A law that goes through several cases in one test says in which it failed."""
    try:
        yield
    except Exception as error:
        error.add_note(f"in the case {', '.join(map(str, values))}")
        raise
