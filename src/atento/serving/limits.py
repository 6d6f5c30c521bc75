"""How much a server takes: of one row, of one request, and of all requests that wait."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from atento.errors import InputError, unknown_name

MEGABYTE = 2**20
IMAGES = ("image", "image and question")


@dataclass(frozen=True)
class Limits:
    """All of them can be changed: --limit KEY=VALUE."""

    rows: int = 256  # of one request, and of one batch
    characters: int = 50_000  # of each text
    items: int = 10_000  # words or steps of one row
    body: int = 0  # bytes of a request; 0: a megabyte, of images 16
    queue: int = 1024  # rows that may wait; what comes then is answered 503
    seconds: int = 30  # for one request, from its first byte to its answer
    drain: int = 10  # seconds that open requests have when the server ends

    def for_input(self, kind: str) -> "Limits":
        """With the size of bodies that such rows need."""
        return self if self.body else replace(self, body=16 * MEGABYTE if kind in IMAGES else MEGABYTE)


def parse_limits(given: Sequence[str]) -> Limits:
    """`queue=4096` and the like."""
    known, found = [field.name for field in fields(Limits)], {}
    for one in given:
        key, _, value = one.partition("=")
        if key not in known:
            raise unknown_name("limit", key, known, where="--limit")
        if not value.isascii() or not value.isdigit() or not 1 <= int(value) <= 2**31:
            raise InputError(f"--limit {key} takes a whole number above 0.", found=one, fix=f"--limit {key}=1000")
        found[key] = int(value)
    return Limits(**found)
