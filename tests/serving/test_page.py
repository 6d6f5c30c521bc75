"""The page of a server in a real browser: it answers, shows probabilities and attention, and fits a phone."""

import pytest

TEXT = "the great film <b>and</b> a good cast"


@pytest.mark.parametrize("width", [1200, 390])
def test_a_model_is_tried_in_the_browser(server, browser, width):
    page = browser.new_page(viewport={"width": width, "height": 900})
    faults = []
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda asked: faults.append(asked.url) if not asked.url.startswith((server.url, "data:")) else 0)
    page.goto(server.url)
    page.fill("textarea", TEXT)
    page.click("button[type=submit]")
    page.wait_for_selector("#attention canvas")
    expected = server.predict({"text": TEXT})["results"][0]["answer"]
    assert page.inner_text("#result .answer-text") == expected["label"]
    assert page.locator("#result .chances li").count() == 2
    assert f"{100 * expected['probability']:.1f} %" in page.inner_text("#result .said .value")
    style = "getComputedStyle(document.querySelector('.attention-explanation')).whiteSpace"
    assert page.evaluate(style) == "pre-wrap"  # evidence is a line for each feature
    assert "/predict" in page.text_content("#command") and page.evaluate("innerWidth >= document.body.scrollWidth")
    assert not faults
    page.close()


def test_a_text_is_written_in_the_browser(writer, browser):
    page = browser.new_page()
    page.goto(writer.url)
    page.fill("textarea", "abcd")
    page.click("button[type=submit]")
    page.wait_for_selector("#result .note:has-text('model')")
    assert page.inner_text("#result .answer-text") == writer.predict({"text": "abcd"})["results"][0]["answer"]["text"]
    page.close()
