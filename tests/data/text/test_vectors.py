"""The text format of word vectors, as word2vec and GloVe write it."""

import gzip
import lzma
import random

import numpy as np
import pytest

from atento.data import read_vectors, write_vectors
from atento.errors import InputError

WORD2VEC = "3 2\nking 0.5 -1.25 \nqueen 0.25 2e-3 \nñu 1 0 \n"
GLOVE = "king 0.5 -1.25\nqueen 0.25 0.002\nñu 1 0\n"


def put(folder, text, name="vectors.txt"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.spec("S03")
@pytest.mark.parametrize("text", [WORD2VEC, GLOVE, GLOVE.replace(" ", "\t"), "\ufeff" + GLOVE.replace("\n", "\r\n")])
def test_both_forms_of_the_format(tmp_path, text):
    found = read_vectors(put(tmp_path, text))
    assert found.words == ("king", "queen", "ñu")
    np.testing.assert_array_equal(found.vectors, np.float32([[0.5, -1.25], [0.25, 0.002], [1, 0]]))
    assert "3 words of 2 numbers each" in found.notes[0]


@pytest.mark.spec("S03")
@pytest.mark.parametrize("name", ["v.txt", "v.vec", "v.txt.gz", "v.txt.xz"])
@pytest.mark.parametrize("header", [True, False])
def test_a_round_trip_changes_no_digit(tmp_path, name, header):
    chance = np.random.default_rng(3)
    vectors = (chance.standard_normal((11, 7)) * 10.0 ** chance.integers(-30, 30, (11, 7))).astype(np.float32)
    words = ["the", "1", "-", "at name@domain.com", ". . .", "你好", "É", "\u0085", "a\u00a0b", "0.5", "x"]
    path = write_vectors(tmp_path / name, words, vectors, header=header)
    found = read_vectors(path)
    assert found.words == tuple(words)
    np.testing.assert_array_equal(found.vectors, vectors)
    again = write_vectors(tmp_path / f"again-{name}", found.words, found.vectors, header=header)
    unpack = {".gz": gzip.decompress, ".xz": lzma.decompress}.get(path.suffix, bytes)
    assert unpack(again.read_bytes()) == unpack(path.read_bytes())


@pytest.mark.spec("S03")
def test_printed_digits_are_printed_again(tmp_path):
    text = "".join(f"w{at} {0.418 + at / 1000:.5f} -0.041{at} {at / 7:.6f}\n" for at in range(1, 10))
    path = put(tmp_path, text)
    found = read_vectors(path)
    write_vectors(tmp_path / "again.txt", found.words, found.vectors, header=False)
    written = [line.split() for line in (tmp_path / "again.txt").read_text().splitlines()]
    for (word, *numbers), (word_again, *numbers_again) in zip(
        (line.split() for line in text.splitlines()), written, strict=True
    ):
        assert word == word_again
        assert [float(number) for number in numbers] == [float(number) for number in numbers_again]


FAULTS = [
    ("king 0.5 1\nqueen 0.5\n", "vectors.txt:2:10: the vector is too short."),
    ("king 0.5 1\nqueen 0.5 2 3\n", "vectors.txt:2:7: the vector is too long."),
    ("king 0.5 1\nqueen 0.5 x\n", "vectors.txt:2:11: 'x' is no number."),
    ("king 0.5 1\nqueen nan 1\n", "vectors.txt:2:7: 'nan' is no number."),
    ("king 0.5 1\nqueen 1 1e39\n", "vectors.txt:2:9: '1e39' is no number."),
    ("king 0.5 1\nqueen 1 1_0\n", "vectors.txt:2:9: '1_0' is no number."),
    ("king 0.5 1\n 0.5 1\n", "vectors.txt:2:1: there is no word"),
    ("king 0.5 1\nduke 1 2\nking 0.5 1\n", "vectors.txt:3:1: the word 'king' is named twice."),
    ("3 2\nking 0.5 1\nduke 1 2\n", "vectors.txt:1:1: the first line does not agree"),
    ("2 3\nking 0.5 1\nduke 1 2\n", "vectors.txt:2:11: the vector is too short."),
    ("\n\n", "vectors.txt:1:1: there are no vectors."),
    (b"king 0.5 1\nqu\xe9 1 2\n", "vectors.txt:2:3: this is not UTF-8"),
]


@pytest.mark.spec("S03")
@pytest.mark.parametrize(("text", "message"), FAULTS, ids=[message[12:40] for _, message in FAULTS])
def test_a_bad_line_is_named(tmp_path, text, message):
    with pytest.raises(InputError) as caught:
        read_vectors(put(tmp_path, text))
    assert str(caught.value).startswith(message)


def test_bad_lines_can_be_left_out(tmp_path):
    text = "3 2\nking 0.5 1\nking 1 2\nqueen 1\n"
    found = read_vectors(put(tmp_path, text), bad_rows="skip")
    assert found.words == ("king",)
    assert [str(refusal) for refusal in found.refused] == [
        "vectors.txt:3:1: the word 'king' is named twice.",
        "vectors.txt:4:8: the vector is too short.",
    ]


@pytest.mark.spec("S03")
def test_a_word_that_nobody_wants_is_still_not_named_twice(tmp_path):
    with pytest.raises(InputError, match=r"vectors\.txt:3:1: the word 'king' is named twice"):
        read_vectors(put(tmp_path, "king 0.5 1\nduke 1 2\nking 0.5 1\n"), only={"duke"})


def test_only_wanted_words_are_kept(tmp_path):
    found = read_vectors(put(tmp_path, WORD2VEC), only={"ñu", "nobody"})
    assert found.words == ("ñu",)
    np.testing.assert_array_equal(found.vectors, [[1, 0]])
    assert read_vectors(put(tmp_path, WORD2VEC), only=()).vectors.shape == (0, 2)


def test_what_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "vectors.txt").write_text("a 1\n")
    with pytest.raises(InputError, match="did you mean"):
        read_vectors(tmp_path / "vector.txt")
    with pytest.raises(InputError, match="cannot be unpacked"):
        read_vectors(put(tmp_path, b"king 0.5", "v.gz"))
    with pytest.raises(InputError, match="cannot be read"):
        read_vectors(tmp_path)


@pytest.mark.parametrize("words", [["a", "a"], ["a", ""], ["a", "b\nc"], ["a", " b"], ["a"]])
def test_what_no_line_can_hold_is_not_written(tmp_path, words):
    with pytest.raises(InputError):
        write_vectors(tmp_path / "v.txt", words, np.ones((2, 3)))
    assert not list(tmp_path.iterdir())


def test_vectors_that_are_no_numbers_are_not_written(tmp_path):
    with pytest.raises(InputError, match="finite"):
        write_vectors(tmp_path / "v.txt", ["a"], np.array([[np.nan]]))


def test_seeded_mutations_give_vectors_or_a_place(tmp_path):
    chance, path = random.Random(1), tmp_path / "vectors.txt"
    for _ in range(400):
        data = bytearray(random.Random(2).choice([WORD2VEC, GLOVE]).encode())
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(len(data))
            data[at : at + chance.randrange(3)] = bytes(chance.choices(b"\n \t\x00\xff9.-eka", k=chance.randrange(3)))
        path.write_bytes(bytes(data))
        try:
            found = read_vectors(path)
            assert np.isfinite(found.vectors).all()
            assert len(found.words) == len(found.vectors)
        except InputError as error:
            assert error.problem.startswith("vectors.txt:")
