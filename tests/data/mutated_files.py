"""Valid files of every format, seeded damage to them, and faults planted at a known line and column.

Run by hand over many: python tests/data/mutated_files.py --count 20000
"""

import argparse
import gzip
import io
import json
import lzma
import random
import signal
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from atento.data.evidence.evidence import gather
from atento.errors import AtentoError
from atento.spec import DataRecipe
from atento.tasks.reading.reader import Reader
from atento.tasks.reading.sequences import ESTIMATES
from atento.tasks.reading.text import DOCUMENTS, LABEL_SETS, LABELLED, MATCHES, PAIRS, TAGGED

READERS: dict[str, Reader] = {
    "labelled": LABELLED,
    "label sets": LABEL_SETS,
    "tagged": TAGGED,
    "matches": MATCHES,
    "documents": DOCUMENTS,
    "pairs": PAIRS,
    "estimates": ESTIMATES,
}
ROWS = 30
LIMIT = 2.0  # seconds of processor time for one file
WORDS = ("the", "cat", "sat", "on", "a", "mat", "and", "saw", "no", "dog", "at", "all", "today")


class Hung(Exception):
    """A file that took longer than the limit."""


class Format(NamedTuple):
    """A kind of file: what it is called, a valid one, and the reader it is for."""

    name: str
    make: Callable[[random.Random], bytes]
    reader: str
    partner: str = ""  # the other of two parallel files


def text(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(2, 7)))


def rows(chance: random.Random, make: Callable[[int], str]) -> bytes:
    return "".join(make(at) + "\n" for at in range(ROWS)).encode()


def labelled(mark: str, header: str = "") -> Callable[[random.Random], bytes]:
    def make(chance: random.Random) -> bytes:
        body = rows(chance, lambda at: f"{text(chance)}{mark}{'good' if at % 2 else 'bad'}")
        return header.encode() + body

    return make


def quoted(chance: random.Random) -> bytes:
    return b"text,label\n" + rows(chance, lambda at: f'"{text(chance)}, ""so"" {at}",{at % 3}')


def several(chance: random.Random) -> bytes:
    return rows(chance, lambda at: f"{text(chance)} {at}\t{','.join(chance.sample('012', 1 + at % 3))}\tid{at}")


def objects(chance: random.Random) -> bytes:
    return rows(
        chance, lambda at: json.dumps({"tokens": text(chance).split(), "id": at, "labels": ["a", "b"][: at % 3]})
    )


def tagged(mark: str) -> Callable[[random.Random], bytes]:
    def make(chance: random.Random) -> bytes:
        def sentence(at: int) -> str:
            return "".join(f"{word}{mark}{chance.choice(['O', 'B-x'])}\n" for word in text(chance).split())

        return rows(chance, sentence)

    return make


def universal(chance: random.Random) -> bytes:
    def sentence(at: int) -> str:
        words = text(chance).split()
        lines = (f"{n}\t{word}\t{word}\tNOUN\t_\t_\t0\troot\t_\t_\n" for n, word in enumerate(words, start=1))
        return f"# sent_id = {at}\n" + "".join(lines)

    return rows(chance, sentence)


def word_rows(chance: random.Random) -> bytes:
    def sentence(at: int) -> str:
        words = text(chance).split()
        first = f"S {at},{words[0]},O"
        return "\n".join([first, *(f",{word},{chance.choice(['O', 'B-x'])}" for word in words[1:])])

    return b"Sentence,Word,Tag\n" + rows(chance, sentence)


def list_cells(chance: random.Random) -> bytes:
    return b"text\tlabels\n" + rows(chance, lambda at: f"{text(chance)}\t{['joy', 'fear', 'x y'][: at % 4]}")


def archive(chance: random.Random) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("set/README", "about it")
        for at in range(ROWS):
            packed.writestr(f"set/{'pos' if at % 2 else 'neg'}/{at:03}.txt", f"{text(chance)}\n{text(chance)}\n")
    return sink.getvalue()


def parquet(chance: random.Random) -> bytes:
    import pyarrow
    import pyarrow.parquet

    frame = pyarrow.table(
        {
            "premise": [text(chance) for _ in range(ROWS)],
            "hypothesis": [text(chance) for _ in range(ROWS)],
            "label": [at % 2 for at in range(ROWS)],
        }
    )
    sink = io.BytesIO()
    pyarrow.parquet.write_table(frame, sink)
    return sink.getvalue()


