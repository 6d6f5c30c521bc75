"""Small files of many shapes and languages, each with the task that it is plainly meant for."""

import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

from tests.tasks.series_shapes import FORECAST

WORDS = {
    "en": "the a film was very good bad boring great story and of in actor plot I loved hated it not so really awful",
    "es": "la el película fue muy buena mala aburrida historia y de en actor trama me gustó nada tan gran música",
    "de": "der die das Film war sehr gut schlecht langweilig Geschichte und von in Schauspieler ich nicht so toll",
    "fr": "le la film était très bon mauvais ennuyeux histoire et de en acteur je ne pas si vraiment",
    "ar": "الفيلم كان جدا جيد سيئ ممل قصة و من في ممثل أحببت لم موسيقى نهاية يوم",
    "ru": "фильм был очень хороший плохой скучный история и в актёр мне понравился не такой музыка конец день",
}
EN, ES, DE, FR, AR, RU = (words.split() for words in WORDS.values())
TAGS = ("DET", "NOUN", "VERB", "ADJ", "PUNCT")
NAMED = ("O", "B-PER", "I-PER", "B-LOC")
Make = Callable[[Path], str]  # a folder -> what a user would type for the file in it


def sentence(draw: random.Random, words: list[str] = EN, low: int = 4, high: int = 12) -> str:
    """A few words."""
    return " ".join(draw.choices(words, k=draw.randint(low, high)))


def chinese(draw: random.Random) -> str:
    """A few signs with no spaces."""
    return "".join(draw.choices("我你他好很不是电影喜欢看了的这那人大小天下", k=draw.randint(5, 20)))


def rows(build: Callable[[random.Random, int], list[str]], count: int = 60) -> list[list[str]]:
    """As many rows, the same each time."""
    draw = random.Random(0)
    return [build(draw, number) for number in range(count)]


def written(name: str, text: str) -> Make:
    """A file of that text."""

    def make(folder: Path) -> str:
        (folder / name).write_text(text, encoding="utf-8")
        return str(folder / name)

    return make


def table(name: str, header: str, build: Callable[[random.Random, int], list[str]], mark: str = ",", count: int = 60):
    """A file of cells; commas in CSV stand between quotes."""

    def cell(text: str) -> str:
        return f'"{text}"' if mark in ",;|" and mark in text else text

    lines = [mark.join(map(cell, row)) for row in rows(build, count)]
    return written(name, "\n".join([*([mark.join(header.split())] if header else []), *lines]) + "\n")


def jsonl(name: str, build: Callable[[random.Random, int], dict], count: int = 60) -> Make:
    """A JSON object a line."""
    draw = random.Random(0)
    return written(name, "".join(json.dumps(build(draw, n), ensure_ascii=False) + "\n" for n in range(count)))


def parquet(name: str, build: Callable[[random.Random, int], dict]) -> Make:
    """The same in columns."""

    def make(folder: Path) -> str:
        import pyarrow as arrow
        import pyarrow.parquet as arrow_parquet

        draw = random.Random(0)
        arrow_parquet.write_table(arrow.Table.from_pylist([build(draw, n) for n in range(60)]), folder / name)
        return str(folder / name)

    return make


def several(draw: random.Random, labels: str) -> list[str]:
    """One to three labels."""
    return draw.sample(labels.split(), k=draw.choice([1, 1, 2, 3]))


def conll(name: str, fields: Callable[[random.Random, int], list[str]], mark: str, before: str = "") -> Make:
    """A word a line, a blank line after each sentence."""
    draw = random.Random(0)
    blocks = []
    for number in range(40):
        words = [mark.join(fields(draw, at)) for at in range(1, draw.randint(4, 9))]
        blocks.append(before.format(number) + "\n".join(words) + "\n")
    return written(name, "\n".join(blocks))


def tagged(draw: random.Random, tags: tuple[str, ...] = TAGS) -> tuple[list[str], list[str]]:
    """Words and as many tags."""
    count = draw.randint(3, 9)
    return [f"{draw.choice(EN)}{draw.randint(0, 9)}" for _ in range(count)], draw.choices(tags, k=count)


def parallel(names: str, build: Callable[[random.Random], tuple[str, str]]) -> Make:
    """Two files in step."""

    def make(folder: Path) -> str:
        draw = random.Random(0)
        sides = list(zip(*(build(draw) for _ in range(60)), strict=True))
        paths = [folder / name for name in names.split()]
        for path, side in zip(paths, sides, strict=True):
            path.write_text("\n".join(side) + "\n", encoding="utf-8")
        return ",".join(map(str, paths))

    return make


