"""Plain words: phrases that users did not understand stay away, and the words that they search for are found."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
MODULES = sorted((ROOT / "src" / "atento").rglob("*.py"))
TEXTS = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in [*PAGES, *MODULES]}
SAID = "|".join(
    [
        "right after the true ones", "within its reach", "where they began", "its limit was reached", "straddle",
        "but for case", "what is said first", "in spreads", "dreamed", "pressed to", "keep lengths", "lets it move",
        "prove what a", "gone on with", "known beforehand",
    ]
)  # fmt: skip
COUNTED = (
    "row source model label line step channel text file sentence sequence origin column head region character set query"
    " word token class series image example pair second"
).replace(" ", "|")
THINGS = rf"(?:{COUNTED}|cell|name|batch|network|value|panel|process|script|state)s?"
PER = rf"(?:(?:[Oo]ne|[Tt]wo|[Aa]n?) {THINGS}|[Nn]ats|[Cc]ost) an? (?:{COUNTED})"  # one label a text
HARD = re.compile(rf"\b(?:(?i:{SAID})|{PER})\b")
SEARCHED = (
    "calibration", "confusion matrix", "early stopping", "embedding", "exogenous", "FAQ", "fine-tuning", "GPU",
    "glossary", "hyperparameter", "learning rate", "notebook", "overfitting", "teacher forcing", "tutorial",
)  # fmt: skip


def hard_to_read(text: str) -> list[str]:
    """Phrases that no reader should have to puzzle out, wherever their lines are broken."""
    return HARD.findall(re.sub(r"\s+", " ", text))


def messages(text: str) -> list[str]:
    """The texts of a module that a user may see: its strings but for docstrings."""
    tree = ast.parse(text)
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    notes = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, owners) and ast.get_docstring(node)}
    strings = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return [node.value for node in strings if id(node) not in notes]


def test_no_phrase_is_hard_to_read():
    assert not {name: found for name, text in TEXTS.items() if (found := hard_to_read(text))}
    told = {
        str(path): [one for one in messages(TEXTS[str(path.relative_to(ROOT))]) if "so many" in one] for path in MODULES
    }
    assert not {name: found for name, found in told.items() if found}


@pytest.mark.parametrize(
    "text", ["there is one text a row", "nats a character", "a state a\n    region", "Prove what a model keeps"]
)
def test_such_a_phrase_is_seen(text):
    assert hard_to_read(text)
    assert not hard_to_read("how well a key answers a query; a model reads a text; which task a file fits")


def test_a_message_is_told_from_a_docstring():
    assert messages('"""a"""\ndef f():\n    """b"""\n    return f"c {d}"\n') == ["c "]


@pytest.mark.parametrize("word", SEARCHED)
def test_a_word_that_people_search_for_is_found(word):
    pages = [name for name in TEXTS if name.endswith(".md") and "decisions" not in name and "defaults" not in name]
    assert any(re.search(rf"\b{word}", TEXTS[name], flags=re.IGNORECASE) for name in pages)
