import os
import signal
import threading

from atento.training.events import Interrupts


def test_a_signal_is_a_request_not_an_end():
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    with Interrupts() as asked:
        assert asked.signal == 0
        os.kill(os.getpid(), signal.SIGTERM)
        assert asked.signal == signal.SIGTERM
        os.kill(os.getpid(), signal.SIGINT)
        assert asked.signal == signal.SIGINT
    assert {number: signal.getsignal(number) for number in before} == before


def test_elsewhere_than_in_the_main_thread_nothing_is_asked():
    found = []

    def work():
        with Interrupts() as asked:
            found.append(asked.signal)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [0]