def by_folder(*labels: str, packed: bool = False) -> Make:
    """A text a file, a folder a label; or all side by side."""

    def make(folder: Path) -> str:
        draw = random.Random(0)
        root = folder / "texts"
        for number in range(24):
            path = root / (labels[number % len(labels)] if labels else "") / f"{number:03}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(sentence(draw, high=60), encoding="utf-8")
        if not packed:
            return str(root)
        with zipfile.ZipFile(folder / "texts.zip", "w") as archive:
            for path in sorted(root.rglob("*.txt")):
                archive.write(path, path.relative_to(folder))
        return str(folder / "texts.zip")

    return make


def forms(draw: random.Random) -> list[str]:
    """A form of one of twenty verbs."""
    lemma, _, _ = inflected(random.Random(draw.randint(0, 20)))
    ending, features = draw.choice([("é", "V;IND;PST;1;SG"), ("emos", "V;SBJV;PRS;1;PL"), ("en", "V;SBJV;PRS;3;PL")])
    return [lemma, lemma.removesuffix("ar") + ending, features]


def last_form(draw: random.Random) -> list[str]:
    """The same in the order of later years."""
    lemma, form, features = inflected(draw)
    return [lemma, features, form]


def inflected(draw: random.Random) -> tuple[str, str, str]:
    """A verb, a form of it, and what form that is."""
    stem = "".join(draw.choices(["can", "lo", "mi", "tra", "des", "pe", "ru"], k=3))
    ending, features = draw.choice(
        [("o", "V;IND;PRS;1;SG"), ("as", "V;IND;PRS;2;SG"), ("aban", "V;IND;PST;3;PL"), ("ado", "V.PTCP;PST;MASC;SG")]
    )
    return f"{stem}ar", f"{stem}{ending}", features


def spoken(draw: random.Random) -> list[str]:
    """A word and its phones."""
    word = "".join(draw.choices("abdefgiklmnoprstu", k=draw.randint(3, 9)))
    return [word, " ".join(f"{letter.upper()}{letter.upper() if letter in 'aeiou' else ''}" for letter in word)]


def alike(draw: random.Random, words: list[str] = EN) -> tuple[str, str]:
    """Two sentences with words in common."""
    one = sentence(draw, words, 6, 10).split()
    return " ".join(one), " ".join([*one[:4], *draw.choices(words, k=3)])


def two_of(draw: random.Random, first: list[str], second: list[str]) -> tuple[str, str]:
    """Two sentences of two languages."""
    return sentence(draw, first), sentence(draw, second)


def word_of(letters: str, draw: random.Random, count: int) -> str:
    """A string of those letters."""
    return "".join(draw.choices(letters, k=count))


def numbers(draw: random.Random) -> str:
    """A few numbers."""
    return " ".join(f"{draw.random():.2f}" for _ in range(draw.randint(3, 8)))


def universal(draw: random.Random, at: int) -> list[str]:
    """A line of CoNLL-U."""
    return [str(at), draw.choice(EN), draw.choice(EN), draw.choice(TAGS), "_", "Number=Sing", "0", "root", "_", "_"]


