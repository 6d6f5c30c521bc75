import random

import pytest

from atento.data import SPECIAL_TOKENS, Characters, Words
from atento.data.text.vocabulary import JOINER, UNKNOWN
from atento.errors import InputError


@pytest.mark.parametrize(
    "text, tokens",
    [
        ("forty-three", ["forty", "￭-￭", "three"]),
        ("Go now, please.", ["Go", "now", "￭,", "please", "￭."]),
        ("¿Quién?", ["¿￭", "Quién", "￭?"]),
        ("a - b", ["a", "-", "b"]),
        ("(a) b", ["(￭", "a", "￭)", "b"]),
        ("wait...", ["wait", "￭.", "￭.", "￭."]),
        ("snake_case 3rd", ["snake_case", "3rd"]),
        ("a￭b", ["a", "￭_￭_￭", "b"]),
    ],
)
def test_words_remember_where_no_space_was(text, tokens):
    words = Words([])
    assert words.tokenize(text) == tokens
    assert words.detokenize(tokens) == text


def test_a_joiner_stands_where_a_mark_touches_what_is_before_it_or_a_word_after_it():
    """By the definition, character by character, over texts of all kinds of signs."""
    chance, signs = random.Random(0), "ab_1 .,'\t\u00a0￭é\u0301²\x1c\u2028\u200b¿中"
    for _ in range(3000):
        text = "".join(chance.choices(signs, k=chance.randint(0, 7)))
        expected, word = [], ""
        for at, sign in enumerate(text):
            if sign.isalnum() or sign == "_":
                word += sign
                if at + 1 == len(text) or not (text[at + 1].isalnum() or text[at + 1] == "_"):
                    expected.append(word)
                    word = ""
            elif not sign.isspace():
                before = JOINER if at and not text[at - 1].isspace() else ""
                after = JOINER if text[at + 1 : at + 2].isalnum() or text[at + 1 : at + 2] == "_" else ""
                expected.append(before + (f"_{JOINER}_" if sign == JOINER else sign) + after)
        assert Words([]).tokenize(text) == expected


def test_white_space_becomes_one_space():
    words = Words([])
    assert words.detokenize(words.tokenize("  a \t b\n\nc ")) == "a b c"


def test_a_join_sign_with_nothing_beside_it_is_not_written():
    assert Words([]).detokenize(["￭.", "a", "¿￭"]) == ". a ¿"


def test_the_commonest_tokens_are_kept_ties_in_alphabetical_order():
    texts = ["b b b a a c", "d a c"]
    assert Words.learn(texts, size=3, least_count=1).id_to_token[len(SPECIAL_TOKENS) :] == ("a", "b", "c")
    assert Words.learn(texts, size=100, least_count=2).id_to_token[len(SPECIAL_TOKENS) :] == ("a", "b", "c")
    rare = Words.learn(texts, size=100, least_count=3)
    assert rare.encode("a c d") == [len(SPECIAL_TOKENS), UNKNOWN, UNKNOWN]


def test_characters_are_characters():
    characters = Characters.learn(["ab￭"], size=100, least_count=1)
    numbers = characters.encode("b￭a")
    assert characters.tokens(numbers) == ["b", JOINER, "a"]
    assert characters.decode(numbers) == "b￭a"


def test_pieces_are_what_a_person_reads():
    words = Words.learn(["forty-three ￭ ."], size=100, least_count=1)
    assert words.tokens(words.encode("forty-three ￭")) == ["forty", "-", "three", JOINER]
    assert words.tokens([0, 1, 2, 3]) == list(SPECIAL_TOKENS)


def test_a_token_twice_is_refused():
    with pytest.raises(InputError, match="twice"):
        Words(["a", "b", "a"])
