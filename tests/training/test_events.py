"""The log of events, what it shows of answers, and what asks a run to stop."""

import json
import os
import signal
import threading

import pytest

from atento.errors import MachineError
from atento.tasks.catalogue import CLASSIFY, LABEL, MATCH, MATCH_IMAGES, TAG, TASKS
from atento.tasks.task import Answer, EvaluationExample
from atento.training import EventLog, read_events
from atento.training.events import LONGEST_TEXT, SAMPLES, InterruptHandler, samples_of


def test_events_are_lines_and_calls(tmp_path):
    seen = []
    log = EventLog(tmp_path, seen.append)
    log.add("start", step=0, threads=1)
    log.add("step", step=3, loss=0.5)
    assert seen == [{"event": "start", "step": 0, "threads": 1}, {"event": "step", "step": 3, "loss": 0.5}]
    assert [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()] == seen
    assert read_events(tmp_path / "events.jsonl") == seen


def test_rewind_forgets_what_will_happen_again(tmp_path):
    log = EventLog(tmp_path)
    for step in range(6):
        log.add("step", step=step)
    log.add("finished", step=3, why="it was killed before its manifest")
    log.rewind(3)
    assert [event["step"] for event in read_events(log.path)] == [0, 1, 2, 3]
    assert all(event["event"] == "step" for event in read_events(log.path))
    log.rewind(-1)
    assert read_events(log.path) == []


def test_a_line_cut_off_by_a_kill_is_left_out(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'{"event": "step", "step": 1}\n{"event": "st\xff')
    assert read_events(path) == [{"event": "step", "step": 1}]
    EventLog(tmp_path).rewind(1)
    assert path.read_text() == '{"event": "step", "step": 1}\n'
    assert read_events(tmp_path / "none") == []


def test_a_log_that_cannot_be_written_is_the_machine_s_fault(tmp_path):
    with pytest.raises(MachineError, match=r"events\.jsonl could not be written"):
        EventLog(tmp_path / "no folder").add("start")


def test_a_signal_is_a_request_not_an_end():
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    with InterruptHandler() as interrupt:
        assert interrupt.signal == 0
        os.kill(os.getpid(), signal.SIGTERM)
        assert interrupt.signal == signal.SIGTERM
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupt.signal == signal.SIGINT
    assert {number: signal.getsignal(number) for number in before} == before


def test_elsewhere_than_in_the_main_thread_nothing_is_asked():
    found = []

    def work():
        with InterruptHandler() as interrupt:
            found.append(interrupt.signal)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [0]


def test_a_request_is_looked_for_and_taken_away(tmp_path, monkeypatch):
    monkeypatch.setattr("atento.training.events.SECONDS_BETWEEN_LOOKS", 0.0)
    request = tmp_path / "request"
    for wanted, expected in (("", (0, False)), ("nonsense", (0, False)), ("finish", (0, True)), ("pause", (2, False))):
        interrupt = InterruptHandler(tmp_path)
        interrupt.look()
        assert (interrupt.signal, interrupt.finish) == (0, False)
        request.write_text(wanted)
        interrupt.look()
        assert (interrupt.signal, interrupt.finish) == expected
        assert not request.exists()


def test_a_request_is_not_looked_for_at_every_step(tmp_path):
    interrupt = InterruptHandler(tmp_path)
    interrupt.look()
    (tmp_path / "request").write_text("finish")
    interrupt.look()
    assert not interrupt.finish and (tmp_path / "request").exists()
    InterruptHandler().look()  # without a folder there is none


@pytest.mark.parametrize(
    "task, source, references, text, expected",
    [
        (CLASSIFY, "good film", ("pos",), "neg", ("good film", "neg", "pos")),
        (LABEL, "a storm", ("rain", "wind"), "rain", ("a storm", "rain", "rain, wind")),
        (LABEL, "a calm day", (), "–", ("a calm day", "–", "–")),
        (TAG, "the\tdog", ("DET\tNOUN",), "DET VERB", ("the dog", "DET VERB", "DET NOUN")),
        (MATCH, "it rains\tit is wet", ("yes",), "no", ("it rains | it is wet", "no", "yes")),
        (MATCH_IMAGES, "some/where/a.png\tred?", ("yes",), "yes", ("a.png | red?", "yes", "yes")),
    ],
)
def test_samples_are_texts_as_the_task_writes_them(task, source, references, text, expected):
    (sample,) = samples_of(task, [EvaluationExample(source, references)], [Answer(text, None)])
    assert (sample["source"], sample["output"], sample["target"]) == expected


def test_samples_are_few_short_and_evenly_spaced():
    examples = [EvaluationExample(f"{number} {'x' * 300}", ("y",)) for number in range(23)]
    told = samples_of(CLASSIFY, examples, [Answer("z", None)] * 23)
    assert [one["source"].split()[0] for one in told] == ["0", "5", "10", "15", "20"]
    assert len(told) == SAMPLES and {len(one["source"]) for one in told} == {LONGEST_TEXT}
    assert samples_of(CLASSIFY, examples, []) == []
    assert samples_of(TASKS["forecast"], [EvaluationExample(object(), (object(),))], [Answer("1, 2", None)]) == []
