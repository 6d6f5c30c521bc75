"""Word vectors in the text format of word2vec and GloVe: a word and its numbers on each line.

The first line of word2vec's format has the number of words and of dimensions; GloVe has no such line. A word may hold
spaces: the numbers are counted from the end of the line.
"""

import gzip
import io
import lzma
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.data.files.foreign import refuse_special
from atento.data.files.opening import OPENERS, cannot_unpack, missing_file
from atento.data.records import BadRows, Refusal, counted, excerpt, stop_or_skip
from atento.errors import InputError, is_machine_fault
from atento.writing import write_atomically

# Axes: V words, D dimensions.

FIX = "write the word and its numbers with single spaces between"


class WordVectors(NamedTuple):
    """Words and their vectors, with the lines that were refused."""

    words: tuple[str, ...]
    vectors: NDArray[np.float32]  # (V, D)
    refused: tuple[Refusal, ...] = ()
    notes: tuple[str, ...] = ()


def read_vectors(path: str | Path, *, only: Collection[str] | None = None, bad_rows: BadRows = "stop") -> WordVectors:
    """Read vectors line by line: of a file larger than memory, only those of the words in `only`.

    A line with a word that came before, with another number of dimensions or with something that is not a number is
    refused.
    """
    file, refused = Path(path).name, []
    words: dict[str, int] = {}
    rows: list[NDArray[np.float32]] = []
    seen: dict[str, int] = {}  # word -> its line
    stated, width = None, 0
    for number, line in read_numbered_lines(Path(path)):
        if number == 1 and (stated := parse_header(line)) is not None:
            width = stated[1]
            continue
        if not line.strip():
            continue
        width = width or width_of(line)
        entry = parse_line(file, number, line, width)
        if isinstance(entry, Refusal):
            refused.append(entry)
            continue
        word, vector = entry
        if word in seen:
            problem, first = f"the word {word!r} is named twice.", f"first in line {seen[word]}"
            refused.append(Refusal(file, number, 1, problem, found=first, fix="keep one"))
            continue
        seen[word] = number
        if only is None or word in only:
            words[word] = len(rows)
            rows.append(vector)
    kept = stop_or_skip(refused, bad_rows, used=len(seen))
    require_stated_size(file, stated, width, len(seen) + len(kept))
    note = f"{file}: {counted(len(seen), 'word')} of {counted(width, 'number')} each"
    matrix = np.stack(rows) if rows else np.zeros((0, width), dtype=np.float32)
    return WordVectors(tuple(words), matrix, kept, (note,))


def read_numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The numbered lines of a UTF-8 file, decompressed where the name ends in .gz or .xz."""
    opener = OPENERS.get(path.suffix.lower(), open)
    number = 0
    refuse_special(path)
    try:
        with opener(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                yield number, line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except FileNotFoundError:
        raise missing_file(path) from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path.name}:{number}:{len(error.object[: error.start].decode()) + 1}: this is not UTF-8 text.",
            found=str(error.reason),
            fix="save the file as UTF-8 text; word2vec's binary format is not read",
        ) from None
    except (gzip.BadGzipFile, lzma.LZMAError, zlib.error, EOFError) as error:
        raise cannot_unpack(path, error) from None
    except OSError as error:
        if is_machine_fault(error):
            raise
        raise InputError(
            f"{path} cannot be read.",
            found=error.strerror or str(error),
            fix="check the name, and that you may read it",
        ) from None


def parse_header(line: str) -> tuple[int, int] | None:
    """The number of words and dimensions in word2vec's first line; None where the line is a word and its vector."""
    fields = line.split()
    if len(fields) == 2 and all(field.isascii() and field.isdigit() for field in fields):
        return int(fields[0]), int(fields[1])
    return None


def width_of(line: str) -> int:
    """How many numbers are at the end of a line; its first field is a word, even where it looks like a number."""
    fields = fields_of(line)[1:]
    count = next((place for place, field in enumerate(reversed(fields)) if not is_number(field)), len(fields))
    return max(count, 1)


