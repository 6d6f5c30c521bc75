"""Bytes to text: by a byte order mark, as UTF-8, else in a legacy encoding in which the words look right."""

import codecs
import re
from itertools import islice
from typing import NamedTuple

from atento.data.files.foreign import SIGNATURES, Foreign
from atento.errors import InputError


class DecodedText(NamedTuple):
    """The text of a file, the encoding it was decoded with, and notes on it."""

    text: str
    encoding: str
    notes: tuple[str, ...]


class NotText(InputError):
    """The error for bytes that are not text, with the place of the first such byte."""

    def __init__(self, file: str, line: int, column: int, reason: str, *, found: str, fix: str) -> None:
        super().__init__(f"{file}:{line}:{column}: {reason}", found=found, fix=fix)
        self.line, self.column, self.reason = line, column, reason


class Candidate(NamedTuple):
    """A legacy encoding; `odd` matches a word that shows it is the wrong one."""

    encoding: str
    odd: re.Pattern[str]


# The mark of UTF-32 begins with the mark of UTF-16, so it is tried first.
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}

# Words that show a wrong guess. Latin: three accented letters in a row, two alone, a symbol between letters.
# Cyrillic: mixed with Latin, a capital after a small letter. Japanese: half-width or no kana. The others: other signs.
ACCENTED = r"\xc0-\xd6\xd8-\xf6\xf8-\u017e"
LETTER = rf"A-Za-z{ACCENTED}"
RUSSIAN = r"\u0400-\u04ff"
LATIN = re.compile(
    rf"[{ACCENTED}]{{3}}|(?<![{LETTER}])[{ACCENTED}]{{2}}(?![{LETTER}])|\xa4"
    rf"|[{LETTER}](?:[^\w\s\x00-\x7f\u2018\u2019\xb7\xad]|[¹²³¼½¾ªºµƒ])[{LETTER}]"
)
CYRILLIC = re.compile(
    rf"[A-Za-z][{RUSSIAN}]|[{RUSSIAN}][A-Za-z]|[\u0430-\u044f][\u0410-\u042f]"
    rf"|[{RUSSIAN}][^\w\s\x00-\x7f\u2019]+[{RUSSIAN}]|^[^{RUSSIAN}]+$"
)
JAPANESE = re.compile(r"[\uff61-\uff9f]|^[^\u3041-\u30ff\u4e00-\u9faf]+$")
EASTERN_PUNCTUATION = r"\x00-\x7f\u3000-\u303f\uff00-\uffef\u2014\u2018-\u201d\u2026\xb7"
KOREAN = re.compile(rf"[^{EASTERN_PUNCTUATION}\uac00-\ud7a3]")
CHINESE = re.compile(rf"[A-Za-z][\u4e00-\u9fff][A-Za-z]|[^{EASTERN_PUNCTUATION}\u4e00-\u9fff]")

CANDIDATES = (
    Candidate("cp1252", LATIN),
    Candidate("iso8859-15", LATIN),
    Candidate("cp1250", LATIN),
    Candidate("cp1251", CYRILLIC),
    Candidate("cp932", JAPANESE),  # Shift JIS with the signs that Windows adds
    Candidate("euc_kr", KOREAN),
    Candidate("gb18030", CHINESE),
)

CONTROL = re.compile(r"[\x01-\x08\x0e-\x1f\x7f]")
MOST_CONTROLS = 0.001  # of the characters of a text in a legacy encoding
SAMPLE_WORDS = 2000
SAMPLE_BYTES = 4096
INVISIBLE = "\t\n\r\xa0\xad\u3000"  # part of texts, though str.isprintable is false


def decode(data: bytes, file: str) -> DecodedText:
    """The decoded text; bytes that are not text raise `NotText` with the place of the first bad byte."""
    encoding = next((name for mark, name in BYTE_ORDER_MARKS.items() if data.startswith(mark)), unmarked(data))
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        nul = data[: error.start].find(0)
        if signature_of(data) is not None:
            raise not_text(data, error.start, encoding, file) from None
        if encoding == "utf-8" and nul < 0 and not mostly_utf8(data):
            return decode_legacy(data, error.start, file)
        raise not_text(data, nul if encoding == "utf-8" and nul >= 0 else error.start, encoding, file) from None
    if "\0" in text:
        raise not_text(data, len(text[: text.index("\0")].encode(encoding)), encoding, file)
    return DecodedText(text, encoding.removesuffix("-sig"), control_notes(text, file))