FORMATS = (
    Format("plain.csv", labelled(",", "text,label\n"), "labelled"),
    Format("quoted.csv", quoted, "labelled"),
    Format("bars.csv", labelled("|"), "labelled"),
    Format("labels.tsv", several, "label sets"),
    Format("header.tsv", labelled("\t", "sentence\tsentiment\n"), "labelled"),
    Format("lists.jsonl", objects, "label sets"),
    Format("tabs.conll", tagged("\t"), "tagged"),
    Format("spaces.txt", tagged(" "), "tagged"),
    Format("en-ud-dev.conllu", universal, "tagged"),
    Format("words.csv", word_rows, "tagged"),
    Format("lists.tsv", list_cells, "label sets"),
    Format("fasttext.txt", lambda c: rows(c, lambda at: f"__label__{at % 3} {text(c)}"), "labelled"),
    Format(
        "trec.txt", lambda c: rows(c, lambda at: f"{'AB' if at % 2 else 'CD'}:{'xyz'[at % 3]} {text(c)}"), "labelled"
    ),
    Format("words.txt", lambda c: rows(c, lambda at: f"{'ham' if at % 2 else 'spam'} {text(c)} {at}"), "labelled"),
    Format("prose.txt", lambda c: rows(c, lambda at: f"{text(c).capitalize()}." * (at % 3 > 0)), "documents"),
    Format("pairs.tsv", lambda c: rows(c, lambda at: f"{text(c)}\t{text(c)}"), "pairs"),
    Format("forms.txt", lambda c: rows(c, lambda at: f"ser\tsoy{at}\tV;IND;{at % 3};SG"), "pairs"),
    Format("side.de", lambda c: rows(c, lambda at: text(c)), "pairs", partner="side.en"),
    Format(
        "numbers.csv", lambda c: rows(c, lambda at: f"{c.random():.3f} {c.random():.3f},{c.random():.3f}"), "estimates"
    ),
    Format("packed.csv.gz", lambda c: gzip.compress(quoted(c), mtime=0), "labelled"),
    Format("packed.tsv.xz", lambda c: lzma.compress(several(c)), "label sets"),
    Format("wide.csv", lambda c: quoted(c).decode().encode("utf-16"), "labelled"),
    Format("older.txt", lambda c: several(c).decode().replace("a", "é").encode("cp1252"), "label sets"),
    Format("reviews.zip", archive, "labelled"),
    Format("couples.parquet", parquet, "matches"),
)


# Damage: bytes and chance to bytes


def spot(data: bytes, chance: random.Random) -> int:
    return chance.randrange(len(data) + 1)


def flip(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 3, 20])):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def insert(*pieces: bytes) -> Callable[[bytes, random.Random], bytes]:
    def change(data: bytes, chance: random.Random) -> bytes:
        for _ in range(chance.choice([1, 1, 2, 9])):
            at = spot(data, chance)
            data = data[:at] + chance.choice(pieces) + data[at:]
        return data

    return change


def cut_off(data: bytes, chance: random.Random) -> bytes:
    return data[: spot(data, chance)]


def cut_out(data: bytes, chance: random.Random) -> bytes:
    at = spot(data, chance)
    return data[:at] + data[at + chance.choice([1, 5, 50, 500]) :]


def double(data: bytes, chance: random.Random) -> bytes:
    mark = chance.choice([b",", b"\t", b" ", b'"', b"\n", b":", b"__label__", b"|"])
    return data.replace(mark, mark + mark) if chance.random() < 0.5 else data.replace(mark, mark + mark, 1)


def remove(data: bytes, chance: random.Random) -> bytes:
    return data.replace(
        chance.choice([b",", b"\t", b'"', b"\n", b"{", b"]", b"__label__", b"\n\n"]), b"", chance.choice([1, -1])
    )


