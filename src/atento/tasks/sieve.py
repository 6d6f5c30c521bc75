"""Which training rows are left out: those that say what a held-out row asks, and those that contradict another."""

from collections.abc import Iterable

from atento.data.near import near_key, near_keys
from atento.errors import InputError
from atento.spec import DataRecipe

Pair = tuple[str, str]  # (source, target)


class Sieve:
    """Row by row, so that a file need not fit into memory; what was left out, or could be, is counted and said."""

    def __init__(self, recipe: DataRecipe, held_out: Iterable[str]) -> None:
        self.recipe = recipe
        self.held_out = frozenset(held_out)
        self.near = near_keys(self.held_out)
        self.said: dict[int, int] = {}  # a source -> its first target, as hashes
        self.copies = self.nearly = self.contradictions = 0

    def keeps(self, pair: Pair) -> bool:
        """Whether a training row stays."""
        source, target = pair
        if source in self.held_out:
            self.copies += 1
            return False
        if self.near and near_key(source) in self.near:
            self.nearly += 1
            if self.recipe.near == "drop":
                return False
        if self.recipe.conflicts == "first" and self.said.setdefault(hash(source), hash(target)) != hash(target):
            self.contradictions += 1
            return False
        return True

    def notes(self) -> list[str]:
        """What happened, in words."""
        notes = []
        if self.copies:
            notes.append(f"{self.copies} training rows left out: their source is also in validation or test")
        if self.nearly and self.recipe.near == "drop":
            notes.append(
                f"{self.nearly} training rows left out: their source is in validation or test but for case, "
                "spaces and punctuation"
            )
        elif self.nearly:
            notes.append(
                f"{self.nearly} training rows say what a row of validation or test says but for case, spaces "
                "and punctuation; --set data.near=drop leaves them out"
            )
        if self.contradictions:
            notes.append(f"{self.contradictions} training rows left out: an earlier row says otherwise")
        return notes


def refuse_of_large(recipe: DataRecipe) -> None:
    """A file that is read once, row by row, cannot be sifted by rows that come later."""
    for key, usual in (("near", "keep"), ("conflicts", "keep")):
        if getattr(recipe, key) != usual:
            raise InputError(
                f"data.{key}={getattr(recipe, key)}: {recipe.train} is too large for it.",
                found="a file that is read row by row and not kept in memory",
                fix=f"leave data.{key} out, or give a smaller file",
            )
