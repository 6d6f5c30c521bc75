"""The worst outputs of each model, with the words that differ from the reference marked.

Each example belongs to a slice, its class or the length of its source, by which a reader can choose.
"""

from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any

from atento.data.records import counted
from atento.views.html import Markup, joined, tag
from atento.views.report.board import Row
from atento.views.report.table import model_name
from atento.views.wording import score, shortened

LONGEST_COMPARED = 400  # words; comparing takes time that grows with their square
MOST_PROBABLE = 4  # classes whose probabilities are shown
LONGEST_SLICE = 40  # characters of its name


def mistakes(row: Row, *, is_open: bool, far: bool = False) -> Markup:
    """One model's worst examples, wrong ones first; of numbers, which are `far` off rather than wrong, all."""
    worst = sorted(row.worst, key=is_right)
    wrong = sum(not is_right(example) for example in worst) if row.mistakes is None else row.mistakes
    title = f"the {len(worst)} farthest off" if far else f"{counted(wrong, 'mistake')}, {len(worst)} shown"
    summary = joined(model_name(row.model), tag("span", title))
    has_classes = bool(row.other.get("class_report", {}).get("confusion"))
    verb = "Forecast" if far else "Predicted" if has_classes else "Wrote"
    items = [mistake(example, verb, group="" if far else slice_of(row, example, has_classes)) for example in worst]
    return tag(
        "details",
        tag("summary", summary),
        tag("ol", *items, class_="mistakes", data_slices="true class" if has_classes else "characters of the source"),
        open=is_open,
    )


def slice_of(row: Row, example: Mapping[str, Any], has_classes: bool) -> str:
    """The slice of an example: its true class, or the band of lengths of its source."""
    if has_classes:
        return shortened(in_line(example["reference"]), LONGEST_SLICE)
    source = example.get("asked", example["source"])
    if not isinstance(source, str) or any("by" in band for band in row.lengths):
        return ""
    return next((str(one["label"]) for one in row.lengths if one["from"] <= len(source) <= one["to"]), "")


def is_right(example: Mapping[str, Any]) -> bool:
    """Whether the output is a reference."""
    return in_line(example["output"]) in map(in_line, example.get("references", [example["reference"]]))


def in_line(output: Any) -> str:
    """An output as one line of text: what is a list has spaces between; of a list and its ranking, the list."""
    if isinstance(output, list):
        return in_line(output[0]) if output and isinstance(output[0], list) else " ".join(map(str, output))
    return str(output).replace("\t", " ")


def mistake(example: Mapping[str, Any], verb: str, *, group: str = "") -> Markup:
    """What was read, written and expected; of classes also how probable each was."""
    output, reference, far = in_line(example["output"]), in_line(example["reference"]), verb == "Forecast"
    facts = {"Source": tag("span", in_line(example["source"]))}
    if is_right(example):
        facts[verb] = joined(tag("span", output), tag("em", " – right, but least sure"))
    else:
        wrote = tag("span", output) if far else joined(marked(output, reference), tag("span", "wrong", class_="wrong"))
        facts |= {verb: wrote, "Actual" if far else "Reference": tag("span", reference)}
    lines = [tag("div", tag("dt", name), tag("dd", text, dir="auto")) for name, text in facts.items()]
    return tag("li", tag("dl", *lines), certainty(example), data_slice=group or None)


def certainty(example: Mapping[str, Any]) -> Markup:
    """How sure the model was: the probabilities of the likeliest classes as bars, or the log-likelihood."""
    known: Mapping[str, float] = example.get("probabilities") or {}
    if known:
        likeliest = sorted(known.items(), key=lambda pair: -pair[1])[:MOST_PROBABLE]
        true = {in_line(reference) for reference in example.get("references", [example["reference"]])}
        rows = [
            tag(
                "div",
                tag("dt", tag("bdi", shortened(label, LONGEST_SLICE)), " (true)" if label in true else ""),
                tag(
                    "dd",
                    tag("meter", value=f"{chance:.4f}", max="1", aria_hidden="true"),
                    f"{chance:.0%}".replace("%", " %"),
                ),
            )
            for label, chance in likeliest
        ]
        return tag("dl", *rows, class_="chances", aria_label="probabilities of the classes")
    if example.get("score") is None:
        return Markup()
    return tag("p", f"log-likelihood {score(example['score'])}", class_="note")


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
