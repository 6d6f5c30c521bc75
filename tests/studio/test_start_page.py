"""The studio in a real browser with a real server: from a dropped file to a trained model."""

import random
import re
import time
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

ROWS = 107
PATIENT = {  # a training that goes on until it is stopped, with a validation every few steps
    "train.patience": "1000000",
    "train.steps": "1000000",
    "train.validations": "50000",
    "model.hidden": "14",
}
SLOW = 90_000  # milliseconds: a training begins after torch is loaded, on a machine that may be busy
POINTS = "document.querySelector('[data-chart=losses] .line')?.getAttribute('points').split(' ').length ?? 0"


def make_reviews(path, rows=ROWS, *, columns=("text", "label"), labels=("good", "bad"), seed=5):
    """A small file of opinions; the words say the label only now and then."""
    draw = random.Random(seed)
    words = ["film", "plot", "actor", "scene", "music", "story", "slow", "long", "short", "old", "new"]
    lines = [",".join(columns)]
    for at in range(rows):
        hint = [["fine", "dull"][at % 2]] if draw.random() < 0.7 else []
        lines.append(f"{' '.join([*draw.choices(words, k=7), *hint])} {at},{labels[at % 2]}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@contextmanager
def opened(browser, link, *, troubles_expected=(), **options):
    """A page of the studio; in the end nothing may have been complained about or popped up."""
    troubles = []
    context = browser.new_context(viewport={"width": 1280, "height": 900}, **{"locale": "en-GB", **options})
    context.set_default_timeout(SLOW)
    page = context.new_page()
    page.on("console", lambda message: troubles.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("dialog", lambda dialog: (troubles.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.goto(link)
    try:
        yield page
    finally:
        context.close()
    assert [one for one in troubles if not any(re.search(each, one) for each in troubles_expected)] == []


@pytest.fixture(scope="module")
def studio(studio_server, tmp_path_factory):
    """A server on a folder with one file, which all tests share that do not end it."""
    folder = tmp_path_factory.mktemp("workspace")
    make_reviews(folder / "opinions.csv")
    with studio_server(folder) as studio:
        yield studio
    pause_trainings(folder)


@pytest.fixture(scope="module")
def finished_run(studio):
    """A tiny run that has ended, for the tests that only look at one."""
    settings = {"train.steps": "13", "model.hidden": "14", "train.baselines": "false"}
    asked = {"file": "opinions.csv", "model": "rnn", "settings": settings, "seed": 3}
    run = studio.post("/api/train", asked)["id"]
    until = time.monotonic() + SLOW / 1000
    while studio.get(f"/api/runs/{run}/events")["state"] != "finished":
        assert time.monotonic() < until, "a run of 13 steps does not end"
        time.sleep(0.2)
    return run


def choose(page, key, value):
    """Change a key of the recipe in the table."""
    page.get_by_placeholder("Search a key").fill(key)
    field = page.get_by_label(key, exact=True)
    with page.expect_response("**/api/recipe") as reply:
        field.fill(value)
        field.press("Enter")
        field.blur()
    assert reply.value.status == 200


def wait_for_more_points(page, than):
    """How many points the curve has, as soon as they are more."""
    until = time.monotonic() + SLOW / 1000
    while (points := page.evaluate(POINTS)) <= than:  # the page's policy forbids what `wait_for_function` does
        assert time.monotonic() < until, f"the curve stays at {points} points"
        page.wait_for_timeout(100)
    return points


def pause_trainings(folder):
    """Ask every training to stop, or one would outlive a test that failed."""
    for run in (folder / "runs").glob("*/"):
        (run / "request").write_bytes(b"pause")


def test_a_dropped_file_becomes_a_trained_model(browser, studio, tmp_path):
    file = make_reviews(tmp_path / "reviews.csv")
    with opened(browser, studio.link) as page:
        page.locator("input[type=file]").set_input_files(file)
        expect(page.locator(".verdict")).to_have_text(f"{ROWS} rows; looks like classify: text → label.")
        expect(page.locator(".role")).to_have_text(["text", "label"])

        page.get_by_role("button", name="Mend").click()  # the test part is small: one setting makes it larger
        expect(page.locator(".mended code")).to_have_text("data.split = 60/20/20")
        assert page.get_by_role("button", name="Mend").count() == 0
        page.get_by_role("button", name="Undo data.split").click()
        expect(page.get_by_role("button", name="Mend")).to_be_visible()
        page.get_by_role("button", name="Mend").click()
        expect(page.locator(".mended code")).to_be_visible()

        page.get_by_role("button", name="Train one model").click()
        page.locator("input[name=model][value=rnn]").check()
        page.get_by_label("as the recipe says").check()
        for key, value in PATIENT.items():
            choose(page, key, value)
        page.get_by_text("The same by hand").click()
        expect(page.locator(".same-text code")).to_contain_text("--set data.split=60/20/20")
        expect(page.locator(".same-text code")).to_contain_text("--model rnn")
        page.get_by_role("button", name="Start training").click()

        points = wait_for_more_points(page, 1)
        page.locator("[data-chart=losses] svg.interactive").press("+")
        reset = page.locator("[data-chart=losses]").get_by_role("button", name="Reset zoom")
        points = wait_for_more_points(page, points)
        expect(reset).to_be_enabled()  # new points did not undo the zoom
        expect(page.locator(".gradients canvas").first).to_be_visible()
        expect(page.locator(".samples li").first).to_be_visible()

        page.get_by_role("button", name="Pause").click()
        expect(page.get_by_role("button", name="Resume")).to_be_visible()
        points = page.evaluate(POINTS)
        page.reload()
        expect(page.get_by_role("button", name="Resume")).to_be_visible()
        wait_for_more_points(page, points - 1)  # all of it is rebuilt from the events
        page.get_by_role("button", name="Resume").click()
        expect(page.get_by_role("button", name="Pause")).to_be_visible()
        wait_for_more_points(page, points)

        page.get_by_role("button", name="Stop and keep best").click()
        expect(page.locator(".result .verdict")).to_contain_text("accuracy")
        expect(page.locator(".levels li")).not_to_have_count(1)  # beside simple baselines
        expect(page.get_by_role("link", name="Look inside")).to_be_visible()
        expect(page.locator("h1 .state")).to_contain_text("finished")
    assert (studio.folder / "runs/reviews-rnn-1/weights.safetensors").exists()
    assert 'split = "60/20/20"' in (studio.folder / "runs/reviews-rnn-1/recipe.toml").read_text(encoding="utf-8")


def test_a_fork_begins_with_the_recipe_and_marks_what_changes(browser, studio, finished_run):
    with opened(browser, f"{studio.link}#/runs/{finished_run}") as page:
        page.goto(f"{studio.url}/#/runs/{finished_run}")
        page.get_by_role("button", name="Fork with changes").click()
        expect(page.locator("input[name=model][value=rnn]")).to_be_checked()
        expect(page.get_by_label("Seed", exact=True)).to_have_value("3")
        expect(page.get_by_label("model.hidden", exact=True)).to_have_value("14")
        assert page.locator("tr.changed").count() == 0
        choose(page, "train.lr", "0.0017")
        expect(page.locator("tr.changed th")).to_have_text("train.lr")
        expect(page.locator("tr.changed")).to_contain_text("changed; it was")
        page.get_by_label("Start from its weights").check()
        page.get_by_role("button", name="Start training").click()
        expect(page.locator("h1 .state")).to_contain_text("finished")
        forked = studio.get(f"/api/runs/{page.locator('h1 bdi').text_content()}")
    assert forked["id"] != finished_run
    assert (forked["values"]["train.lr"], forked["values"]["train.steps"]) == (0.0017, 13)
    assert forked["values"]["train.seed"] == 3


@pytest.fixture
def folder(tmp_path):
    """A workspace of its own."""
    make_reviews(tmp_path / "opinions.csv")
    yield tmp_path
    pause_trainings(tmp_path)


def test_a_server_that_is_killed_is_waited_for(browser, studio_server, folder):
    with studio_server(folder) as first:
        run = first.post("/api/train", {"file": "opinions.csv", "model": "rnn", "settings": PATIENT, "budget": None})[
            "id"
        ]
        events = folder / "runs" / run / "events.jsonl"
        with opened(browser, first.link, troubles_expected=["ERR_CONNECTION", "Failed to load resource"]) as page:
            page.goto(f"{first.url}/#/runs/{run}")
            points = wait_for_more_points(page, 1)
            first.kill()
            expect(page.locator("#banner")).to_contain_text("Training goes on without it")
            written = events.stat().st_size
            with studio_server(folder, port=first.port) as second:
                assert events.stat().st_size > written
                expect(page.locator("#banner")).to_be_empty()
                wait_for_more_points(page, points)
                page.get_by_role("button", name="Stop and keep best").click()
                expect(page.locator("h1 .state")).to_contain_text("finished")
                page.get_by_role("link", name="Start", exact=True).click()
                expect(page.locator(".run").filter(has_text=run)).to_contain_text("finished")
                assert second.get("/api/workspace")["runs"][0]["state"] == "finished"


def test_a_run_that_fails_says_why_and_can_be_forked_with_the_fix(browser, studio):
    settings = {"train.lr": "1e30", "train.warmup": "0", "train.clip": "0", "model.hidden": "14", "train.steps": "997"}
    run = studio.post("/api/train", {"file": "opinions.csv", "model": "rnn", "settings": settings})["id"]
    with opened(browser, studio.link) as page:
        page.goto(f"{studio.url}/#/runs/{run}")
        expect(page.get_by_role("alert")).to_contain_text("training diverged at step")
        expect(page.locator("h1 .state")).to_contain_text("failed")
        page.get_by_role("button", name="Fork with the fix: train.lr=").click()
        expect(page.locator("tr.changed th")).to_have_text("train.lr")
        expect(page.get_by_label("train.lr", exact=True)).to_have_value("1e+29")
        expect(page.get_by_label("Start from its weights")).to_be_disabled()


def test_spanish_is_spoken_and_remembered(browser, studio):
    with opened(browser, studio.link, locale="es-ES") as page:
        expect(page.get_by_role("heading", level=1)).to_have_text("Aprende de tus datos")
        assert page.evaluate("document.documentElement.lang") == "es"
        page.get_by_label("Idioma").select_option("en")
        expect(page.get_by_role("heading", level=1)).to_have_text("Learn from your data")
        page.reload()
        expect(page.get_by_role("heading", level=1)).to_have_text("Learn from your data")
        assert page.evaluate("document.documentElement.lang") == "en"
        page.get_by_label("Language").select_option("es")
        page.goto(f"{studio.url}/#/data/opinions.csv")
        expect(page.locator(".verdict")).to_contain_text(f"{ROWS} filas; parece classify")


def test_the_keyboard_alone_starts_a_training(browser, studio):
    def tab_to(page, name):
        for _ in range(80):
            page.keyboard.press("Tab")
            found = page.evaluate("document.activeElement.ariaLabel || document.activeElement.textContent.trim()")
            if found == name:
                return
        pytest.fail(f"{name} cannot be reached by the keyboard")

    with opened(browser, studio.link) as page:
        expect(page.locator(".run").first).to_be_visible()
        tab_to(page, "opinions.csv")
        page.keyboard.press("Enter")
        expect(page.locator(".verdict")).to_be_visible()
        tab_to(page, "Train one model")
        page.keyboard.press("Enter")
        expect(page.locator(".recipe")).to_be_visible()
        tab_to(page, "Start training")
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Stop and keep best")).to_be_visible()
        wait_for_more_points(page, 0)
        tab_to(page, "Stop and keep best")
        page.keyboard.press("Enter")
        expect(page.locator("h1 .state")).to_contain_text("finished")


def test_script_in_a_file_is_text(browser, studio, tmp_path):
    hostile = "<img src=x onerror=alert(1)>"
    labels = ("<script>alert(2)</script>", "<svg onload=alert(3)>")
    file = make_reviews(tmp_path / "plain.csv", columns=("<b>text</b>", "label"), labels=labels)
    named = {"name": f"{hostile}.csv", "mimeType": "text/csv", "buffer": file.read_bytes()}
    with opened(browser, studio.link, troubles_expected=["status of 400"]) as page:
        page.locator("input[type=file]").set_input_files(named)
        expect(page.locator(".bar-name").filter(has_text=labels[0])).to_be_visible()
        expect(page.locator("table th").filter(has_text="<b>text</b>")).to_be_visible()
        assert page.locator("main :is(img, script, svg, b)").count() == 0
        page.goto(f"{studio.url}/#/data/{hostile}")  # there is no such file
        expect(page.get_by_role("heading", level=1)).to_have_text(hostile)
        expect(page.get_by_role("alert")).to_contain_text(hostile)
        assert page.locator("main :is(img, script, svg, b)").count() == 0


def test_files_can_be_dropped_anywhere(browser, studio, tmp_path):
    text = make_reviews(tmp_path / "dropped.csv", 53).read_text(encoding="utf-8")
    with opened(browser, studio.link) as page:
        expect(page.locator(".drop")).to_be_visible()
        given = page.evaluate_handle(
            """(text) => {
                const given = new DataTransfer();
                given.items.add(new File([text], "dropped.csv", { type: "text/csv" }));
                return given;
            }""",
            text,
        )
        page.dispatch_event("header", "dragover", {"dataTransfer": given})
        expect(page.locator(".drop")).to_have_class("drop over")
        page.dispatch_event("header", "drop", {"dataTransfer": given})
        expect(page.locator(".verdict")).to_contain_text("53 rows; looks like classify")
    assert (studio.folder / "data/dropped.csv").read_text(encoding="utf-8") == text


def test_a_vanishing_gradient_is_said(browser, studio):
    with opened(browser, studio.link) as page:
        said = page.evaluate(
            """async () => {
                const { gradientStrip } = await import("/static/training/gradient_strip.js");
                const { wordsOf } = await import("/static/words/words.js");
                const strip = gradientStrip(wordsOf("en"));
                document.querySelector("main").append(strip.element);
                const norms = (first) => ({ "stack.0": first, "stack.1": 1.5, head: 2 });
                const rows = (first) => [3, 5, 7].map((step) => ({ step, norms: norms(first) }));
                const said = [];
                for (const first of [0.1, 0.0011]) {
                    strip.update(rows(first));
                    await new Promise((kept) => setTimeout(kept, 150));
                    said.push(strip.element.querySelector(".strip-warning").textContent);
                }
                const canvas = strip.element.querySelector("canvas");
                canvas.focus();
                canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
                said.push(strip.element.querySelector(".readout").textContent);
                strip.stop();
                return said;
            }"""
        )
    assert said[0] == ""
    assert said[1].startswith("The gradient of stack.0 is 1,400 times smaller than that of stack.1")
    assert said[2] == "stack.0, step 7: gradient norm 1.1e−3"


def test_curves_are_thinned_without_losing_a_peak(browser, studio):
    with opened(browser, studio.link) as page:
        kept = page.evaluate(
            """async () => {
                const { makeHistory, tablesOf } = await import("/static/training/history.js");
                const history = makeHistory();
                const step = (step) => ({ event: "step", step, elapsed: step, loss: step === 1009 ? 97 : 1 / step });
                history.add(Array.from({ length: 5003 }, (_, at) => step(at + 1)));
                const { training } = tablesOf(history);
                return {
                    steps: training.step,
                    most: Math.max(...training.loss),
                    back: [5004, 4001].map((next) => history.goesBack([step(next)])),
                };
            }"""
        )
    assert len(kept["steps"]) <= 400
    assert (kept["most"], kept["steps"][0], kept["steps"][-1]) == (97, 1, 5003)
    assert kept["back"] == [False, True]  # a log that was cut back is noticed
