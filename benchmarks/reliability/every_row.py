"""F7: rows in are rows used and rows listed as refused, exactly; "NA", "007" and "1e5" survive as texts.

    python benchmarks/reliability/every_row.py [--count 300] [--seed 0]

Valid files of every format, and files with one bad row at a random place, drawn from the seed.
"""

import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measure import options, parts_of, verdict, workshop

from atento.spec import DataRecipe

WORDS = ("NA", "007", "1e5", "null", "None", "nan", "TRUE", "1.0", "0x1F", "-0")


def main(arguments: Sequence[str] | None = None) -> int:
    given = options(__doc__, arguments, count=300)
    parts, counted = parts_of("data/mutated_files.py"), parts_of("data/test_every_row.py")["counted"]
    formats = [kind for kind in parts["FORMATS"] if kind.name != "prose.txt"]
    wrong, rows = 0, 0
    with workshop() as folder:
        for number in range(given.count):
            place, chance = folder / str(number), random.Random(f"{given.seed} {number}")
            place.mkdir()
            if number % 2:
                planted = parts["plant"](list(parts["FAULTS"])[number // 2 % len(parts["FAULTS"])], chance)
                reader, source, wanted = planted.reader, planted.write(place), (parts["ROWS"] - 1, 1)
            else:
                kind = formats[number // 2 % len(formats)]
                names = [kind.name, *([kind.partner] if kind.partner else [])]
                for name in names:
                    (place / name).write_bytes(kind.make(chance))
                reader, source = kind.reader, ",".join(str(place / name) for name in names)
                wanted = (parts["ROWS"], 0)
            rows += parts["ROWS"]
            found = counted(reader, source)
            if found != wanted:
                wrong += 1
                print(f"{source}: {found} where {wanted} is right", file=sys.stderr)
        changed = changed_words(folder, parts["READERS"]["labelled"])
    figure = f"{rows:,} rows in {given.count} files: {wrong} files with another count; {changed} words changed"
    return verdict("F7", figure, "rows in = used + refused everywhere, no word changed", met=not (wrong or changed))


def changed_words(folder: Path, reader: Any) -> int:
    """How many words that look like numbers or like nothing are read as something else, in three formats."""
    lines = [(word, "ab"[at % 2]) for at, word in enumerate(WORDS)]
    files = {
        "words.csv": "text,label\n" + "".join(f"{word},{label}\n" for word, label in lines),
        "words.tsv": "text\tlabel\n" + "".join(f"{word}\t{label}\n" for word, label in lines),
        "words.jsonl": "".join(json.dumps({"text": word, "label": label}) + "\n" for word, label in lines),
    }
    changed = 0
    for name, text in files.items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        recipe = DataRecipe(train=str(path), source="text", label="label", header="yes", bad_rows=1.0)
        read = {source for source, _ in reader.rows(recipe, str(path)).pairs}
        for word in sorted(set(WORDS) - read):
            changed += 1
            print(f"{name}: {word!r} was not read as it stands: {sorted(read)}", file=sys.stderr)
    return changed


if __name__ == "__main__":
    sys.exit(main())
