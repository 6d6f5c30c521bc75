"""Whole numbers of a recipe with the most that they can be: one that no machine could serve is refused by its key."""

from typing import Annotated

from pydantic import Field

Size = Annotated[int, Field(le=1_000_000)]  # of a layer or a vocabulary; memory ends before
Length = Annotated[int, Field(le=10_000_000)]  # of a sequence
Count = Annotated[int, Field(le=10**12)]  # of steps, tokens or rows
Seed = Annotated[int, Field(le=2**63 - 1)]  # what every random generator takes
Threads = Annotated[int, Field(le=256)]
Beam = Annotated[int, Field(le=1000)]
