"""The words of the studio's page: the same keys in every language, and each of them used."""

import re
from pathlib import Path

import pytest

import atento.studio

WEB = Path(atento.studio.__file__).with_name("web")
ENTRY = re.compile(r'^ +"([\w.-]+)":\s*"((?:[^"\\]|\\.)*)"', flags=re.MULTILINE)
ASKED = re.compile(r'\bwords(?:\.parts)?\(\s*"([^"]+)"')
LITERAL = re.compile(r'"([a-z_-]+\.[\w.-]+)"')
SLOT = re.compile(r"\{(\w+)\}")
COUNTS = (".one", ".other")


def words_of(language):
    texts = [path.read_text(encoding="utf-8") for path in sorted((WEB / "words").glob(f"{language}*.js"))]
    entries = [entry for text in texts for entry in ENTRY.findall(text)]
    keys = [key for key, _ in entries]
    assert len(keys) == len(set(keys)), "a key stands twice"
    return dict(entries)


def base(key):
    return key.removesuffix(COUNTS[0]).removesuffix(COUNTS[1])


@pytest.fixture(scope="module")
def scripts():
    return "\n".join(
        path.read_text(encoding="utf-8") for path in sorted(WEB.rglob("*.js")) if path.parent != WEB / "words"
    )


def test_every_language_has_the_same_keys_and_the_same_slots():
    english, spanish = words_of("en"), words_of("es")
    assert english.keys() == spanish.keys()
    assert len(english) > 150
    for key, text in english.items():
        assert set(SLOT.findall(text)) == set(SLOT.findall(spanish[key])), key


def test_no_word_is_missing_and_none_is_unused(scripts):
    known = {base(key) for key in words_of("en")}
    assert set(ASKED.findall(scripts)) <= known
    assert known <= set(LITERAL.findall(scripts))


def test_each_count_has_both_forms():
    keys = words_of("en")
    counted = {base(key) for key in keys if key.endswith(COUNTS)}
    assert counted
    assert all(f"{key}{form}" in keys for key in counted for form in COUNTS)


def test_spanish_is_translated():
    english, spanish = words_of("en"), words_of("es")
    same = {key for key, text in english.items() if text == spanish[key]}
    assert len(same) < 0.1 * len(english)  # names, "log x", "Python"
