"""Sentences with a tag for each word."""

import random
from pathlib import Path

from tests.journeys.real_files.contents import NAMES, PLACES, Expected, Make, real, sentence, write


def entities(count: int, seed: int = 0) -> list[list[tuple[str, str]]]:
    """Sentences of words with tags in the BIO scheme."""
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        first, last = draw.choice(NAMES).split()
        before, after = sentence(draw, low=1, high=3).split(), sentence(draw, low=1, high=4).split()
        words = [(first, "B-PER"), (last, "I-PER"), *((word, "O") for word in before), (draw.choice(PLACES), "B-LOC")]
        found.append([*words, *((word, "O") for word in after), (".", "O")])
    return found


TAGS = ("B-LOC", "B-PER", "I-PER", "O")


@real("CoNLL-2003")
def conll_2003(folder: Path) -> Expected:
    blocks = ["-DOCSTART- -X- -X- O\n"]
    for at, words in enumerate(entities(60)):
        blocks += ["-DOCSTART- -X- -X- O\n"] if at == 30 else []
        blocks.append("".join(f"{word} NNP B-NP {tag}\n" for word, tag in words))
    return Expected(write(folder, "eng.train", "\n".join(blocks) + "\n"), "tag", rows=60, labels=TAGS)


@real("CoNLL-2002")
def conll_2002(folder: Path) -> Expected:
    blocks = ["".join(f"{word} {tag}\n" for word, tag in words) for words in entities(60)]
    return Expected(write(folder, "esp.train", "\n".join(blocks) + "\n", "latin-1"), "tag", rows=60, labels=TAGS)


@real("CoNLL-U")
def conll_u(folder: Path) -> Expected:
    """Comments, a contraction that spans two words, an empty node."""
    blocks = []
    for at, words in enumerate(entities(60)):
        text = f"# sent_id = test-{at}\n# text = {' '.join(word for word, _ in words)}\n"
        for number, (word, tag) in enumerate(words, start=1):
            if number == 3:
                text += f"3-4\tdel\t{chr(9).join('_' * 8)}\n"
            upos = "PUNCT" if word == "." else "PROPN" if tag != "O" else "NOUN"
            text += f"{number}\t{word}\t{word.lower()}\t{upos}\t_\t_\t{number - 1}\tdep\t_\t_\n"
            if number == 2 and at % 10 == 0:
                text += "2.1\tis\tbe\tVERB\t_\t_\t_\t_\t0:root\t_\n"
        blocks.append(text)
    return Expected(
        write(folder, "es_test-ud-train.conllu", "\n".join(blocks) + "\n"),
        "tag",
        rows=60,
        labels=("NOUN", "PROPN", "PUNCT"),
    )


@real("BIO lines, one space")
def bio_lines(folder: Path) -> Expected:
    """No suffix that tells, Windows line ends, a blank at the end of each line."""
    blocks = ["".join(f"{word} {tag} \n" for word, tag in words) for words in entities(60)]
    return Expected(write(folder, "train.txt", "\n".join(blocks) + "\n", newline="\r\n"), "tag", rows=60, labels=TAGS)


@real("GermEval")
def germeval(folder: Path) -> Expected:
    """Tabs, a counter, a source line that begins with #, two layers of tags."""
    blocks = []
    for at, words in enumerate(entities(60)):
        text = f"#\thttp://de.example.org/{at} [2010-01-24]\n"
        blocks.append(
            text + "".join(f"{number}\t{word}\t{tag}\tO\n" for number, (word, tag) in enumerate(words, start=1))
        )
    return Expected(write(folder, "NER-de-train.tsv", "\n".join(blocks) + "\n"), "tag", rows=60, labels=TAGS)


TAG_FORMS = {
    "words and tags with a slash": ("brown.txt", " ", "{0}/{1}", "\n"),
    "words and tags with an underscore": ("tagged.txt", " ", "{0}_{1}", "\n"),
    "words and tags in CSV with blank lines": ("words.csv", "\n", "{0},{1}", "\n\n"),
    "tags before words": ("first.conll", "\n", "{1}\t{0}", "\n\n"),
}


def written(name: str) -> Make:
    """A file of words and parts of speech in one of these forms."""

    def make(folder: Path) -> Expected:
        file, space, form, end = TAG_FORMS[name]
        parts = {"O": "NN", "B-PER": "NNP", "I-PER": "NNP", "B-LOC": "LOC"}
        sentences = [[(word, parts[tag]) for word, tag in words[:-1]] for words in entities(60)]
        text = end.join(space.join(form.format(*word) for word in words) for words in sentences)
        head = "word,tag\n" if file.endswith(".csv") else ""
        return Expected(write(folder, file, f"{head}{text}\n"), "tag", rows=60, labels=("LOC", "NN", "NNP"))

    return make


for each in TAG_FORMS:
    real(each)(written(each))