def fields_of(line: str) -> list[str]:
    """The fields of a line, separated by single spaces, or by tabs where there is no space."""
    text = line.rstrip()
    return text.split("\t" if "\t" in text and " " not in text else " ")


def parse_line(file: str, number: int, line: str, width: int) -> tuple[str, NDArray[np.float32]] | Refusal:
    """The word and the vector of a line, or its refusal."""
    text, fields = line.rstrip(), fields_of(line)
    if len(fields) <= width:
        found = f"{counted(len(fields) - 1, 'number')}, {width} in the lines before"
        return Refusal(file, number, len(text) + 1, "the vector is too short.", found, FIX)
    word, column = " ".join(fields[:-width]), len(text) - len(" ".join(fields[-width:])) + 1
    if not word:
        return Refusal(file, number, 1, "there is no word before the numbers.", excerpt(text), FIX)
    if len(fields) > width + 1 and all(map(is_number, fields[1:])):
        found = f"{counted(len(fields) - 1, 'number')}, {width} in the lines before"
        return Refusal(file, number, column - len(fields[-width - 1]) - 1, "the vector is too long.", found, FIX)
    vector = parse_vector(fields[-width:])
    if vector is not None:
        return word, vector
    for field in fields[-width:]:
        if not is_number(field):
            break
        column += len(field) + 1
    return Refusal(file, number, column, f"{excerpt(field)} is no number.", excerpt(text), FIX)


def parse_vector(fields: Sequence[str]) -> NDArray[np.float32] | None:
    """The fields as finite numbers; None where one is not."""
    try:
        with np.errstate(over="ignore"):
            vector = np.array([float(field) for field in fields], dtype=np.float32)
    except ValueError:
        return None
    return vector if np.isfinite(vector).all() and not any("_" in field for field in fields) else None


def is_number(field: str) -> bool:
    """Whether a field is a finite number."""
    return parse_vector([field]) is not None


def require_stated_size(file: str, stated: tuple[int, int] | None, width: int, count: int) -> None:
    """Raise an error where the first line gives another size than the file has: it was cut off or merged."""
    if not count:
        raise InputError(f"{file}:1:1: there are no vectors.", found="no line with a word", fix="give another file")
    if stated is not None and stated != (count, width):
        raise InputError(
            f"{file}:1:1: the first line does not agree with the lines after it.",
            found=f"{stated[0]} words of {stated[1]} numbers stated, {count} of {width} found",
            fix="copy or download the file again, or correct the first line",
        )


def write_vectors(path: str | Path, words: Sequence[str], vectors: NDArray[Any], *, header: bool = True) -> Path:
    """Write one word per line, with the fewest digits that restore 32-bit numbers; compressed by the name's suffix."""
    path, numbers = Path(path), np.asarray(vectors, dtype=np.float32)
    require_words(words, numbers)
    lines = [f"{len(words)} {numbers.shape[1]}"] if header else []
    lines += [" ".join([word, *(str(number) for number in row)]) for word, row in zip(words, numbers, strict=True)]
    text = ("\n".join(lines) + "\n").encode()
    if path.suffix.lower() in OPENERS:
        packed = io.BytesIO()
        with OPENERS[path.suffix.lower()](packed, "wb") as file:
            file.write(text)
        text = packed.getvalue()
    write_atomically(path, text)
    return path


def require_words(words: Sequence[str], numbers: NDArray[np.float32]) -> None:
    """Raise an error where words and vectors differ in number, or a word cannot be written on a line."""
    if numbers.ndim != 2 or len(words) != len(numbers) or not numbers.size:
        raise InputError(
            "every word has one vector.", found=f"{len(words)} words, vectors {numbers.shape}", fix="give as many"
        )
    counts = Counter(words)
    for word in words:
        if counts[word] > 1 or not word or "\n" in word or word != word.strip(" \r\t"):
            raise InputError(
                "a line of a vector file begins with a word of its own.", found=repr(word), fix="leave it out"
            )
    if not np.isfinite(numbers).all():
        raise InputError("vectors are made of finite numbers.", found="NaN or infinity", fix="leave such words out")
