"""The worst outputs of each model, with the words that differ from the reference marked."""

from difflib import SequenceMatcher
from typing import Any

from atento.looking.markup import Markup, joined, tag
from atento.looking.standings import Row
from atento.looking.wording import counted, score

LONGEST_COMPARED = 400  # words; comparing takes time that grows with their square


def mistakes(row: Row, *, is_open: bool, far: bool = False) -> Markup:
    """One model's worst examples, wrong ones first; of numbers, which are `far` off rather than wrong, all."""
    worst = sorted(row["worst"], key=is_right)
    wrong = row.get("mistakes", sum(not is_right(example) for example in worst))
    said = f"the {len(worst)} farthest off" if far else f"{counted(wrong, 'mistake')}, {len(worst)} shown"
    summary = joined(tag("bdi", row["model"]), tag("span", said))
    return tag(
        "details",
        tag("summary", summary),
        tag("ol", *(mistake(example, far=far) for example in worst), class_="mistakes"),
        open=is_open,
    )


def is_right(example: Row) -> bool:
    """Whether the output is a reference."""
    return in_line(example["output"]) in map(in_line, example.get("references", [example["reference"]]))


def in_line(output: Any) -> str:
    """An output as one line of text: what is a list has spaces between; of a list and its ranking, the list."""
    if isinstance(output, list):
        return in_line(output[0]) if output and isinstance(output[0], list) else " ".join(map(str, output))
    return str(output).replace("\t", " ")


def mistake(example: Row, *, far: bool = False) -> Markup:
    """What was read, written and expected."""
    output, reference = in_line(example["output"]), in_line(example["reference"])
    facts = {"Source": tag("span", in_line(example["source"]))}
    if is_right(example):
        facts["Wrote"] = joined(tag("span", output), tag("em", " – right, but least sure"))
    else:
        wrote = tag("span", output) if far else marked(output, reference)
        facts |= {"Forecast" if far else "Wrote": wrote, "Came" if far else "Reference": tag("span", reference)}
    lines = [tag("div", tag("dt", name), tag("dd", text, dir="auto")) for name, text in facts.items()]
    if example.get("score") is None:
        return tag("li", tag("dl", *lines))
    likelihood = tag("p", f"log-likelihood {score(example['score'])}", class_="note")
    return tag("li", tag("dl", *lines), likelihood)


def marked(output: str, reference: str) -> Markup:
    """The output with every word that the reference has not there marked."""
    if not output.strip():
        return tag("em", "nothing")
    words, wanted = output.split(" "), reference.split(" ")
    if max(len(words), len(wanted)) > LONGEST_COMPARED:
        return tag("span", output)
    parts = []
    for kind, start, stop, _, _ in SequenceMatcher(None, words, wanted, autojunk=False).get_opcodes():
        if start < stop:
            text = " ".join(words[start:stop])
            parts.append(joined(text) if kind == "equal" else tag("mark", text))
    return Markup(" ".join(parts))
