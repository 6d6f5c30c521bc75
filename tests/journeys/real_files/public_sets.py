"""Public data sets of text, in the form in which they are downloaded: files, and folders with their official parts."""

import json
import random
from pathlib import Path

from tests.journeys.real_files.contents import WORDS, Expected, lines, real, reviews, sentence, write
from tests.journeys.real_files.words import entities

JUDGED = ("neutral", "entailment", "contradiction")


def judged_pairs(count: int, seed: int) -> list[dict[str, str]]:
    """Pairs of sentences as SNLI has them, some without a label on which the annotators agree."""
    draw = random.Random(seed)
    return [
        {
            "captionID": f"{seed}{at}.jpg#4",
            "gold_label": "-" if at % 40 == 7 else JUDGED[at % 3],
            "pairID": f"{seed}{at}.jpg#4r1n",
            "sentence1": (one := sentence(draw)),
            "sentence1_parse": f"(ROOT (S {one}) (. .))",
            "sentence2": (other := sentence(draw)),
            "sentence2_parse": f"(ROOT (S {other}) (. .))",
        }
        for at in range(count)
    ]


@real("SNLI")
def snli(folder: Path) -> Expected:
    """A column names the images that were described; the dash is no label."""
    for part, count in (("train", 120), ("dev", 40), ("test", 40)):
        rows = "".join(json.dumps(row) + "\n" for row in judged_pairs(count, count + len(part)))
        write(folder, f"snli_1.0_{part}.jsonl", rows)
    return Expected(
        str(folder),
        "match",
        {"first": "sentence1", "second": "sentence2", "label": "gold_label"},
        labels=tuple(sorted(JUDGED)),
        says=("3 rows left out: their label '-' says that they have none", "117 rows to train, 39 to validate"),
    )


@real("GLUE, MNLI")
def mnli(folder: Path) -> Expected:
    """Ten columns with a number first are no CoNLL-U, and two validation files are a choice that is said."""
    draw = random.Random(3)
    head = ["index", "promptID", "pairID", "genre", "sentence1_parse", "sentence2_parse", "sentence1", "sentence2"]
    labels = {"train": ["label1", "gold_label"], "dev_matched": ["label1", "label2", "gold_label"]}
    labels |= {"dev_mismatched": labels["dev_matched"], "test_matched": []}
    for part, more in labels.items():
        rows = [[*head, *more]]
        for at in range(60):
            one, other = sentence(draw), sentence(draw)
            facts = [str(at), str(at + 31193), f"{at}n", ("fiction", "travel")[at % 2], f"({one})", f"({other})"]
            rows.append([*facts, one, other, *(JUDGED[(at + len(name) * (name != "gold_label")) % 3] for name in more)])
        write(folder, f"{part}.tsv", lines(rows, "\t"))
    return Expected(
        str(folder),
        "match",
        {"first": "sentence1", "second": "sentence2", "label": "gold_label"},
        says=("dev_matched.tsv and dev_mismatched.tsv could each be data.valid", "no column 'label1' or 'gold_label'"),
    )


@real("GLUE, STS-B")
def sts(folder: Path) -> Expected:
    """A number says how alike two texts are; where they are from is no label of theirs."""
    draw = random.Random(4)
    rows = [["index", "genre", "filename", "year", "old_index", "a", "b", "sentence1", "sentence2", "score"]]
    rows += [
        [
            str(at),
            ("main-news", "main-captions")[at % 2],
            "MSRvid",
            "2012test",
            f"{at:04}",
            "none",
            "none",
            sentence(draw),
            sentence(draw),
            f"{draw.uniform(0, 5):.3f}",
        ]
        for at in range(80)
    ]
    return Expected(write(folder, "train.tsv", lines(rows, "\t")), says=("'score' scores how they compare",))