def shuffle_lines(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    chance.shuffle(lines)
    return b"\n".join(lines)


def lose_lines(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    return b"\n".join(line for line in lines if chance.random() < 0.7)


def line_ends(data: bytes, chance: random.Random) -> bytes:
    ends = chance.choice([[b"\r"], [b"\r\n"], [b"\n", b"\r", b"\r\n"], [b"\x0b", b"\n"], [b"\xe2\x80\xa8", b"\n"]])
    return b"".join(line + chance.choice(ends) for line in data.split(b"\n"))


def encoding(data: bytes, chance: random.Random) -> bytes:
    name = chance.choice(["utf-16", "utf-32", "utf-8-sig", "utf-7", "cp037", "utf-16-le"])
    return data.decode("utf-8", "replace").encode(name, "replace")


def repeat(data: bytes, chance: random.Random) -> bytes:
    return data * chance.choice([2, 3])


def huge_field(data: bytes, chance: random.Random) -> bytes:
    at = spot(data, chance)
    return data[:at] + chance.choice([b"x", b"\t", b'"', b",", b" a", b"[", b"\n", b"\xc3\xa9"]) * 30_000 + data[at:]


def splice(data: bytes, chance: random.Random) -> bytes:
    other = chance.choice(FORMATS).make(chance)
    return data[: spot(data, chance)] + other[spot(other, chance) :]


DAMAGE: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    flip,
    insert(b"\0", b"\xff", b"\xfe\xff", b"\x80", b"\xed\xa0\x80", b"\xef\xbb\xbf"),
    insert(b'"', b"\n", b"\n\n", b"\t", b",", b"\r", b"{", b"]", b"\\", b"\\ud800", b" "),
    insert(b"NA", b"007", b"1e5", b"__label__", b"# x", b"-DOCSTART-", b"1-2\t", b"null", b"\x1a"),
    cut_off,
    cut_out,
    double,
    remove,
    shuffle_lines,
    lose_lines,
    line_ends,
    encoding,
    repeat,
    huge_field,
    splice,
)


def mutate(kind: Format, seed: str) -> bytes:
    """A damaged file of this format; the seed says which."""
    chance = random.Random(seed)
    data = kind.make(chance)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        data = chance.choice(DAMAGE)(data or b"x", chance)
    return data


# Planted faults: the file, and the line and column to be named


class Planted(NamedTuple):
    """A file with one fault."""

    name: str
    data: bytes
    place: str  # file:line:column, as a message begins
    reader: str
    partner: tuple[str, bytes] | None = None  # the other of two parallel files

    def write(self, folder: Path) -> str:
        """What a user would name."""
        (folder / self.name).write_bytes(self.data)
        if self.partner is None:
            return str(folder / self.name)
        (folder / self.partner[0]).write_bytes(self.partner[1])
        return f"{folder / self.name},{folder / self.partner[0]}"


Change = Callable[[str], tuple[str, int]]
Fault = Callable[[random.Random], Planted]


def plant(name: str, chance: random.Random) -> Planted:
    """One fault in one format at a place drawn by chance."""
    return FAULTS[name](chance)


def at_line(name: str, change: Change, first: int = 3, last: int = ROWS - 2) -> Fault:
    """A fault in one line of a file of text, which may be packed."""
    kind = next(one for one in FORMATS if one.name == name)
    unpack, pack = PACKED.get(Path(name).suffix, (bytes, bytes))

    def planted(chance: random.Random) -> Planted:
        lines, line = unpack(kind.make(chance)).decode().split("\n"), chance.randint(first, last)
        while not lines[line - 1] or lines[line - 1].startswith("#"):
            line += 1
        lines[line - 1], column = change(lines[line - 1])
        return Planted(name, pack("\n".join(lines).encode()), f"{name}:{line}:{column}: ", kind.reader)

    return planted


PACKED: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    ".gz": (gzip.decompress, gzip.compress),
    ".xz": (lzma.decompress, lzma.compress),
}


def lacking_a_line(chance: random.Random) -> Planted:
    """A blank line in the second of two parallel files."""
    lines = [text(chance) for _ in range(ROWS)]
    at = chance.randrange(1, ROWS - 1)
    others = "\n".join([*lines[:at], "", *lines[at + 1 :]])
    return Planted("side.de", "\n".join(lines).encode(), f"side.en:{at + 1}:1: ", "pairs", ("side.en", others.encode()))


