import json
import re

import numpy as np

from atento.views import AlignmentView
from atento.views.attention import page
from attention_views import make_view


def stored_views(html):
    return json.loads(re.search(r'id="attention-views">(.*?)</script>', html)[1])


def test_models_of_the_same_source_stand_in_the_order_of_the_table(board):
    order = ["lstm+additive", "lstm+dot", "transformer", "gru+general"]
    views = stored_views(page.gallery(board.alignments, order=order))

    assert [view["kind"] for view in views] == ["chosen"] * 12 + ["worst"] * 4
    by_source = {}
    for view in views:
        by_source.setdefault(view["source"], []).append(view["model"])
    assert list(by_source.values()) == [order] * 4


def test_models_that_cut_a_text_otherwise_still_meet(boards, open_page):
    letters = boards.one_hot_alignment([0], source=list("zwei"), output=["two"], model="a")
    subwords = boards.one_hot_alignment([0], source=["▁zw", "ei"], output=["two"], model="b")
    opened = open_page(page.render_views([page.view_of(one) for one in (letters, subwords)]))

    assert opened.locator(".attention-tile h3").all_inner_texts() == ["a", "b"]
    assert opened.locator("select[name=example]").count() == 0


def test_weights_are_exact_and_what_is_no_number_is_not_drawn():
    weights = np.float32([[[[0.12345678, 0.8, np.nan, np.inf]]]])
    alignment = AlignmentView(source=["a", "b", "c", "d"], output=["e"], weights=weights)

    found = page.decode(page.view_of(alignment)["maps"][0])
    np.testing.assert_array_equal(found[..., :2], weights[..., :2])
    assert np.isnan(found[..., 2:]).all()


def test_too_many_weights_become_means_and_then_fewer():
    views, sizes = [], 0
    for seed in range(3):
        view, weights = make_view(seed=seed)
        views.append(view)
        sizes += sum(one.size for one in weights.values())
    last = weights["cross-attention"]

    assert page.fitting(views, most=sizes) == (views, "")

    kept, note = page.fitting(views, most=sizes - 1)
    assert [stored["shape"][:2] for view in kept for stored in view["maps"]] == [[2, 1]] * 9
    np.testing.assert_allclose(page.decode(kept[2]["maps"][2])[:, 0], last.mean(axis=1), atol=1e-7)
    assert "mean over its heads" in note

    kept, note = page.fitting(views, most=sizes // 4)
    assert len(kept) == 2
    assert "1 of 3 views were left out" in note


def test_a_report_of_many_weights_stays_below_three_megabytes(boards):
    alignments = [boards.make_alignment("transformer", "x" * 300, "y " * 100) for _ in range(20)]
    assert len(page.gallery(alignments, order=[])) < 2.5e6


def test_sources_whose_tokens_are_called_alike_stand_apart_by_their_names():
    looks = [
        AlignmentView(
            source=["−1", "0"],
            output=["+1"],
            weights=[[[[0.5, 0.5]]]],
            text="1, " * 99,
            model=model,
            name=f"until 2020-01-0{day}",
        )
        for model in ("b", "a")
        for day in (1, 2)
    ]
    found = stored_views(page.gallery(looks, order=["a", "b"]))
    assert [(view["model"], view["source"]) for view in found] == [
        (model, f"until 2020-01-0{day}") for model in ("a", "b") for day in (1, 2)
    ]
    assert all(len(view["output"]) <= page.MAX_NUMBERS for view in found)


def test_a_notebook_gets_a_frame_that_holds_the_whole_page(open_page):
    view, _ = make_view()
    opened = open_page(f"<!doctype html><body>{page.framed([view])}")
    inside = opened.frame_locator("iframe")
    inside.locator(".attention-map").wait_for()
    assert inside.locator("h1").inner_text() == "Attention of transformer"