def unmarked(data: bytes) -> str:
    """UTF-16 where nearly every second byte of the beginning is 0, as in Latin text without a mark; else UTF-8."""
    head = data[:SAMPLE_BYTES]
    first, second = head[::2].count(0), head[1::2].count(0)
    most, least = 0.8 * (len(head) // 2), 0.02 * (len(head) // 2)
    if len(data) % 2 or signature_of(data) is not None:
        return "utf-8"
    if second > most and first <= least:
        return "utf-16-le"
    return "utf-16-be" if first > most and second <= least else "utf-8"


def decode_legacy(data: bytes, start: int, file: str) -> DecodedText:
    """The text in the first legacy encoding in which it is printable and its words look right."""
    note = f"{file} is not UTF-8; read as"
    fallback = None
    for encoding, odd in CANDIDATES:
        text = data.decode(encoding, "replace")
        controls = CONTROL.findall(text)
        if first_unprintable(CONTROL.sub("", text) if len(controls) <= MOST_CONTROLS * len(text) else text) >= 0:
            continue
        notes = control_notes(text, file)
        if looks_right(text, odd):
            return DecodedText(text, encoding, (f"{note} {encoding}", *notes))
        if fallback is None and odd is LATIN:
            fallback = DecodedText(
                text, encoding, (f"{note} {encoding}, but its words look odd: save it again as UTF-8", *notes)
            )
    if fallback is not None:
        return fallback
    western = first_unprintable(data.decode("cp1252", "replace"))  # one byte is one character
    raise not_text(data, max(start, western), "utf-8" if start > western else "cp1252", file)


def first_unprintable(text: str) -> int:
    """The index of the first unprintable character; -1 where there is none."""
    rest = text
    for character in INVISIBLE:
        rest = rest.replace(character, "")
    if rest.isprintable() and "\ufffd" not in rest:
        return -1
    return next(at for at, it in enumerate(text) if it == "\ufffd" or not (it.isprintable() or it in INVISIBLE))


def looks_right(text: str, odd: re.Pattern[str]) -> bool:
    """Whether at least seven in ten words with non-ASCII letters look like words of this script."""
    words = list(islice((word for word in text.split() if not word.isascii()), SAMPLE_WORDS))
    return 10 * sum(odd.search(word) is None for word in words) >= 7 * len(words)


def mostly_utf8(data: bytes) -> bool:
    """Whether more non-ASCII characters are valid UTF-8 than invalid: the file is damaged, not in a legacy encoding."""
    text = data.decode("utf-8", "surrogateescape")
    wrong = len(re.findall(r"[\udc80-\udcff]", text))
    return len(re.findall(r"[^\x00-\x7f]", text)) - wrong > wrong


def control_notes(text: str, file: str) -> tuple[str, ...]:
    """A note on the first control character; such characters are kept, since text from the web holds them."""
    first = CONTROL.search(text)
    if first is None:
        return ()
    line, column = line_and_column(text[: first.start()])
    return (f"{file}:{line}:{column}: a control character (0x{ord(first.group()):02x}) is kept as it is",)


def line_and_column(before: str) -> tuple[int, int]:
    """The line and column, from 1, of the character after this text."""
    before = before.replace("\r\n", "\n").replace("\r", "\n")
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def not_text(data: bytes, at: int, encoding: str, file: str) -> NotText:
    """The error for a file that is not text from one byte on."""
    line, column = line_and_column(data[:at].decode(encoding, "replace"))
    known = signature_of(data)
    if known is not None:
        return NotText(file, 1, 1, f"this is {known.what}, not text.", found=f"{len(data):,} bytes", fix=known.fix)
    return NotText(
        file,
        line,
        column,
        "this is not text in any encoding we know.",
        found=f"the byte 0x{data[at]:02x}",
        fix="mend that byte, or save the file again as UTF-8",
    )


def signature_of(data: bytes) -> Foreign | None:
    """The format of another program that data begins as."""
    return next((known for mark, known in SIGNATURES.items() if data.startswith(mark)), None)