@real("Amazon reviews")
def amazon(folder: Path) -> Expected:
    """Votes are a list of two numbers."""
    rows = [
        {
            "reviewerID": f"A2IBPI20UZIR{at:03}",
            "asin": f"13847193{at % 7:02}",
            "helpful": [at % 3, at % 5],
            "reviewText": text,
            "overall": float(stars),
            "reviewTime": "02 28, 2014",
        }
        for at, (text, stars) in enumerate(reviews(120, labels=("1", "4", "5")))
    ]
    path = write(folder, "Musical_Instruments_5.json", "".join(json.dumps(row) + "\n" for row in rows))
    return Expected(
        path, "classify", {"text": "reviewText", "label": "overall"}, rows=120, labels=("1.0", "4.0", "5.0")
    )


@real("airline tweets")
def airline(folder: Path) -> Expected:
    """One row in nine says where it was written."""
    moods = ("negative", "neutral", "positive")
    rows = [["tweet_id", "airline_sentiment", "airline", "text", "tweet_coord", "tweet_created"]]
    rows += [
        [
            str(570306133677760513 + at),
            mood,
            ("Delta", "United")[at % 2],
            text,
            "" if at % 9 else f"[{40 + at / 7:.4f}, -73.9]",
            "2015-02-24 11:35:52 -0800",
        ]
        for at, (text, mood) in enumerate(reviews(180, labels=moods))
    ]
    path = write(folder, "Tweets.csv", lines(rows, ","))
    return Expected(path, "classify", {"text": "text", "label": "airline_sentiment"}, rows=180, labels=moods)


@real("Stack Overflow questions")
def stack_overflow(folder: Path) -> Expected:
    draw = random.Random(6)
    topics = ("c++", "pandas", "python", "sql")
    rows = [["Id", "Body", "Tags"]]
    rows += [
        [str(at), f"<p>{sentence(draw)}</p>\n", "".join(f"<{tag}>" for tag in draw.sample(topics, draw.randint(1, 3)))]
        for at in range(150)
    ]
    return Expected(
        write(folder, "Questions.csv", lines(rows, ",")), "label", {"text": "Body", "labels": "Tags"}, labels=topics
    )


@real("Alpaca")
def alpaca(folder: Path) -> Expected:
    """Two rows in three have no input."""
    draw = random.Random(7)
    rows = [
        {"instruction": sentence(draw), "input": "" if at % 3 else sentence(draw), "output": sentence(draw)}
        for at in range(90)
    ]
    return Expected(
        write(folder, "alpaca_data.json", json.dumps(rows, indent=4)),
        "translate",
        {"source": "prompt", "target": "response"},
        example=("prompt", f"{rows[0]['instruction']}\n{rows[0]['input']}"),
    )


@real("CNN/DailyMail")
def summaries(folder: Path) -> Expected:
    draw = random.Random(8)
    rows = [["id", "article", "highlights"]]
    rows += [[f"{draw.getrandbits(80):020x}", sentence(draw, low=30, high=60), sentence(draw)] for _ in range(60)]
    path = write(folder, "train.csv", lines(rows, ","))
    return Expected(path, "translate", {"source": "article", "target": "highlights"}, rows=60)


@real("texts with a title")
def articles(folder: Path) -> Expected:
    """Names of rows are no source, whatever the texts are called."""
    draw = random.Random(9)
    rows = [["uuid", "Body", "Headline"]]
    rows += [[f"{draw.getrandbits(80):020x}", sentence(draw, low=30, high=60), sentence(draw)] for _ in range(60)]
    path = write(folder, "news.csv", lines(rows, ","))
    return Expected(path, "translate", {"source": "Body", "target": "Headline"}, rows=60)


