"""The cook, who makes one of three dishes a day: the smallest story in which a network must remember.

Three rules, each harder: the dish follows the weather; it rotates each day; it rotates only when it rains, and stays
the same when the sun shines. The set is of the third rule: a source tells the first dish and the weather of the days
after it, its target the dishes of those days.
"""

import random
from collections.abc import Sequence
from itertools import accumulate

from atento.data.builtin.parts import BuiltinParts, distinct, refuse_keys
from atento.spec import DataRecipe

DISHES = ("pie", "burger", "chicken")
WEATHERS = ("sunny", "rainy")

SIZES = (4000, 300, 500)
DAYS = ((1, 10), (11, 14), (15, 20))  # fewest and most days in training, validation and test weeks: ever longer


def by_weather(weathers: Sequence[str]) -> list[str]:
    """The first rule: pie in the sun, a burger in the rain."""
    return [DISHES[WEATHERS.index(weather)] for weather in weathers]


def by_day(first: str, days: int) -> list[str]:
    """The second rule: each day the dish after yesterday's."""
    return [DISHES[(DISHES.index(first) + day) % len(DISHES)] for day in range(1, days + 1)]


def by_rain(first: str, weathers: Sequence[str]) -> list[str]:
    """The third rule: the next dish when it rains, the same one when the sun shines."""
    moved = accumulate((weather == "rainy" for weather in weathers), initial=DISHES.index(first))
    return [DISHES[place % len(DISHES)] for place in moved][1:]


def week(generator: random.Random, days: tuple[int, int]) -> tuple[str, str]:
    """`pie sunny rainy rainy`, `pie burger chicken`."""
    first = generator.choice(DISHES)
    weathers = generator.choices(WEATHERS, k=generator.randint(*days))
    return " ".join([first, *weathers]), " ".join(by_rain(first, weathers))


def cook(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Weeks of the third rule; those of validation and test are longer than any that was trained on."""
    refuse_keys(recipe, "source", "target", "length")
    generator, known = random.Random(seed), set[str]()
    train, valid, test = (
        distinct(lambda days=days: week(generator, days), size, known)  # type: ignore[misc]
        for size, days in zip(SIZES, DAYS, strict=True)
    )
    note = (
        "the cook's next dish when it rains, the same when the sun shines: "
        f"{len(train)} weeks of 1 to {DAYS[0][1]} days to train, {len(valid)} of {DAYS[1][0]} to {DAYS[1][1]} to "
        f"validate, {len(test)} of {DAYS[2][0]} to {DAYS[2][1]} to test"
    )
    return BuiltinParts(train, valid, test, (note,))