def broken_member(chance: random.Random) -> Planted:
    """A byte that is no text in one file of an archive."""
    at, sink = chance.randrange(ROWS), io.BytesIO()
    names = [f"set/{'pos' if n % 2 else 'neg'}/{n:03}.txt" for n in range(ROWS)]
    with zipfile.ZipFile(sink, "w") as packed:
        for number, name in enumerate(names):
            packed.writestr(name, b"first line\nthen\0" if number == at else text(chance))
    return Planted("reviews.zip", sink.getvalue(), f"{names[at]}:2:5: ", "labelled")


def empty_cell(chance: random.Random) -> Planted:
    """An empty cell of a Parquet file, named by its row and its column."""
    import pyarrow
    import pyarrow.parquet

    at, sink = chance.randrange(ROWS), io.BytesIO()
    first = [f"{text(chance)} {number}" for number in range(ROWS)]
    second = ["" if number == at else f"{text(chance)} {number}" for number in range(ROWS)]
    frame = pyarrow.table({"premise": first, "hypothesis": second, "label": [number % 2 for number in range(ROWS)]})
    pyarrow.parquet.write_table(frame, sink)
    return Planted("couples.parquet", sink.getvalue(), f"couples.parquet:{at + 1}:2: ", "matches")


def without_bracket(line: str) -> tuple[str, int]:
    return line.rstrip("}"), len(line.rstrip("}")) + 1


FAULTS: dict[str, Fault] = {
    "a field missing in CSV": at_line("plain.csv", lambda line: (line.split(",")[0], len(line.split(",")[0]) + 1)),
    "a comma too many in CSV": at_line("plain.csv", lambda line: (line + ",x", len(line) + 2)),
    "an empty label in CSV": at_line("plain.csv", lambda line: (line.split(",")[0] + ",", len(line.split(",")[0]) + 2)),
    "text after a quote": at_line("quoted.csv", lambda line: (line.replace('",', '"x,'), line.rindex('",') + 2)),
    "a quote never closed": at_line("quoted.csv", lambda line: ('"' + line.replace('"', ""), 1)),
    "a tab too many in TSV": at_line("labels.tsv", lambda line: (line + "\tx", len(line) + 2)),
    "a tab missing in TSV": at_line("labels.tsv", lambda line: (line.rpartition("\t")[0], line.rindex("\t") + 1)),
    "an empty text in TSV": at_line("header.tsv", lambda line: ("\t" + line.split("\t")[1], 1)),
    "a bracket missing in JSON": at_line("lists.jsonl", without_bracket),
    "a key missing in JSON": at_line("lists.jsonl", lambda line: ('{"id": 1, "labels": []}', 23)),
    "objects in a list": at_line("lists.jsonl", lambda line: ('{"tokens": [{}], "id": 1, "labels": []}', 12)),
    "a tag missing": at_line("tabs.conll", lambda line: (line.split("\t")[0], len(line.split("\t")[0]) + 1)),
    "a column too many": at_line("tabs.conll", lambda line: (line + "\tX", len(line) + 2)),
    "an empty tag": at_line("tabs.conll", lambda line: (line.split("\t")[0] + "\t", len(line.split("\t")[0]) + 2)),
    "a word with a space": at_line("spaces.txt", lambda line: ("new " + line, len(line.split(" ")[0]) + 6)),
    "an id out of turn": at_line("en-ud-dev.conllu", lambda line: ("9" + line, 1)),
    "a list not closed": at_line("lists.tsv", lambda line: (line[:-1], line.index("\t") + 2), first=5),
    "a word missing in a table of words": at_line(
        "words.csv", lambda line: (",,O", 2) if line[0] == "," else ("S x,,O", 5)
    ),
    "a feature too many": at_line("forms.txt", lambda line: (line + "\tV", len(line) + 2)),
    "a label with no text": at_line("words.txt", lambda line: (line.split()[0], len(line.split()[0]) + 1)),
    "a quote never closed, packed": at_line("packed.csv.gz", lambda line: ('"' + line.replace('"', ""), 1)),
    "a tab too many, packed": at_line("packed.tsv.xz", lambda line: (line + "\tx", len(line) + 2)),
    "a blank line in a parallel file": lacking_a_line,
    "a broken file in an archive": broken_member,
    "an empty cell in Parquet": empty_cell,
    "no label": at_line("fasttext.txt", lambda line: (line.partition(" ")[2], 1)),
    "no text": at_line("fasttext.txt", lambda line: (line.partition(" ")[0], line.index(" ") + 1)),
    "no fine label": at_line("trec.txt", lambda line: (line.partition(" ")[2], 1)),
    "no sequence of numbers": at_line("numbers.csv", lambda line: ("0.5 x," + line.partition(",")[2], 5)),
}


