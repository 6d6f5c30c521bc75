"""Laws of every level of cutting: each token says where in the text it stands."""

import random

import pytest

from atento.data import learn_vocabulary
from atento.data.text.levels import LEVELS
from atento.data.text.subwords import SPACE_SIGN
from atento.data.text.vocabulary import ESCAPED_JOINER, JOINER, UNKNOWN

every_level = pytest.mark.parametrize("level", LEVELS)
CORPUS = ["otitis crónica", "otitis media", "bronquitis crónica", "a bb  cc, dd-ee", "naïve café — 你好 שלום"] * 3
ODD = f"ab é\u0301ñ 你שा\u200b\u200d\ufeff\U0001f469\U0001f467 \t\n,.-'¿_{JOINER}{SPACE_SIGN}<>\ue000\u00a0\u2009"


def learn(level, size=60):
    return learn_vocabulary(level, CORPUS, size=size, least_count=1)


@pytest.mark.spec("S05")
def test_one_text_at_three_levels():
    """Worked out by hand: the text has 14 characters, the two words begin at 0 and 7."""
    text = "otitis crónica"
    characters, subwords, words = learn("char"), learn("subword", size=44), learn("word")
    assert [text[start:end] for start, end in characters.offsets(text)] == list(text)
    assert characters.offsets(text)[6:8] == [(6, 7), (7, 8)]
    assert words.offsets(text) == [(0, 6), (7, 14)]
    assert subwords.tokens(subwords.encode(text)) == [f"{SPACE_SIGN}oti", "tis", f"{SPACE_SIGN}cró", "nica"]
    assert subwords.offsets(text) == [(0, 3), (3, 6), (7, 10), (10, 14)]
    for vocabulary in (characters, subwords, words):
        assert vocabulary.decode(vocabulary.encode(text)) == text


@every_level
@pytest.mark.spec("S05")
def test_tokens_stand_in_order_and_leave_out_white_space_alone(level):
    vocabulary, chance = learn(level), random.Random(5)
    for _ in range(600):
        text = "".join(chance.choices(ODD, k=chance.randrange(14)))
        numbers, places = vocabulary.encode(text), vocabulary.offsets(text)
        assert len(numbers) == len(places)
        last = 0
        for start, end in places:
            assert last <= start <= end <= len(text)
            assert not text[last:start].strip(), f"{text!r}: {text[last:start]!r} is lost"
            last = end
        assert not text[last:].strip()


@every_level
@pytest.mark.spec("S05")
def test_a_known_token_stands_where_its_letters_stand(level):
    vocabulary, chance = learn(level), random.Random(6)
    known = 0
    for _ in range(300):
        text = "".join(chance.choices(ODD, k=11))
        numbers, places = vocabulary.encode(text), vocabulary.offsets(text)
        for number, piece, (start, end) in zip(numbers, vocabulary.tokens(numbers), places, strict=True):
            if number != UNKNOWN and piece not in (JOINER, ESCAPED_JOINER):
                known += 1
                written = text[start:end].replace("\ue000", SPACE_SIGN) if level == "subword" else text[start:end]
                stripped = (
                    piece.removeprefix(SPACE_SIGN)
                    if level == "subword" and not written.startswith(SPACE_SIGN)
                    else piece
                )
                assert stripped.strip() == written.strip(), (text, piece, written)
    assert known > 100


def test_a_space_before_a_word_is_no_part_of_where_it_stands():
    subwords = learn("subword")
    assert subwords.offsets(" otitis") == [(1, 7)]
    assert subwords.tokens(subwords.encode("otitis  otitis")) == [
        f"{SPACE_SIGN}otitis",
        SPACE_SIGN,
        f"{SPACE_SIGN}otitis",
    ]
    assert subwords.offsets("otitis  otitis") == [(0, 6), (6, 7), (8, 14)]


def test_a_sign_that_the_text_does_not_have_takes_no_room():
    subwords = learn("subword")
    assert subwords.tokens(subwords.encode("Ж"))[0] == SPACE_SIGN
    assert subwords.offsets("Ж") == [(0, 0), (0, 1)]
