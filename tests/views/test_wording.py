import pytest

from atento.views import wording


@pytest.mark.parametrize(
    "say, value, words",
    [
        (wording.score, 0.98749, "0.987"),
        (wording.score, 34.21, "34.2"),
        (wording.score, -3.2, "−3.200"),
        (wording.score, 6.9377e64, "6.94e+64"),
        (wording.score, -2.5e7, "−2.50e+07"),
        (wording.score, None, "–"),
        (wording.score, float("nan"), "–"),
        (wording.change, -0.59, "−0.590"),
        (wording.change, 0.02, "+0.020"),
        (wording.change, 0.0, "±0.000"),
        (wording.whole, 325923, "325,923"),
        (wording.rate, 1540.4, "1,540"),
        (wording.rate, 12.54, "12.5"),
        (wording.rate, None, "–"),
        (wording.duration, 60.2, "60.2 s"),
        (wording.duration, 300.0, "5.0 min"),
        (wording.duration, 9000.0, "2.5 h"),
        (wording.duration, None, "–"),
        (wording.round_duration, 60.0, "60 s"),
        (wording.round_duration, None, ""),
        (wording.memory, 612.4, "612 MB"),
        (wording.memory, 12595.2, "12.3 GB"),
    ],
)
def test_numbers_in_words(say, value, words):
    assert say(value) == words


def test_shortening():
    assert wording.shortened("abcdef", 4) == "abc…"
    assert wording.shortened("abcd", 4) == "abcd"


def test_what_is_lost_without_a_teacher():
    found = {"forced": {"tokens": 0.9911, "exact": 0.953}, "free": {"tokens": 0.9842, "exact": 0.931}}
    words = "token accuracy: teacher forcing 0.991, free running 0.984 (exact 0.953, 0.931)"
    assert wording.exposure(found) == words


def test_decimals_and_very_large_scores():
    assert [wording.decimals(value, 4) for value in (0.98749, None, 685748384.0105)] == ["0.9875", "–", "6.8575e+08"]
    assert wording.interval(0.5, 2e9, digits=4) == "0.5000–2.0000e+09"
