"""Translation memories (.tmx): a row for each unit, a column for each language."""

import re
from collections import Counter
from xml.etree import ElementTree

from atento.data.records import Place, Records, counted, excerpt, in_words
from atento.errors import InputError

PLAIN_DOCTYPE = re.compile(r"<!DOCTYPE[^\[>]*>", re.IGNORECASE)
DECLARATION = re.compile(r"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
XML_HEAD = re.compile(r"\s*<\?xml[^>]*\?>")
LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
UNIT = re.compile(r"<tu[\s>]")


def read_tmx(text: str, file: str) -> Records:
    """The units that have both of the two commonest languages, or all of them; others are counted in a note."""
    units = [unit_of(unit) for unit in parse(text, file).iter("tu")]
    counts = Counter(language for unit in units for language in unit)
    if len(counts) < 2:
        found = f"{counted(len(units), 'unit')} with {in_words(list(counts)) or 'no language'}"
        raise InputError(f"{file}:1:1: a translation needs two languages.", found=found, fix="export both languages")
    columns = tuple(language for language, _ in counts.most_common(2))
    columns = tuple(language for language in counts if language in columns)  # in the order of the file
    starts = [1 + text.count("\n", 0, match.start()) for match in UNIT.finditer(text)]
    lines = starts if len(set(starts)) == len(starts) == len(units) else list(range(1, len(units) + 1))
    whole = [(line, unit) for line, unit in zip(lines, units, strict=True) if all(name in unit for name in columns)]
    notes = [f"{file} is a translation memory: a row for each unit, columns {in_words(columns)}"]
    if lines != starts:
        notes.append("units are counted in place of lines")
    if len(whole) < len(units):
        notes.append(f"{counted(len(units) - len(whole), 'unit')} without {in_words(columns)} left out")
    others = [language for language in counts if language not in columns]
    notes += [f"the language{'s' if len(others) > 1 else ''} {in_words(others)} not read"] if others else []
    rows = [tuple(unit[name] for name in columns) for _, unit in whole]
    return Records(columns, rows, [line for line, _ in whole], [], lambda line, _: Place(file, line, 1), tuple(notes))


def parse(text: str, file: str) -> ElementTree.Element:
    """The document; one that declares entities, which may grow without limit, is refused."""
    plain = PLAIN_DOCTYPE.sub("", XML_HEAD.sub("", text, count=1), count=1)
    if DECLARATION.search(plain):
        raise InputError(
            f"{file}:1:1: the document declares entities of its own.",
            found=excerpt(plain[plain.index("<!") :]),
            fix="export it again without a document type",
        )
    try:
        return ElementTree.fromstring(plain)
    except ElementTree.ParseError as error:
        line, column = error.position
        raise InputError(
            f"{file}:{line}:{column + 1}: this is not valid XML.", found=str(error), fix="export the file again"
        ) from None


def unit_of(unit: ElementTree.Element) -> dict[str, str]:
    """The text of each language of a unit, the marks of formatting left out."""
    found: dict[str, str] = {}
    for variant in unit.iter("tuv"):
        language = variant.get(LANGUAGE) or variant.get("lang") or ""
        segment = variant.find("seg")
        if language and segment is not None:
            found.setdefault(language, " ".join("".join(segment.itertext()).split()))
    return {language: text for language, text in found.items() if text}
