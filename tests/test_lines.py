"""Lines end at line breaks alone."""

from atento.lines import lines_of

SIGNS = ["a\u0085b", "a\u2028b", "a\u2029b", "a\x0bb", "a\x0cb", "a\x1cb\x1dc\x1ed", "👩\u200d💻", "a\ufeffb"]


def test_other_separators_stay_in_their_lines():
    assert lines_of("".join(f"{sign}\n" for sign in SIGNS)) == SIGNS


def test_every_line_break_ends_a_line():
    assert lines_of("a\r\nb\rc\n\nd") == ["a", "b", "c", "", "d"]
    assert lines_of("a\n") == ["a"]
    assert lines_of("") == []