# Running


def limited(work: Callable[[], None]) -> None:
    """Do it within the limit of processor time."""

    def stop(number: int, frame: object) -> None:
        raise Hung

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
    try:
        work()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def read_every_way(path: str, reader: str, chance: random.Random) -> None:
    """As a table, for the format's own task and for one drawn by chance; only our own errors may come."""
    recipe = DataRecipe(train=path, bad_rows=chance.choice(["skip", "stop"]))
    for name in {reader, chance.choice(list(READERS))}:
        try:
            found = READERS[name].rows(recipe, path)
        except AtentoError as error:
            require(bool(error.problem and error.found and error.fix), f"an error says too little: {error}")
        else:
            require(bool(found.pairs), "nothing was read, and nothing was said")
            require(all("\0" not in one for pair in found.pairs for one in pair), "a NUL came through")
            require(all(one.line > 0 and one.column > 0 and one.fix for one in found.refused), "a refusal has no place")
    with suppress(AtentoError):
        READERS[reader].read_unlabelled(recipe, path, 0)
    if chance.random() < 0.3:
        with suppress(AtentoError):
            gather(path)


def require(truth: bool, problem: str) -> None:
    if not truth:
        raise AssertionError(problem)


def run_mutation(kind: Format, seed: str, folder: Path) -> None:
    """Write one damaged file and read it."""
    path = folder / kind.name
    path.write_bytes(mutate(kind, seed))
    source = str(path)
    if kind.partner:
        (folder / kind.partner).write_bytes(kind.make(random.Random(seed)))
        source += f",{folder / kind.partner}"
    limited(lambda: read_every_way(source, kind.reader, random.Random(seed)))


def run_planted(name: str, seed: str, folder: Path) -> None:
    """Write a file with one fault; its place must be named, whether bad rows stop or are skipped."""
    planted = plant(name, random.Random(seed))
    path = planted.write(folder)

    def read() -> None:
        reader = READERS[planted.reader]
        try:
            reader.rows(DataRecipe(train=path), path)
        except AtentoError as error:
            require(error.problem.startswith(planted.place), f"{planted.place} expected, said: {error}")
            require(bool(error.fix), "no fix")
        else:
            raise AssertionError(f"{planted.place} the fault was not seen")
        found = reader.rows(DataRecipe(train=path, bad_rows="skip"), path)
        require([str(one).startswith(planted.place) for one in found.refused] == [True], f"{found.refused}")

    limited(read)


Choice = tuple[str, Callable[[str, Path], None]]  # what a file is called, and its test by a seed and a folder


def one_of_all(number: int) -> Choice:
    """All formats in turn, every fifth time a planted fault."""
    kind, fault = FORMATS[number % len(FORMATS)], list(FAULTS)[number // 5 % len(FAULTS)]
    return (fault, partial(run_planted, fault)) if number % 5 == 4 else (kind.name, partial(run_mutation, kind))


def run_many(choose: Callable[[int], Choice]) -> int:
    """As many files as the command line asks for; failures are counted and shown."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    failures: Counter[str] = Counter()
    begun, slowest = time.perf_counter(), 0.0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.count):
            seed, start = f"{options.seed} {number}", time.process_time()
            what, run = choose(number)
            try:
                run(seed, Path(folder))
            except Exception as error:  # noqa: BLE001
                failures[f"{type(error).__name__} {what}"] += 1
                print(f"{what}, seed {seed!r}: {type(error).__name__}: {error}"[:500], file=sys.stderr)
            slowest = max(slowest, time.process_time() - start)
    spent = time.perf_counter() - begun
    print(f"{options.count} files in {spent:.0f} s, slowest {slowest:.2f} s, {sum(failures.values())} failures")
    for what, times in failures.most_common():
        print(f"  {times} {what}")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(run_many(one_of_all))
