"""The small parts of a server by themselves: limits, counts, messages."""

import io

import pytest

from atento.errors import InputError
from atento.serving.frames import LARGEST, packed, read_frame
from atento.serving.limits import MEGABYTE, Limits, parse_limits
from atento.serving.metrics import Histogram, Metrics
from atento.serving.served import ModelCard, RowAnswer
from atento.serving.worker import serve_frames

CARD = ModelCard("0123", "classify", 'a"b', "…", "text", "label")


def test_limits_are_changed_one_by_one():
    assert parse_limits(["queue=7", "seconds=3"]) == Limits(queue=7, seconds=3)
    assert Limits().for_input("text").body == MEGABYTE and Limits().for_input("image").body == 16 * MEGABYTE
    assert Limits(body=9).for_input("image").body == 9


@pytest.mark.parametrize("wrong, said", [("queu=3", "queue"), ("queue=0", "above 0"), ("queue", "above 0")])
def test_a_wrong_limit_is_told(wrong, said):
    with pytest.raises(InputError, match=said):
        parse_limits([wrong])


def test_a_histogram_counts_what_is_at_most_so_large():
    found = Histogram("h", "…", (1, 2))
    for value in (0.5, 1, 1.5, 9):
        found.add(value)
    assert found.lines()[2:] == [
        'h_bucket{le="1"} 2', 'h_bucket{le="2"} 3', 'h_bucket{le="+Inf"} 4', "h_sum 12.000000", "h_count 4",
    ]  # fmt: skip


def test_counts_are_lines_that_prometheus_reads():
    metrics = Metrics()
    metrics.requests["/predict", 200] += 2
    text = metrics.text(card=CARD, ready=False, waiting=3)
    assert 'atento_requests_total{path="/predict",status="200"} 2\n' in text
    assert "atento_ready 0\n" in text and "atento_queue_rows 3\n" in text
    assert 'model="a\\"b"' in text
    names = [line.split()[2] for line in text.split("\n") if line.startswith("# TYPE")]
    assert len(names) == len(set(names)) == 10


def test_messages_are_whole_or_none():
    message = {"rows": [{"text": "é\ud800"}]}
    sent = packed(message)
    assert read_frame(io.BytesIO(sent)) == message
    assert read_frame(io.BytesIO(sent[:-1])) is None and read_frame(io.BytesIO(b"")) is None
    with pytest.raises(EOFError):
        read_frame(io.BytesIO((LARGEST + 1).to_bytes(4, "big")))


class Fragile:
    """A served model with a mistake in it."""

    card = CARD

    def answer(self, rows, *, attention):
        if rows[0]["text"] == "bad":
            raise AttributeError("a mistake of ours")
        return [RowAnswer({"label": row["text"]}) for row in rows]


def test_a_mistake_of_ours_does_not_end_the_process_of_the_model(capsys):
    asked = [{"rows": [{"text": text}], "attention": [False]} for text in ("a", "bad", "b")]
    answers = io.BytesIO()
    serve_frames(Fragile(), io.BytesIO(b"".join(map(packed, asked))), answers)
    answers.seek(0)
    card, first, second, third = (read_frame(answers) for _ in range(4))
    assert card["card"]["id"] == "0123" and first["answers"][0]["answer"] == {"label": "a"}
    assert second["answers"][0]["answer"] is None and "mistake" not in second["answers"][0]["error"]["problem"]
    assert third["answers"][0]["answer"] == {"label": "b"} and "AttributeError" in capsys.readouterr().err
