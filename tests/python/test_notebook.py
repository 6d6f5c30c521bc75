import sys
from types import SimpleNamespace

import pytest

from atento.cli.output import ShowProgress
from atento.errors import MachineError
from atento.python.calling import kernel_shell, shown
from atento.python.notebook import NotebookProgress
from atento.tasks.traces import Alignment
from atento.training.events import no_callback
from atento.views.attention.maps import ExplainedAlignment
from atento.views.notebook.progress import MOST_POINTS, TrainingProgress


class Display:
    """IPython in a kernel, as far as progress needs it: every text that was shown, and how often a new place began."""

    def __init__(self, *, kernel=True):
        self.texts, self.places = [], 0
        self.shell = SimpleNamespace(kernel=object() if kernel else None)
        self.display = SimpleNamespace(HTML=str, display=self.begin)

    def get_ipython(self):
        return self.shell

    def begin(self, text, *, display_id):
        self.places += 1
        self.update(text)
        return self

    def update(self, text):
        self.texts.append(text)


@pytest.fixture
def ipython(monkeypatch):
    found = Display()
    monkeypatch.setitem(sys.modules, "ipykernel", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "IPython", found)
    return found


def test_a_kernel_has_a_bar_and_a_curve_that_stay_in_one_place(ipython):
    with shown(None, no_callback) as watch:
        watch({"event": "note", "text": "<b>bold</b>"})
        watch({"event": "start", "step": 0, "threads": 1, "device": "cpu", "parameters": 7})
        for step in range(1, 4):
            watch({"event": "step", "step": step, "loss": 3.0 / step, "elapsed": step / 10, "progress": step / 4})
    assert isinstance(watch, NotebookProgress)
    assert ipython.places == 1
    last = ipython.texts[-1].partition("</style>")[2]
    assert 'value="0.750"' in last  # drawn in the end, though the steps came too fast to be drawn one by one
    assert "loss 1.000" in last
    assert last.count("polyline") >= 1
    assert "&lt;b&gt;bold&lt;/b&gt;" in last


def test_elsewhere_there_are_lines_or_nothing(ipython, monkeypatch):
    with shown(False, no_callback) as watch:
        assert watch is no_callback
    ipython.shell.kernel = None  # IPython in a terminal
    assert kernel_shell() is None
    with shown(True, no_callback) as watch:
        assert isinstance(watch, ShowProgress)
    monkeypatch.delitem(sys.modules, "ipykernel")
    assert kernel_shell() is None
    assert ipython.texts == []


def test_a_long_curve_is_thinned_and_keeps_both_ends():
    progress = TrainingProgress("lstm")
    for step in range(5 * MOST_POINTS):
        progress.add_loss(float(step), 1.0)
    assert len(progress.losses) <= MOST_POINTS
    assert progress.losses[0].x == 0
    assert progress.losses[-1].x == 5 * MOST_POINTS - 1
    assert [point.x for point in progress.losses] == sorted({point.x for point in progress.losses})


def test_without_the_extra_the_widget_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "atento.views.notebook.widget", raising=False)
    explained = ExplainedAlignment.of(Alignment([], [], None, "", None), "lstm", lambda: None)
    with pytest.raises(MachineError, match=r"pip install \"atento\[notebook\]\""):
        explained.widget()
