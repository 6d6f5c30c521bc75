"""The bottleneck: through one vector quality falls as sources grow; with attention it holds."""

import re

import pytest

import atento
from atento.data.builtin.numbers import number_pairs
from atento.views.wording import change

MODELS = ("gru", "gru+additive")
PARTS = {"train": 8000, "valid": 60, "test": 600}


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    """Spanish number words to English, word by word, too narrow a vector for the long ones."""
    place = tmp_path_factory.mktemp("bottleneck")
    pairs = number_pairs("es", "en", sizes=tuple(PARTS.values()))
    for part in PARTS:
        lines = "".join(f"{source}\t{target}\n" for source, target in getattr(pairs, part))
        (place / f"{part}.tsv").write_text(lines, encoding="utf-8")
    settings = {
        "data.valid": str(place / "valid.tsv"),
        "data.test": str(place / "test.tsv"),
        "data.header": "no",
        "tokens.source": "word",
        "tokens.target": "word",
        "model.hidden": 24,
        "train.steps": 250,
        "train.lr": 2e-2,
        "train.warmup": 20,
        "train.batch_tokens": 1024,
        "train.validations": 1,
    }
    options = {"task": "translate", "models": MODELS, "seed": 0, "device": "cpu"}
    return atento.compare(place / "train.tsv", settings=settings, out=place / "board", **options)


@pytest.mark.spec("E06")
def test_the_curve_of_attention_is_flatter(board):
    curves = {row.model: [band["value"] for band in row.lengths] for row in board.rows if row.model in MODELS}
    fixed, attentive = curves["gru"], curves["gru+additive"]
    assert len(fixed) == len(attentive) == 3
    assert all(above > below for above, below in zip(attentive, fixed, strict=True))
    assert fixed[0] - fixed[-1] > 0.15
    assert abs(attentive[0] - attentive[-1]) < 0.1
    assert fixed[-1] < 0.5 * fixed[0]


@pytest.mark.spec("E06")
def test_the_report_draws_both_curves(board):
    text = board.report().read_text(encoding="utf-8").replace("<wbr/>", "")
    section = re.search(r'<section id="length">(.*?)</section>', text, flags=re.DOTALL)[1]
    for row in board.rows:
        gained = row.lengths[-1]["value"] - row.lengths[0]["value"]
        figure = next(part for part in section.split("<figure>") if f">{row.model}</bdi>" in part)
        assert f"{change(gained)} from short to long" in figure


@pytest.mark.spec("E03")
def test_what_is_lost_without_a_teacher_stands_in_the_report(board):
    text = board.report().read_text(encoding="utf-8")
    for row in board.rows:
        if row.baseline:
            continue
        forced, free = row.exposure["forced"], row.exposure["free"]
        assert 0 < free["tokens"] <= forced["tokens"] <= 1
        (cells,) = re.findall(rf'<tr[^>]* data-model="{re.escape(row.model)}">.*?</tr>', text, flags=re.DOTALL)
        for how, found in (("teacher forcing", forced), ("free running", free)):
            assert f'data-label="Token accuracy, {how}" data-value="{found["tokens"]}"' in cells
    lost = {
        row.model: row.exposure["forced"]["tokens"] - row.exposure["free"]["tokens"]
        for row in board.rows
        if not row.baseline
    }
    assert lost["gru"] > lost["gru+additive"]
