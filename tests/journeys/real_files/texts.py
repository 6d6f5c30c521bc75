"""Translations, labelled lines and JSON documents."""

import json
import random
from pathlib import Path

from tests.journeys.real_files.contents import WORDS, Expected, lines, real, reviews, sentence, write


def parallel(count: int) -> list[tuple[str, str]]:
    """Sentences and their word-by-word renderings."""
    draw = random.Random(11)
    into = dict(zip(WORDS["en"].split(), WORDS["es"].split(), strict=False))
    return [
        (text, " ".join(into.get(word, word) for word in text.split()))
        for text in (sentence(draw) for _ in range(count))
    ]


@real("TMX")
def tmx(folder: Path) -> Expected:
    units = "".join(
        f'    <tu>\n      <tuv xml:lang="en"><seg>{one} &amp; more</seg></tuv>\n      <tuv xml:lang="es"><seg>{other} &amp; más</seg></tuv>\n    </tu>\n'  # noqa: E501
        for one, other in parallel(80)
    )
    text = f'<?xml version="1.0" encoding="UTF-8" ?>\n<tmx version="1.4">\n  <header creationtool="Uplug" srclang="en" adminlang="en" datatype="unknown" segtype="sentence" o-tmf="unknown"/>\n  <body>\n{units}  </body>\n</tmx>\n'  # noqa: E501
    return Expected(write(folder, "en-es.tmx", text), "translate", {"source": "en", "target": "es"}, rows=80)


@real("Moses")
def moses(folder: Path) -> Expected:
    pairs = parallel(120)
    one = write(folder, "corpus.es-en.en", "".join(f"{text}\n" for text, _ in pairs))
    other = write(folder, "corpus.es-en.es", "".join(f"{text}\n" for _, text in pairs))
    return Expected(f"{one},{other}", "translate", {"source": "en", "target": "es"}, rows=120)


@real("Tatoeba pairs, as Anki's")
def tatoeba_anki(folder: Path) -> Expected:
    """No header; the third column says whose sentences they are."""
    credit = "CC-BY 2.0 (France) Attribution: tatoeba.org #{} (CM) & #{} (cueyayotl)"
    body = "".join(
        f"{one}\t{other}\t{credit.format(2_877_272 + 17 * at, 1_158_250 + 31 * at)}\n"
        for at, (one, other) in enumerate(parallel(120))
    )
    return Expected(write(folder, "spa.txt", body), "translate", {"source": "1", "target": "2"}, rows=120)


@real("Tatoeba export, with numbers")
def tatoeba_export(folder: Path) -> Expected:
    body = "".join(
        f"{1276 + 7 * at}\t{one}\t{2481 + 13 * at}\t{other}\n" for at, (one, other) in enumerate(parallel(120))
    )
    return Expected(
        write(folder, "Sentence pairs in English-Spanish - 2024-01-31.tsv", "\ufeff" + body),
        "translate",
        {"source": "2", "target": "4"},
        rows=120,
    )


@real("Tatoeba sentences, three columns")
def tatoeba_sentences(folder: Path) -> Expected:
    draw = random.Random(12)
    body = "".join(
        f"{1276 + 7 * at}\t{language}\t{sentence(draw, code)}\n"
        for at, (language, code) in enumerate([("deu", "de"), ("spa", "es"), ("fra", "fr")] * 50)
    )
    return Expected(
        write(folder, "sentences.csv", body),
        "classify",
        {"text": "3", "label": "2"},
        rows=150,
        labels=("deu", "fra", "spa"),
    )


@real("fastText, several labels")
def fasttext(folder: Path) -> Expected:
    draw = random.Random(13)
    topics = ("baking", "food-safety", "equipment")
    body = "".join(
        f"{' '.join(f'__label__{each}' for each in draw.sample(topics, draw.randint(1, 2)))} {sentence(draw)} ?\n"
        for _ in range(150)
    )
    return Expected(
        write(folder, "cooking.train", body),
        "label",
        {"text": "text", "labels": "label"},
        rows=150,
        labels=tuple(sorted(topics)),
    )


