"""The screens about trained models in a real browser, on a real server: board, look inside, mistakes, try it, ship."""

import random
import re

import pytest
from playwright.sync_api import expect

import atento

HOSTILE = "<script>document.title='owned';alert(1)</script>"
WORDS = {"good": ["great", "lovely", "superb"], "bad": ["awful", "poor", "dreadful"], HOSTILE: ["plain", "usual"]}
THINGS = ["film", "meal", "book", "hotel", "story"]
DIGITS = ["null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"]
ENGLISH = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
TINY = {"model.hidden": 12, "train.lr": 0.01}
SLOW = 60_000  # milliseconds that a busy machine may take


def write_data(folder):
    draw = random.Random(7)
    rows = ["text,label"]
    for number in range(151):
        label = list(WORDS)[number % 3]
        told = "bad" if number % 7 == 0 else label  # some rows are labelled wrongly, so there are mistakes
        rows.append(f"the {draw.choice(THINGS)} was {draw.choice(WORDS[label])} on day {number},{told}")
    (folder / "reviews.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    pairs = ["german\tenglish"]
    for number in range(101, 198):
        digits = [int(digit) for digit in str(number)]
        pairs.append(" ".join(DIGITS[one] for one in digits) + "\t" + " ".join(ENGLISH[one] for one in digits))
    (folder / "pairs.tsv").write_text("\n".join(pairs) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def studio(tmp_path_factory, studio_server):
    """A server whose workspace holds a classifier, a translator, and a comparison of two tiny models."""
    folder = tmp_path_factory.mktemp("workspace")
    write_data(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        reviews = {**TINY, "data.split": "60/10/30"}
        atento.fit(
            "reviews.csv",
            task="classify",
            model="gru+additive",
            settings={**reviews, "train.steps": 61},
            out="runs/opinions",
        )
        atento.fit(
            "pairs.tsv", task="translate", model="transformer", settings={**TINY, "train.steps": 7}, out="runs/digits"
        )
        atento.compare(
            "reviews.csv",
            task="classify",
            models=["gru", "transformer"],
            settings={**reviews, "train.steps": 7},
            out="runs/both",
        )
    with studio_server(folder) as running:
        yield running


@pytest.fixture
def screen(browser, studio):
    """Open a screen; in the end nothing may have been complained about, popped up or fetched from elsewhere."""
    contexts, troubles = [], []

    def fetched(request):
        if not request.url.startswith((studio.url, "data:", "blob:")):
            troubles.append(f"request {request.url}")

    def open_screen(place, *, width=1280, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **{"locale": "en-GB", **options})
        contexts.append(context)
        context.set_default_timeout(SLOW)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(f"console {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error {error}"))
        page.on("dialog", lambda dialog: troubles.append(f"dialog {dialog.message}"))
        page.on("request", fetched)
        page.goto(studio.link)
        page.goto(f"{studio.url}/#/runs/{place}")
        page.wait_for_selector("h1")
        return page

    yield open_screen
    for context in contexts:
        context.close()
    assert troubles == []


def hover_cell(page, row, column):
    """Point at a cell of the heat map."""
    canvas = page.locator(".attention-viewer canvas").first
    canvas.scroll_into_view_if_needed()
    plan = canvas.evaluate(
        "canvas => { const { left, top, cell, row } = canvas.attention; return { left, top, cell, row }; }"
    )
    canvas.hover(
        position={"x": plan["left"] + (column + 0.5) * plan["cell"], "y": plan["top"] + (row + 0.5) * plan["row"]}
    )


def test_the_viewer_reads_out_a_cell_and_switches_heads(screen, studio):
    page = screen("digits/inside")
    page.wait_for_selector(".attention-tile")
    page.fill("textarea", "eins zwei")
    expect(page.locator(".attention-facts dd").first).to_have_text("eins zwei")
    readout = page.locator(".attention-readout")

    hover_cell(page, 0, 1)
    expect(readout).to_contain_text("“zwei” (token 2)")
    mean = float(readout.get_attribute("data-weight"))
    page.locator("select[name=head]").select_option(label="head 1")
    hover_cell(page, 0, 1)
    expect(readout).not_to_have_attribute("data-weight", str(mean))

    run = atento.load(studio.folder / "runs" / "digits")
    cross = next(one for one in run.explain("eins zwei").maps if one.kind == "cross")
    assert mean == pytest.approx(float(cross.weights[-1, :, 0, 1].mean()), abs=1e-5)
    assert float(readout.get_attribute("data-weight")) == pytest.approx(float(cross.weights[-1, 0, 0, 1]), abs=1e-5)


def test_two_models_stand_side_by_side_on_one_input(screen):
    page = screen("opinions/inside")
    page.wait_for_selector(".attention-tile")
    page.locator("select[name=beside]").select_option("both/transformer")

    expect(page.locator(".attention-tile h3")).to_have_text(["gru+additive", "transformer"])
    page.locator("details.same > summary").click()
    expect(page.locator("details.same code")).to_contain_text("--with runs/both/transformer")


def test_another_view_stands_in_a_frame_that_reaches_nothing(screen):
    page = screen("opinions/inside")
    page.get_by_role("tab", name="Step by step").click()

    frame = page.locator("iframe.page-frame")
    expect(page.frame_locator("iframe.page-frame").locator("h1")).to_contain_text("One forward pass")
    assert frame.get_attribute("sandbox") == "allow-scripts allow-downloads"
    assert page.frames[1].evaluate("self.origin") == "null"
    page.get_by_role("tab", name="Step by step").press("ArrowLeft")
    expect(page.frame_locator("iframe.page-frame").locator("h1")).to_contain_text("Integrated gradients")


def test_an_answer_follows_when_the_keys_rest(screen, studio):
    page = screen("opinions/try")
    source = "the meal was lovely on day 3"
    asked = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/explain") else None)
    page.wait_for_selector(".answer-text")
    asked.clear()

    page.locator("textarea").fill("")
    page.locator("textarea").press_sequentially(source, delay=20)
    expect(page.locator(".attention-facts")).to_contain_text(source)

    run = atento.load(studio.folder / "runs" / "opinions")
    expect(page.locator(".answer-text")).to_have_text(run.predict([source])[0])
    best = max(run.predict_proba([source])[0].values())
    expect(page.locator(".chance-list li").first.locator(".chance-value")).to_have_text(f"{100 * best:.0f}%")
    assert len(asked) < len(source) / 2, "one question for each key is too many"


def test_a_mistake_says_why_it_is_wrong(screen, studio):
    page = screen("opinions/mistakes")
    row = studio.get("/api/runs/opinions/mistakes", limit=1)["rows"][0]
    expect(page.locator(".verdict")).to_contain_text("test examples are wrong")

    opener = page.locator(".why-opener").first
    opener.focus()
    opener.press("Enter")

    why = page.locator(".why").first
    expect(why.locator(".reasons li").first).to_contain_text(f"It says {row['predicted']} with")
    expect(why.locator(".reasons")).to_contain_text(f"expected {row['expected']} has")
    expect(why.locator(".reasons")).to_contain_text(re.compile("word decides|weigh most|No single word|words decide"))
    expect(why.locator(".chance-list .expected")).to_contain_text(row["expected"])
    expect(why.locator(".shaded-words")).to_contain_text("the")
    why.get_by_text("Attention", exact=True).click()
    expect(why.locator(".attention-outcome")).to_contain_text(f"should be {row['expected']}")
    opener.press("Enter")
    expect(why).to_be_empty()


def test_a_cell_of_the_matrix_opens_its_rows(screen, studio):
    page = screen("opinions/mistakes")
    labels, counts = studio.get("/api/runs/opinions/mistakes")["confusion"].values()
    at, to = next((i, j) for i in range(3) for j in range(3) if i != j and counts[i][j])

    page.locator(".matrix tbody tr").nth(at).locator("button").nth(to).click()

    expect(page.locator(".rows-head h2")).to_have_text(f"{labels[at]} taken for {labels[to]}")
    expect(page.locator(".why-opener")).to_have_count(counts[at][to])
    page.get_by_role("button", name="Show all mistakes").click()
    expect(page.locator(".rows-head h2")).to_have_text("The worst mistakes")


def test_a_written_text_is_wrong_from_a_token_on(screen):
    page = screen("digits/mistakes")
    page.locator(".why-opener").first.click()

    expect(page.locator(".reasons").first).to_contain_text(re.compile("first token|right until token|then it ended"))
    expect(page.locator(".why-opener mark").first).to_be_visible()


def test_the_board_ranks_models_sorts_and_opens_runs(screen, studio):
    page = screen("both/board")
    board = studio.get("/api/runs/both/board")
    names = page.locator(".board-table tbody th bdi")
    values = {row["model"]: row["value"] for row in board["rows"]}
    expect(names).to_have_count(len(values))
    shown = names.all_inner_texts()
    assert [values[name] for name in shown] == sorted(values.values(), reverse=True)
    expect(page.locator(".verdict")).to_contain_text(board["winner"])
    expect(page.locator("tr", has=page.get_by_text("majority", exact=True)).locator(".baseline-word")).to_be_visible()
    expect(page.locator(".live-chart svg")).to_be_visible()

    page.get_by_role("button", name="Model").click()
    assert names.all_inner_texts() == sorted(shown)
    page.get_by_role("button", name="Show the report").click()
    expect(page.frame_locator("iframe.page-frame").locator(".verdict").first).to_contain_text(board["winner"])
    page.get_by_role("link", name="gru").click()
    page.wait_for_url(re.compile(r"#/runs/both%2Fgru$"))


def test_a_dropped_file_is_answered_and_can_be_downloaded(screen, studio):
    page = screen("opinions/ship")
    rows = "text\nthe hotel was superb on day 2\nthe story was awful on day 5\n"
    page.locator("input[type=file]").set_input_files(
        {"name": "new.csv", "mimeType": "text/csv", "buffer": rows.encode()}
    )

    with page.expect_download() as coming:
        page.get_by_role("link", name="Download the answers").click()

    said = coming.value.path().read_text(encoding="utf-8")
    run = atento.load(studio.folder / "runs" / "opinions")
    found = run.predict(["the hotel was superb on day 2", "the story was awful on day 5"])
    assert [line.split(",")[0] for line in said.strip().split("\n")] == ["text", *rows.strip().split("\n")[1:]]
    assert all(label in line for label, line in zip(found, said.split("\n")[1:], strict=False))
    expect(page.locator(".commands code").nth(1)).to_have_text("atento predict runs/opinions new.csv --out answers.csv")


@pytest.mark.parametrize(
    "place", ["opinions/inside", "opinions/mistakes", "opinions/try", "opinions/ship", "both/board"]
)
def test_each_screen_fits_a_phone_in_spanish_and_shows_labels_as_text(screen, place):
    page = screen(place, width=380, locale="es-ES", color_scheme="dark")
    ready = {
        "inside": ".attention-tile",
        "mistakes": ".why-opener",
        "try": ".answer-text",
        "ship": ".commands",
        "board": ".live-chart",
    }
    page.wait_for_selector(ready[place.split("/")[1]])

    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    assert page.evaluate("document.documentElement.lang") == "es"
    if place == "opinions/mistakes":
        expect(page.locator(".matrix bdi", has_text=HOSTILE).first).to_be_attached()
        page.locator(".why-opener").first.click()
        expect(page.locator(".reasons").first).to_contain_text("Dice")
    assert page.locator("#screen script").count() == 0 and "owned" not in page.title()
