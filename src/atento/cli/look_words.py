"""What `atento look` shows of words: their neighbours, what context does to them, and how a text is cut."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atento.cli.say import emit, say
from atento.cli.use import terminal_width

if TYPE_CHECKING:
    from atento.api.run import Run


def show_embeddings(trained: "Run", asked: str, *, out: Path | None, json: bool) -> None:
    """The words nearest to one, or to a sum of some; of the commonest words when none is asked for."""
    from atento.api.words import look_at_embeddings, save_embeddings
    from atento.looking.embeddings import embeddings_text

    view = look_at_embeddings(trained, asked)
    if out is not None:
        save_embeddings(trained, asked, out)
    tell(trained, view, embeddings_text, out=out, json=json)


def show_context(trained: "Run", asked: str, *, out: Path | None, json: bool) -> None:
    """A word in two sentences, before and after each layer."""
    from atento.api.words import look_at_context
    from atento.bundle import write_json
    from atento.looking.context import context_text

    found = look_at_context(trained, asked)
    if out is not None:
        write_json(out, found)
    tell(trained, found, lambda shown, width: context_text(shown["words"]), out=out, json=json)


def show_tokens(trained: "Run", text: str, *, out: Path | None, json: bool) -> None:
    """The pieces of a text at every level, with their places."""
    from atento.api.words import look_at_pieces
    from atento.bundle import write_json
    from atento.looking.tokens import tokens_text

    found = look_at_pieces(trained, text)
    if out is not None:
        write_json(out, found)
    tell(trained, found, tokens_text, out=out, json=json)


def tell(trained: "Run", found: dict[str, Any], in_words: Callable[..., str], *, out: Path | None, json: bool) -> None:
    """One JSON document, or words for a terminal."""
    if json:
        emit({"run": str(trained.folder), **found})
        return
    say(in_words(found, width=terminal_width()))
    if out is not None:
        say(f"written to {out}")