@real("SQuAD")
def squad(folder: Path) -> Expected:
    """Answers are spans of a context: none of the tasks reads spans, and it must say so."""
    draw = random.Random(14)
    articles = []
    for at in range(8):
        context = ". ".join(sentence(draw) for _ in range(6)) + "."
        words = context.split()
        asked = [
            {
                "id": f"q{at}-{each}",
                "question": f"what {sentence(draw, low=4, high=6)} ?",
                "answers": [{"text": words[5 * each], "answer_start": context.index(words[5 * each])}],
                "is_impossible": False,
            }
            for each in range(5)
        ]
        articles.append({"title": f"Article {at}", "paragraphs": [{"context": context, "qas": asked}]})
    return Expected(
        write(folder, "train-v2.0.json", json.dumps({"version": "v2.0", "data": articles})),
        refused=True,
        because="span",
    )


@real("questions that repeat beside candidate answers")
def candidate_answers(folder: Path) -> Expected:
    """93 questions, each on several rows with an answer that a label accepts or not, as WikiQA has them."""
    draw = random.Random(93)
    asked = [f"how {sentence(draw, low=5, high=8)} ?" for _ in range(93)]
    rows = [
        [question, str(int(each == at % 5)), sentence(draw, low=8, high=20)]
        for at, question in enumerate(asked)
        for each in range(5)
    ]
    return Expected(
        write(folder, "qa.tsv", lines([["question", "label", "answer"], *rows], "\t")),
        "match",
        {"first": "question", "second": "answer", "label": "label"},
        rows=465,
        labels=("0", "1"),
    )


@real("Hugging Face to_json")
def hugging_face(folder: Path) -> Expected:
    r"""ASCII escapes, and labels as numbers."""
    rows = reviews(120, "fr", ("0", "1"))
    rows[0][0] = "où est passé l\u2019été ?\u2028Très loin"  # a separator that str.splitlines would cut
    body = "".join(
        json.dumps({"text": text, "label": int(label), "idx": at}) + "\n" for at, (text, label) in enumerate(rows)
    )
    return Expected(
        write(folder, "train.json", body),
        "classify",
        {"text": "text", "label": "label"},
        rows=120,
        labels=("0", "1"),
        example=("text", rows[0][0]),
    )


@real("JSON list of records")
def json_records(folder: Path) -> Expected:
    """What pandas' to_json(orient="records") and most web services give, indented."""
    rows = [{"text": text, "meta": {"source": "web", "lang": "en"}, "label": label} for text, label in reviews(100)]
    return Expected(
        write(folder, "records.json", json.dumps(rows, indent=2)),
        "classify",
        {"text": "text", "label": "label"},
        rows=100,
        labels=("neg", "pos"),
    )


@real("one label after the other")
def sorted_labels(folder: Path) -> Expected:
    """1,200 lines of label 0, then as many of label 1."""
    rows = sorted(reviews(1100, labels=("0", "1")), key=lambda row: row[1])
    rows = [[text[:22].rsplit(" ", 1)[0], label] for text, label in rows]
    return Expected(
        write(folder, "sst.txt", "".join(f"{label} {text} {at}\n" for at, (text, label) in enumerate(rows))),
        "classify",
        {"text": "text", "label": "label"},
        rows=1100,
        labels=("0", "1"),
    )


@real("labels between slashes")
def slashes(folder: Path) -> Expected:
    draw = random.Random(5)
    feelings = ("anger", "fear", "joy", "love")
    rows = [[sentence(draw), "/".join(sorted(draw.sample(feelings, draw.randint(1, 3))))] for _ in range(150)]
    path = write(folder, "feelings.csv", lines([["text", "emotions"], *rows], ","))
    return Expected(path, "label", {"text": "text", "labels": "emotions"}, rows=150, labels=feelings)


