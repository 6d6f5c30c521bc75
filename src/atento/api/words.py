"""What a run makes of words: their vectors, what context does to them, and how a text is cut."""

from pathlib import Path
from typing import Any

from atento.api.run import Run
from atento.looking.context import look_in_context
from atento.looking.embeddings import view_of
from atento.looking.tokens import look_at_tokens


def look_at_embeddings(run: Run, asked: str = "") -> dict[str, Any]:
    """The neighbours of a word or a sum of words, and a map, as plain data."""
    return view_of(run.embeddings(), spelled_for(run, asked), model=run.recipe.model.name)


def save_embeddings(run: Run, asked: str, out: Path) -> None:
    """A page, a picture, JSON or a file of vectors, by the name given."""
    run.embeddings().save(out, asked=spelled_for(run, asked), model=run.recipe.model.name)


def spelled_for(run: Run, asked: str) -> str:
    """In small letters where the model reads them so."""
    return asked.lower() if getattr(run.predictor.bundle.codec, "lower", False) else asked


def look_at_context(run: Run, asked: str) -> dict[str, Any]:
    """The same word in two sentences, stage by stage."""
    return {"model": run.recipe.model.name, "words": look_in_context(run.module, run.predictor.bundle.codec, asked)}


def look_at_pieces(run: Run, text: str) -> dict[str, Any]:
    """One text at every level, with offsets."""
    return {"model": run.recipe.model.name, **look_at_tokens(run.predictor.bundle.codec, text)}