def pronounced(count: int) -> list[tuple[str, str]]:
    """Words and their phones."""
    draw = random.Random(10)
    phones = {
        "A": "AE1",
        "E": "EH0",
        "I": "IH1",
        "O": "OW0",
        "B": "B",
        "D": "D",
        "K": "K",
        "L": "L",
        "N": "N",
        "S": "S",
    }
    words = sorted(
        {"".join(draw.choice("BDKLNS") + draw.choice("AEIO") for _ in range(draw.randint(2, 4))) for _ in range(count)}
    )
    return [(word, " ".join(phones[letter] for letter in word)) for word in words]


@real("CMUdict")
def cmudict(folder: Path) -> Expected:
    entries = pronounced(150)
    again = f"{entries[3][0]}(1)  {entries[4][1]}\n"
    body = "".join(f"{word}  {phones}\n" for word, phones in entries)
    path = write(folder, "cmudict-0.7b", f";;; # CMUdict  --  Major Version: 0.07\n;;; \n{body}{again}")
    return Expected(path, "translate", {"source": "word", "target": "phones"}, example=("word", entries[0][0]))


@real("Kaldi lexicon")
def kaldi(folder: Path) -> Expected:
    entries = pronounced(150)
    path = write(folder, "lexiconp.txt", "".join(f"{word} 1.0 {phones}\n" for word, phones in entries))
    return Expected(path, "translate", {"source": "word", "target": "phones"}, example=("phones", entries[0][1]))


@real("names by nationality")
def nationalities(folder: Path) -> Expected:
    """A file for each class, a name on each line."""
    ends = {"Italian": "ini", "Russian": "ov", "Spanish": "ez"}
    for label, end in ends.items():
        draw = random.Random(label)
        names = sorted({"".join(draw.choices("abdeglmnorst", k=5)).title() + end for _ in range(60)})
        write(folder, f"names/{label}.txt", "".join(f"{name}\n" for name in names))
    return Expected(str(folder / "names"), "classify", {"text": "text", "label": "label"}, labels=tuple(ends))


@real("rt-polarity")
def polarity(folder: Path) -> Expected:
    """A file for each class that is named by its suffix, in Latin-1, with a control character in it."""
    rows = reviews(120, "fr")
    for label in ("neg", "pos"):
        text = "".join(f"{text} \n" for text, given in rows if given == label)
        write(folder, f"rt-polarity.{label}", f"\x12{text}", "latin-1")
    return Expected(str(folder), "classify", {"text": "text", "label": "label"}, labels=("neg", "pos"))


@real("aclImdb")
def imdb(folder: Path) -> Expected:
    """Most texts of the training part have no label."""
    for part, labels in (("train", ("neg", "pos", "unsup")), ("test", ("neg", "pos"))):
        for at, (text, label) in enumerate(reviews(90, labels=labels, seed=len(part))):
            write(folder, f"{part}/{label}/{at}_7.txt", text)
        write(folder, f"{part}/urls_pos.txt", "http://www.imdb.com/title/tt0453418/usercomments\n")
    return Expected(
        str(folder),
        "classify",
        {"text": "text", "label": "label"},
        labels=("neg", "pos"),
        says=("left out: their label 'unsup' says that they have none", "test beside it is data.test"),
    )


@real("CoNLL-2002, its three parts")
def conll_parts(folder: Path) -> Expected:
    for part, count in (("train", 60), ("testa", 30), ("testb", 20)):
        blocks = ["".join(f"{word} {tag}\n" for word, tag in words) for words in entities(count, seed=count)]
        write(folder, f"esp.{part}", "\n".join(blocks) + "\n", "latin-1")
    return Expected(str(folder), "tag", says=("60 rows to train, 30 to validate, 20 to test",))


@real("GermEval, names inside names")
def germeval_layers(folder: Path) -> Expected:
    """The outer layer is learned, not the few names inside others."""
    blocks = []
    for at, words in enumerate(entities(60)):
        rows = [(word, tag, "B-LOC" if at % 9 == 0 and tag == "B-PER" else "O") for word, tag in words]
        text = f"#\thttp://de.example.org/{at} [2010-01-24]\n"
        blocks.append(text + "".join(f"{number}\t{chr(9).join(row)}\n" for number, row in enumerate(rows, start=1)))
    path = write(folder, "NER-de-train.tsv", "\n".join(blocks) + "\n")
    return Expected(path, "tag", rows=60, labels=("B-LOC", "B-PER", "I-PER", "O"))