@real("choices with a comma")
def choices_with_commas(folder: Path) -> Expected:
    topics = ("Food, drinks", "Room, view", "Staff")
    path = write(folder, "survey.csv", lines([["text", "topic"], *reviews(150, labels=topics)], ","))
    return Expected(path, "classify", {"text": "text", "label": "topic"}, rows=150, labels=topics)


@real("single quotes about cells")
def single_quotes(folder: Path) -> Expected:
    rows = [(f"{text}, isn''t it", label) for text, label in reviews(80)]
    body = "".join(f"'{text}','{label}'\n" for text, label in rows)
    return Expected(
        write(folder, "dump.csv", f"text,label\n{body}"),
        "classify",
        {"text": "text", "label": "label"},
        rows=80,
        labels=("neg", "pos"),
        example=("text", rows[0][0].replace("''", "'")),
    )


@real("UTF-16 without a mark")
def unmarked(folder: Path) -> Expected:
    path = write(folder, "export.csv", lines([["text", "label"], *reviews(80)], ","), "utf-16-le")
    return Expected(path, "classify", {"text": "text", "label": "label"}, rows=80, labels=("neg", "pos"))


@real("chat messages, role and content")
def chat(folder: Path) -> Expected:
    """The last answer is learned; what was said before it is the prompt, without the system's part."""
    draw = random.Random(6)
    said = [[sentence(draw) for _ in range(4)] for _ in range(60)]
    roles = ("user", "assistant", "user", "assistant")
    rows = [
        [{"role": "system", "content": "be brief"}]
        + [{"role": role, "content": text} for role, text in zip(roles, texts, strict=True)]
        for texts in said
    ]
    return Expected(
        write(folder, "chat.jsonl", "".join(json.dumps({"messages": row}) + "\n" for row in rows)),
        "translate",
        {"source": "prompt", "target": "response"},
        rows=60,
        example=("prompt", "\n".join(said[0][:3])),
    )


@real("chat messages, from and value")
def shared_chat(folder: Path) -> Expected:
    draw = random.Random(7)
    said = [(sentence(draw), sentence(draw)) for _ in range(60)]
    rows = [
        {"id": str(at), "conversations": [{"from": "human", "value": one}, {"from": "gpt", "value": other}]}
        for at, (one, other) in enumerate(said)
    ]
    return Expected(
        write(folder, "sharegpt.json", json.dumps(rows)),
        "translate",
        {"source": "prompt", "target": "response"},
        rows=60,
        example=("response", said[0][1]),
    )


@real("spaCy cats")
def spacy_cats(folder: Path) -> Expected:
    draw = random.Random(8)
    body = "".join(
        json.dumps({"text": sentence(draw), "cats": {"ROOM": draw.randint(0, 1), "STAFF": draw.randint(0, 1)}}) + "\n"
        for _ in range(120)
    )
    return Expected(
        write(folder, "cats.jsonl", body), "label", {"text": "text"}, rows=120, labels=("cats.ROOM", "cats.STAFF")
    )


@real("nested tickets with a tag in a few rows")
def tickets(folder: Path) -> Expected:
    """`tags` is named as labels are, but one row in seven has any; the queue says what each ticket is about."""
    draw = random.Random(9)
    queues = ("billing", "login", "shipping")
    body = "".join(
        json.dumps(
            {
                "id": at,
                "ticket": {"subject": sentence(draw, low=3, high=5), "body": sentence(draw)},
                "routing": {"queue": queues[draw.randrange(3)]},
                "priority": draw.randint(1, 4),
                "tags": ["vip"] * (at % 7 == 0),
            }
        )
        + "\n"
        for at in range(200)
    )
    return Expected(
        write(folder, "tickets.jsonl", body),
        "classify",
        {"text": "ticket.body", "label": "routing.queue"},
        rows=200,
        labels=queues,
    )
