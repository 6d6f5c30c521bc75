"""A trained Transformer in the viewer, in a page of its own, in a report and in a notebook: the weights are its own."""

import json
import re

import numpy as np
import pytest

import atento
from atento.api.report import write_report
from atento.views.attention.page import decode


@pytest.fixture(scope="module")
def run(tiny_pairs, tmp_path_factory):
    settings = {"train.steps": 30, "train.threads": 1, "train.validations": 1, "model.hidden": 16, "decode.beam": 3}
    folder = tmp_path_factory.mktemp("transformer") / "run"
    return atento.fit(str(tiny_pairs), model="transformer", settings=settings, seed=0, device="cpu", out=folder)


def stored_views(html):
    return json.loads(re.search(r'id="attention-views">(.*?)</script>', html)[1])


@pytest.mark.spec("V02")
def test_a_page_shows_every_map_of_a_model_as_python_has_it(run, tmp_path, open_page):
    explained = run.explain("abcd")
    names = ["encoder self-attention", "decoder self-attention", "cross-attention"]
    assert [one.name for one in explained.maps] == names
    page = open_page(explained.save(tmp_path / "attention.html").read_text(encoding="utf-8"))
    page.locator(".attention-saving summary").click()

    for at, one in enumerate(explained.maps):
        page.select_option("select[name=map]", str(at))
        if one.weights.shape[1] > 1:
            page.select_option("select[name=head]", "1")
        with page.expect_download() as download:
            page.get_by_role("button", name="numbers as JSON").click()
        found = json.loads(download.value.path().read_text(encoding="utf-8"))
        expected = one.weights[-1, 1 if one.weights.shape[1] > 1 else 0].numpy()
        assert (found["map"], found["queries"], found["keys"]) == (one.name, one.queries, one.keys)
        np.testing.assert_allclose(np.array(found["weights"], dtype=float), expected, atol=1e-6)
    assert page.locator(".attention-looks button").all_inner_texts()[0] == "Answer"


@pytest.mark.spec("V02")
def test_a_report_holds_the_same_weights(run):
    views = stored_views(write_report(run.folder).read_text(encoding="utf-8"))
    assert len(views) >= 4 and {view["run"] for view in views} == {str(run.folder)}
    for view in views[:2]:
        maps = run.explain(view["source"]).maps
        for stored, one in zip(view["maps"], maps, strict=True):
            np.testing.assert_allclose(decode(stored), one.weights.numpy(), atol=1e-6)


def test_a_notebook_shows_the_viewer_in_a_frame(run, open_page):
    page = open_page(f"<!doctype html><body>{run.explain('abcd')._repr_html_()}")
    page.frame_locator("iframe").locator(".attention-map").wait_for()
