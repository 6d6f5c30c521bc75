import pytest

from atento.errors import InputError
from atento.views import AlignmentView
from atento.views.attention.terminal import columns_of, fitted, shade


def test_characters_stand_over_their_own_column(boards):
    alignment = boards.one_hot_alignment([0, 3, 4], source=[*"zwei", "<end>"], output=["two", "!", "<end>"])

    header, (*rows, blank, legend) = shade(alignment).splitlines()[:5], shade(alignment).splitlines()[5:]

    assert header == ["          <", "          e", "          n", "          d", "      zwei>"]
    assert rows == ["two   █", "!        █", "<end>     █"]
    assert blank == ""
    assert legend.startswith("░ ≥ 0.05")


def test_words_lie_over_columns_as_wide_as_they_are(boards):
    alignment = boards.one_hot_alignment([0, 2], source=["das", "alte", "Haus"], output=["the", "house"])

    assert shade(alignment).splitlines()[:3] == ["      das alte Haus", "the   ███", "house          ████"]


def test_weights_become_five_shades():
    weights = [[[[0.0, 0.05, 0.3, 0.6, 0.8, float("nan")]]]]

    shaded = shade(AlignmentView(source=list("abcdef"), output=["x"], weights=weights))

    assert shaded.splitlines()[1] == "x  ░▒▓█?"


@pytest.mark.parametrize("width", [30, 44, 80, 200])
def test_long_sources_are_folded_into_bands_that_fit(boards, width):
    source = "vierhundertachtunddreißigtausendfünfhundertzweiundfünfzig"
    alignment = boards.make_alignment("lstm+dot", source, "four hundred thirty - eight thousand five hundred")

    *bands, _ = shade(alignment, width=width).split("\n\n")

    assert all(columns_of(line) <= width for line in shade(alignment, width=width).splitlines())
    assert "".join(band.splitlines()[0].strip() for band in bands) == source


def test_the_mean_over_heads_of_the_asked_layer_is_shown():
    first, second = [[1.0, 0.0]], [[0.0, 1.0]]
    alignment = AlignmentView(source=["a", "b"], output=["x"], weights=[[first, first], [first, second]])

    assert shade(alignment, layer=0).splitlines()[1] == "x █"
    assert shade(alignment).splitlines()[1] == "x ▓▓"


def test_wide_letters_marks_and_control_codes_keep_the_columns(boards):
    tokens = ["日", "é", "\x1b", " ", "😀"]
    alignment = boards.one_hot_alignment([0, 4], source=tokens, output=["sun", "face"])

    header, first, second = shade(alignment).splitlines()[:3]

    assert "\x1b" not in header
    assert first == "sun  ██"
    assert columns_of(second) == columns_of(header) == 5 + 2 + 1 + 1 + 1 + 2


def test_text_is_fitted_by_columns():
    assert fitted("abc", 5) == "abc  "
    assert fitted("abcdef", 4) == "abc…"
    assert fitted("日本語", 4) == "日… "


def test_a_model_without_attention_is_refused():
    with pytest.raises(InputError, match="no weights"):
        shade(AlignmentView(source=["a"], output=["b"], weights=[]))
