import json
import os
import signal
import threading

import pytest

from atento.errors import MachineError
from atento.training import EventLog, read_events
from atento.training.events import InterruptHandler


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