@real("SNIPS")
def snips(folder: Path) -> Expected:
    """seq.in holds the words, seq.out their slots, line by line."""
    for part, count in (("train", 80), ("valid", 30), ("test", 20)):
        texts = entities(count, seed=count)
        write(folder, f"{part}/seq.in", "".join(" ".join(word for word, _ in words) + "\n" for words in texts))
        write(folder, f"{part}/seq.out", "".join(" ".join(tag for _, tag in words) + "\n" for words in texts))
        write(folder, f"{part}/label", "PlayMusic\n" * count)
    return Expected(str(folder), "tag", {"words": "in", "tags": "out"}, says=("30 to validate, 20 to test",))


@real("SIGMORPHON 2020")
def sigmorphon(folder: Path) -> Expected:
    """trn, dev and tst are parts, no languages; the test part lacks the forms."""
    draw = random.Random(12)
    stems = sorted({"".join(draw.choices("abdeglmnorst", k=6)) for _ in range(60)})
    forms = [
        (f"{stem}ar", f"{stem}{end}", f"V;PRS;{person};SG")
        for stem in stems
        for end, person in (("o", "1"), ("as", "2"))
    ]
    write(folder, "spa.trn", "".join("\t".join(row) + "\n" for row in forms[:80]))
    write(folder, "spa.dev", "".join("\t".join(row) + "\n" for row in forms[80:100]))
    write(folder, "spa.tst", "".join(f"{lemma}\t{features}\n" for lemma, _, features in forms[100:]))
    return Expected(
        str(folder),
        "translate",
        {"source": "1", "target": "2", "features": "3"},
        says=("spa.dev beside it is data.valid", "spa.tst beside it is not taken as data.test"),
    )


@real("a column for the parts")
def parts_in_a_column(folder: Path) -> Expected:
    parts = ("train", "train", "dev", "test")
    rows = [[parts[at % 4], text, label] for at, (text, label) in enumerate(reviews(120))]
    return Expected(
        write(folder, "reviews.csv", lines([["split", "text", "label"], *rows], ",")),
        "classify",
        {"text": "text", "label": "label"},
        says=("column 'split' says the part of each row", "60 rows to train, 30 to validate, 30 to test"),
    )


@real("genres, between three colons")
def genres(folder: Path) -> Expected:
    kinds = ("comedy", "drama", "thriller")
    rows = reviews(120, labels=kinds)
    body = "".join(
        f"{at} ::: Film {at} ({1950 + at}) ::: {kind} ::: {text}, {text}.\n" for at, (text, kind) in enumerate(rows)
    )
    path = write(folder, "train_data.txt", body)
    return Expected(path, "classify", {"text": "4", "label": "3"}, rows=120, labels=kinds)


@real("sentence pairs between three bars")
def three_bars(folder: Path) -> Expected:
    draw = random.Random(13)
    body = "".join(f"{sentence(draw)} . ||| {sentence(draw, 'es')} .\n" for _ in range(100))
    return Expected(write(folder, "corpus.txt", body), "translate", {"source": "1", "target": "2"}, rows=100)


@real("Excel Unicode text with line breaks")
def unicode_text(folder: Path) -> Expected:
    rows = reviews(80, "es")
    rows[2][0] = f"{rows[2][0]}\n«{WORDS['es'].split()[1]}» \t{rows[2][0]}"
    path = write(folder, "opiniones.txt", "\ufeff" + lines([["Texto", "Opinión"], *rows], "\t"), "utf-16-le", "\r\n")
    return Expected(path, "classify", {"text": "Texto", "label": "Opinión"}, rows=80)
