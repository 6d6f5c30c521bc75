import numpy as np

from atento.views import AlignmentView
from atento.views.attention import page


def test_models_of_the_same_source_stand_side_by_side_in_the_order_of_the_table(board):
    order = ["lstm+additive", "lstm+dot", "transformer", "gru+general"]

    examples = page.grouped(board.alignments, order=order)

    assert [example["kind"] for example in examples] == ["chosen", "chosen", "chosen", "worst"]
    assert all([panel["model"] for panel in example["panels"]] == order for example in examples)


def test_models_that_cut_a_text_otherwise_still_meet(boards):
    letters = boards.one_hot_alignment([0], source=list("zwei"), output=["two"], model="a")
    subwords = boards.one_hot_alignment([0], source=["▁zw", "ei"], output=["two"], model="b")

    examples = page.grouped([letters, subwords], order=["b", "a"])

    assert [panel["model"] for panel in examples[0]["panels"]] == ["b", "a"]


def test_weights_are_packed_as_thousandths():
    weights = [[[[0.12345, 0.8, float("nan")]]]]
    alignment = AlignmentView(source=["a", "b", "c"], output=["d"], weights=weights)

    assert page.packed(alignment)["weights"] == [[[[123, 800, None]]]]


def test_too_many_weights_become_means_and_then_fewer(boards, monkeypatch):
    alignments = [boards.make_alignment("transformer", "dreiundvierzig", "forty - three") for _ in range(3)]
    size = np.size(alignments[0].weights)

    kept, note = page.fitting(alignments)
    assert (kept, note) == (alignments, "")

    monkeypatch.setattr(page, "MAX_WEIGHTS", size)
    kept, note = page.fitting(alignments)
    assert [np.shape(alignment.weights) for alignment in kept] == [(2, 1, 4, 14)] * 3
    np.testing.assert_allclose(kept[0].weights[1][0], np.mean(alignments[0].weights[1], axis=0))
    assert "mean over its heads" in note

    monkeypatch.setattr(page, "MAX_WEIGHTS", size // 2)
    kept, note = page.fitting(alignments)
    assert len(kept) == 2
    assert "1 of 3 alignments were left out" in note


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
    found = page.grouped(looks, order=["a", "b"])
    assert [one["source"] for one in found] == ["until 2020-01-01", "until 2020-01-02"]
    assert [[panel["model"] for panel in one["panels"]] for one in found] == [["a", "b"], ["a", "b"]]
    assert all(len(panel["wrote"]) <= page.MAX_NUMBERS for one in found for panel in one["panels"])
