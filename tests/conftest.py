"""What all tests share: one thread, a small trained model, and the record of which rows of the specification hold."""

import gc
import importlib.util
import json
import os
import shutil
import sys
import time
from pathlib import Path

import pytest
import torch
import torch.fx.config

from forking import Nursery, forked_workers

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / ".spec-results.json"
MOST_ROWS = 3
COMMANDS = "atento_test_commands"
QUIET = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
EXACT = {"attention", "blocks", "contracts", "layers", "models", "recurrent"}  # folders of tests in float64

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
NO_BROWSER = "no browser was found, and tests that open pages are left out: install one, e.g. sudo apt install chromium"

outcomes: dict[str, dict[str, object]] = {}


def pytest_addoption(parser):
    parser.addoption("--rows", default="", help="only tests that claim one of these rows; nothing is recorded")


def pytest_configure(config):
    torch.set_num_threads(1)
    if not torch.cuda.is_available():
        os.environ["TRITON_INTERPRET"] = "1"  # before any test imports Triton, as torch.compile does


def found_browser():
    """The program of a browser; None where none is installed."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def opens_pages(item):
    """Whether a test asks for the `browser` of this file; some folders have a stand-in of that name."""
    known = item._fixtureinfo.name2fixturedefs.get("browser", ()) if hasattr(item, "_fixtureinfo") else ()
    return any(one.func.__code__.co_filename == __file__ for one in known[-1:])


def pytest_sessionstart(session):
    """Say at the start what will not be run, whatever -q leaves out."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if found_browser() is None and reporter is not None and not hasattr(session.config, "workerinput"):
        reporter.write_line(NO_BROWSER)


def pytest_terminal_summary(terminalreporter):
    """Name at the end what was not run."""
    skipped = [report for report in terminalreporter.stats.get("skipped", []) if NO_BROWSER in str(report.longrepr)]
    if skipped:
        files = sorted({report.nodeid.split("::")[0] for report in skipped})
        terminalreporter.write_line(f"not run without a browser: {len(skipped)} tests of {', '.join(files)}")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Thousands of tests stay to the end: to look through them for garbage is a fifth of the time of finding them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_make_parametrize_id(config, val, argname):
    """Bytes are named by their place: an archive holds the second it was packed, and names must not differ."""
    return argname if isinstance(val, bytes) else None


def pytest_collection_modifyitems(config, items):
    wanted = set(filter(None, config.getoption("--rows").split(",")))
    if wanted:
        claimed = [{row for mark in item.iter_markers("spec") for row in mark.args} for item in items]
        items[:] = [item for item, rows in zip(items, claimed, strict=True) if rows & wanted]
    shared = {item.path for item in items if "trained_run" in item.fixturenames}
    items.sort(key=lambda item: item.path not in shared)  # side by side: one process trains it, not each
    if found_browser() is None:
        for item in filter(opens_pages, items):
            item.add_marker(pytest.mark.skip(reason=NO_BROWSER))
    for item in items:
        rows = [row for mark in item.iter_markers("spec") for row in mark.args]
        if len(rows) > MOST_ROWS:
            raise pytest.UsageError(f"{item.nodeid} claims {len(rows)} rows; a test proves at most {MOST_ROWS}")
        item.user_properties.append(("rows", rows))  # travels with the report from a process of its own


def pytest_runtest_logreport(report):
    rows = dict(report.user_properties).get("rows")
    if rows and (report.when == "call" or report.outcome != "passed"):
        outcomes[report.nodeid] = {"rows": rows, "outcome": report.outcome, "at": time.time()}


def pytest_sessionfinish(session):
    config = session.config
    worker = hasattr(config, "workerinput")  # its reports are heard by the process that started it
    if not config.option.collectonly and not config.getoption("--rows") and not worker:
        whole = config.args == config.getini("testpaths")  # a run of everything starts the record anew
        earlier = json.loads(RESULTS.read_text())["tests"] if RESULTS.exists() and not whole else {}
        RESULTS.write_text(json.dumps({"tests": {**earlier, **outcomes}}, indent=1))


@pytest.fixture(autouse=True)
def exact(request):
    """The same chance for every test of the mathematics, in float64."""
    if not EXACT & set(request.path.relative_to(ROOT / "tests").parts):
        yield
        return
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture
def light_recording(monkeypatch):
    """What torch records is not looked through for garbage, and no node notes its place in the code: a fifth of its
    time. That nothing of such notes is written is asked in tests/exporting/test_folder.py.
    """
    monkeypatch.setattr(torch.fx.config, "do_not_emit_stack_traces", True, raising=False)
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(scope="session")
def trained_run(tmp_path_factory):
    """LSTM + additive attention on number words, trained long enough to be nearly always right."""
    import atento

    folder = tmp_path_factory.mktemp("trained") / "run"
    settings = {"train.steps": 500, "train.threads": 1, "train.validations": 4}
    return atento.fit("numbers", model="lstm+additive", settings=settings, seed=0, device="cpu", out=folder)


@pytest.fixture(scope="session")
def tiny_pairs(tmp_path_factory):
    """A file of 240 pairs that any model learns in seconds: words spelled, then spelled backwards."""
    path = tmp_path_factory.mktemp("data") / "pairs.tsv"
    words = ["".join("abcde"[(number // 5**place) % 5] for place in range(4)) for number in range(240)]
    path.write_text("".join(f"{word}\t{' '.join(reversed(word))}\n" for word in words), encoding="utf-8")
    return path


def load_commands():
    """One module for all folders, hence one server; tests are no package, so it is loaded by its place."""
    if COMMANDS not in sys.modules:
        path = Path(__file__).parent / "journeys" / "commands.py"
        place = importlib.util.spec_from_file_location(COMMANDS, path)
        sys.modules[COMMANDS] = importlib.util.module_from_spec(place)
        place.loader.exec_module(sys.modules[COMMANDS])
    return sys.modules[COMMANDS]


@pytest.fixture(scope="session")
def processes():
    return load_commands()


@pytest.fixture(scope="session")
def atento_command(processes, tmp_path_factory):
    """`atento_command.run("train", ..., cwd=folder)`."""
    commands = processes.Commands(tmp_path_factory.mktemp("said"))
    yield commands
    commands.close()


@pytest.fixture(scope="session")
def nursery(processes):
    """`nursery.popen([sys.executable, "-m", ...], ...)`: a process that need not load torch."""
    made = Nursery(lambda target, orders: processes.CONTEXT.Process(target=target, args=(orders,), daemon=True).start())
    yield made
    made.close()


@pytest.fixture(scope="session", autouse=sys.platform == "linux")
def workers_are_forked(request):
    """Comparisons need not wait for torch in each of the processes that train."""
    with forked_workers(lambda *words, **options: request.getfixturevalue("nursery").popen(*words, **options)):
        yield


@pytest.fixture(scope="session")
def browser():
    """A real Chromium, one for all folders of tests: a process can have one sync_playwright at a time."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found_browser(), headless=True, args=QUIET)
        yield browser
        browser.close()