CLASSIFY: dict[str, Make] = {
    "CSV with a header": table("r.csv", "text label", lambda d, n: [sentence(d), d.choice(["pos", "neg"])]),
    "CSV without one": table("r.csv", "", lambda d, n: [sentence(d), d.choice(["pos", "neg"])]),
    "the label first": table("r.csv", "", lambda d, n: [d.choice(["3", "4", "1"]), sentence(d)]),
    "few rows": table("r.csv", "text label", lambda d, n: [f"{sentence(d)} {n}", ["pos", "neg"][n % 2]], count=12),
    "Spanish TSV": table("r.tsv", "frase etiqueta", lambda d, n: [sentence(d, ES), d.choice(["sí", "no"])], "\t"),
    "German, semicolons": table("r.csv", "Satz Stimmung", lambda d, n: [sentence(d, DE), d.choice(["gut", "so"])], ";"),
    "Russian": table("r.csv", "текст метка", lambda d, n: [sentence(d, RU), d.choice(["да", "нет"])]),
    "bars": table("r.txt", "review stars", lambda d, n: [sentence(d), str(d.randint(1, 5))], "|"),
    "JSONL": jsonl("r.jsonl", lambda d, n: {"review": sentence(d), "stars": d.randint(1, 5)}),
    "Chinese": jsonl("r.jsonl", lambda d, n: {"文本": chinese(d), "标签": d.choice(["正", "负"])}),
    "Parquet": parquet("r.parquet", lambda d, n: {"text": sentence(d), "label": d.randint(0, 3)}),
    "__label__ lines": table("r.txt", "", lambda d, n: [f"__label__{d.choice(['a', 'b'])}", sentence(d)], " "),
    "COARSE:fine lines": table(
        "r.txt", "", lambda d, n: [d.choice(["NUM:date", "NUM:count", "LOC:city"]), sentence(d)], " ", count=90
    ),
    "ham and spam": table("sms", "", lambda d, n: [d.choice(["ham", "ham", "spam"]), sentence(d)], "\t"),
    "class, title, description": table(
        "news.csv", "", lambda d, n: [str(d.randint(1, 4)), sentence(d, low=4, high=7), sentence(d, low=20, high=40)]
    ),
    "ids, dates and links beside": table(
        "r.csv",
        "id date url text category",
        lambda d, n: [str(n), f"2020-01-{n % 28 + 1:02}", f"http://x.org/{n}", sentence(d), d.choice(["a", "b", "c"])],
    ),
    "DNA": table("dna.tsv", "", lambda d, n: [word_of("ACGT", d, 40), d.choice(["0", "1"])], "\t"),
    "few of one kind": table("r.csv", "text y", lambda d, n: [sentence(d), str(int(n % 20 == 0))], count=200),
    "many intents": table("q.tsv", "", lambda d, n: [sentence(d), f"ask_{n % 20}"], "\t", count=300),
    "user, help and stars": table(
        "r.csv",
        "user helpful text stars",
        lambda d, n: [f"u{d.randint(0, 900)}", str(d.randint(0, 50)), sentence(d), str(d.randint(1, 5))],
        count=100,
    ),
    "folder": by_folder("pos", "neg"),
    "zip": by_folder("sport", "politik", "kultur", packed=True),
    "French stars": table("avis.csv", "avis note", lambda d, n: [sentence(d, FR), str(d.randint(1, 5))], ";"),
    "Japanese": table("r.tsv", "文 ラベル", lambda d, n: [chinese(d) + "です", d.choice(["正", "負"])], "\t"),
    "Arabic": table("r.csv", "", lambda d, n: [sentence(d, AR), d.choice(["جيد", "سيئ"])]),
    "label and text, named": table("r.tsv", "label text", lambda d, n: [d.choice(["world", "art"]), sentence(d)], "\t"),
    "long texts": table("r.csv", "", lambda d, n: [sentence(d, low=200, high=300), d.choice(["pos", "neg"])], count=40),
    "two texts unlike each other": table(
        "r.tsv", "", lambda d, n: [*two_of(d, EN, ES), d.choice(["art", "war", "tax"])], "\t"
    ),
    "names": table("n.csv", "name gender", lambda d, n: [word_of("aeioulmnrst", d, 6), d.choice("fm")]),
    "an unnamed index": written("r.csv", ",text,label\n" + "".join(f"{n},the film {n},{n % 2}\n" for n in range(60))),
    "commas in the text": table("r.csv", "", lambda d, n: [sentence(d) + ", " + sentence(d), d.choice(["a", "b"])]),
}
LABEL: dict[str, Make] = {
    "commas": table("r.tsv", "text labels", lambda d, n: [sentence(d), ",".join(several(d, "joy anger fear"))], "\t"),
    "numbers and ids": table(
        "r.tsv", "", lambda d, n: [sentence(d), ",".join(several(d, "4 27 3 11")), word_of("abcdefghij", d, 7)], "\t"
    ),
    "JSON lists": jsonl("r.jsonl", lambda d, n: {"text": sentence(d), "topics": several(d, "tax war art")}),
    "switches": table(
        "r.csv", "id comment toxic obscene threat", lambda d, n: [str(n), sentence(d), *d.choices("01", k=3)]
    ),
    "Spanish, bars": table(
        "r.tsv", "título géneros", lambda d, n: [sentence(d, ES), "|".join(several(d, "drama terror humor"))], "\t"
    ),
    "__label__ lines": table(
        "r.txt", "", lambda d, n: [" ".join(f"__label__{one}" for one in several(d, "a b c")), sentence(d)], " "
    ),
    "the labels first": table(
        "r.tsv", "topics body", lambda d, n: [",".join(several(d, "money grain crude trade")), sentence(d)], "\t"
    ),
    "semicolons": table("r.csv", "", lambda d, n: [sentence(d), ";".join(several(d, "rot grün blau"))]),
    "lists in Parquet": parquet("r.parquet", lambda d, n: {"body": sentence(d), "tags": several(d, "x y z")}),
}
TAG: dict[str, Make] = {
    "CoNLL": conll("t.conll", lambda d, at: [f"{d.choice(EN)}{d.randint(0, 9)}", d.choice(NAMED)], "\t"),
    "CoNLL, four columns": conll(
        "t.txt", lambda d, at: [f"{d.choice(EN)}{d.randint(0, 9)}", d.choice(TAGS), "O", d.choice(NAMED)], " "
    ),
    "Spanish, a space between": conll(
        "esp.train", lambda d, at: [f"{d.choice(ES)}{d.randint(0, 9)}", d.choice(["NC", "VMI"]), d.choice(NAMED)], " "
    ),
    "Arabic": conll("t.bio", lambda d, at: [f"{d.choice(AR)}{d.randint(0, 9)}", d.choice(NAMED)], "\t"),
    "German .tsv": conll("t.tsv", lambda d, at: [f"{d.choice(DE)}{d.randint(0, 9)}", d.choice(NAMED)], "\t"),
    "CoNLL-U": conll("t.conllu", universal, "\t", before="# sent_id = {}\n"),
    "lists": jsonl("t.jsonl", lambda d, n: dict(zip(("tokens", "ner_tags"), tagged(d), strict=True))),
    "lists in Parquet": parquet("t.pq", lambda d, n: dict(zip(("words", "pos"), tagged(d), strict=True))),
    "numbered tags": jsonl(
        "t.jsonl", lambda d, n: dict(zip(("tokens", "ner_tags"), tagged(d, (0, 1, 2, 3)), strict=True))
    ),
    "spaces": table("t.csv", "text tags", lambda d, n: [" ".join(side) for side in tagged(d)]),
    "in step": parallel("seq.in seq.tags", lambda d: tuple(" ".join(side) for side in tagged(d, NAMED))),
}
TRANSLATE: dict[str, Make] = {
    "TSV": table("p.tsv", "", lambda d, n: list(two_of(d, EN, ES)), "\t"),
    "named": table("p.csv", "source target", lambda d, n: list(two_of(d, EN, DE))),
    "languages": jsonl("p.jsonl", lambda d, n: dict(zip(("de", "en"), two_of(d, DE, EN), strict=True))),
    "parallel": parallel("a.de a.en", lambda d: two_of(d, DE, EN)),
    "words of one length": table(
        "p.tsv", "", lambda d, n: [word := word_of("abcde", d, 4), " ".join(reversed(word))], "\t", count=240
    ),
    "phones": table("p.tsv", "", lambda d, n: spoken(d), "\t"),
    "inflection": table("p", "", lambda d, n: list(inflected(d)), "\t"),
    "inflection, form last": table("p", "", lambda d, n: last_form(d), "\t"),
    "many forms of few words": table(
        "p", "", lambda d, n: list(inflected(random.Random(d.randint(0, 20)))) if n % 2 else forms(d), "\t", count=600
    ),
    "pronounced": table("p.tsv", "", lambda d, n: [spoken(d)[0], " ".join(spoken(d)[0]).replace("e", "ə")], "\t"),
    "attribution": table(
        "p.txt", "", lambda d, n: [*two_of(d, EN, ES), f"CC-BY 2.0 (France) Attribution: tatoeba.org #{n}"], "\t"
    ),
    "Chinese": table("p.tsv", "", lambda d, n: [sentence(d), chinese(d)], "\t"),
    "few rows": table("p.tsv", "", lambda d, n: [f"{s}{n}" for s in two_of(d, EN, ES)], "\t", count=8),
    "Russian, an id": table("p.csv", "id english russian", lambda d, n: [str(n), *two_of(d, EN, RU)]),
    "question and answer": jsonl(
        "p.jsonl", lambda d, n: dict(zip(("question", "answer"), two_of(d, EN, EN), strict=True))
    ),
    "numbers in words": table("p.tsv", "", lambda d, n: [sentence(d, low=2, high=4), str(d.randint(0, 9999))], "\t"),
    "dates": table(
        "p.tsv", "", lambda d, n: [f"{n % 28 + 1} May {1900 + n}", f"{1900 + n}-05-{n % 28 + 1:02}"], "\t", count=90
    ),
    "instructions": jsonl(
        "p.jsonl", lambda d, n: {"instruction": "Say it.", "input": sentence(d), "output": sentence(d, high=30)}
    ),
    "Parquet": parquet("p.parquet", lambda d, n: dict(zip(("src", "tgt"), two_of(d, RU, EN), strict=True))),
}
MATCH: dict[str, Make] = {
    "entailment": table(
        "m.txt",
        "pair_ID sentence_A sentence_B relatedness_score entailment_judgment",
        lambda d, n: [str(n), *alike(d), f"{d.uniform(1, 5):.1f}", d.choice(["NEUTRAL", "ENTAILMENT"])],
        "\t",
    ),
    "premise": table("m.csv", "premise hypothesis label", lambda d, n: [*alike(d), str(d.randint(0, 2))]),
    "questions": table(
        "m.csv",
        "id qid1 qid2 question1 question2 is_duplicate",
        lambda d, n: [str(n), str(2 * n), str(2 * n + 1), *alike(d), d.choice("01")],
    ),
    "JSONL": jsonl(
        "m.jsonl",
        lambda d, n: {**dict(zip(("sentence1", "sentence2"), alike(d), strict=True)), "gold_label": d.choice("abc")},
    ),
    "no header": table("m.tsv", "", lambda d, n: [*alike(d), d.choice("01")], "\t"),
    "parses and lists beside": jsonl(
        "m.jsonl",
        lambda d, n: {
            "annotator_labels": [d.choice("abc") for _ in range(5)],
            "gold_label": d.choice("abc"),
            "pairID": f"{n}r1",
            **dict(zip(("sentence1", "sentence2"), alike(d), strict=True)),
        },
    ),
    "strings with ids": table(
        "m.tsv",
        "Quality #1_ID #2_ID #1_String #2_String",
        lambda d, n: [d.choice("01"), str(n), str(2 * n), *alike(d)],
        "\t",
    ),
    "the label first": table("m.tsv", "", lambda d, n: [d.choice("01"), *alike(d, DE)], "\t"),
    "a passage": jsonl(
        "m.jsonl",
        lambda d, n: {"question": sentence(d), "passage": sentence(d, low=30, high=50), "answer": d.random() < 0.5},
    ),
    "paraphrases": table(
        "m.tsv", "id sentence1 sentence2 label", lambda d, n: [str(n), *alike(d, FR), d.choice("01")], "\t"
    ),
    "Spanish": table("m.csv", "premisa hipótesis etiqueta", lambda d, n: [*alike(d, ES), d.choice(["sí", "no"])]),
}
GENERATE: dict[str, Make] = {
    "prose": written("t.txt", "\n\n".join(sentence(random.Random(n), high=60) + "." for n in range(40))),
    "lines": written("t.txt", "\n".join(sentence(random.Random(n), ES) + "," for n in range(60))),
    "one column": table("t.csv", "text", lambda d, n: [sentence(d)]),
    "text and id": jsonl("t.jsonl", lambda d, n: {"id": n, "url": f"http://x.org/{n}", "text": sentence(d, high=40)}),
    "text and a name": table("t.tsv", "", lambda d, n: [sentence(d, low=6), word_of("0123456789abcdef", d, 7)], "\t"),
    "text and when": table("t.csv", "text date", lambda d, n: [sentence(d, low=6), f"20{n:02}-01-02"]),
    "folder": by_folder(),
    "Chinese": written("t.txt", "。".join(chinese(random.Random(n)) for n in range(200)) + "。"),
}
ESTIMATE: dict[str, Make] = {
    "sequences": table("w.csv", "signal strength", lambda d, n: [numbers(d), f"{d.random():.3f}"]),
    "no header": table("w.tsv", "", lambda d, n: [numbers(d), str(d.randint(0, 900))], "\t"),
    "channels": table(
        "w.tsv", "sequence target", lambda d, n: [numbers(d).replace(" ", ",1 ") + ",1", f"{d.random():.3f}"], "\t"
    ),
}
NONE: dict[str, Make] = {
    "numbers": table("s.csv", "x y z", lambda d, n: [f"{d.random():.3f}" for _ in range(3)]),
    "two texts and a score": table("s.tsv", "", lambda d, n: [*alike(d), f"{d.uniform(0, 5):.2f}"], "\t"),
    "texts and prices": table("s.csv", "text price", lambda d, n: [sentence(d, low=9), f"{d.uniform(5, 90):.2f}"]),
}
SMALL_SERIES: dict[str, Make] = {
    "a series": table("s.csv", "date value", lambda d, n: [f"19{n:02}-01-01", f"{d.random():.2f}"]),
    "counts by month": table("s.csv", "Month Count", lambda d, n: [f"19{n:02}-01", str(d.randint(0, 5))]),
    "runs": table("s.csv", "run step x", lambda d, n: [str(n // 20), str(n % 20), f"{d.random():.3f}"]),
}
SHAPES: dict[str, dict[str, Make]] = {
    "classify": CLASSIFY,
    "label": LABEL,
    "tag": TAG,
    "translate": TRANSLATE,
    "match": MATCH,
    "generate": GENERATE,
    "estimate": ESTIMATE,
    "forecast": FORECAST | SMALL_SERIES,
    "": NONE,
}
