"""Words as points, against the formulas written out and against scikit-learn."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import cosine_similarity

from atento.data import WordSpace
from atento.data.text.word_space import parse_terms
from atento.errors import InputError

WORDS, SIZE = 13, 7


@pytest.fixture
def space():
    vectors = np.random.default_rng(3).standard_normal((WORDS, SIZE))
    return WordSpace([f"w{number}" for number in range(WORDS)], vectors)


@pytest.mark.spec("S02")
def test_neighbours_are_those_of_the_whole_matrix_of_cosines(space):
    every = cosine_similarity(space.vectors)
    for place, word in enumerate(space.words):
        order = [other for other in np.argsort(-every[place]) if other != place][:5]
        found = space.nearest(word, 5)
        assert [one.word for one in found] == [space.words[other] for other in order]
        np.testing.assert_allclose([one.cosine for one in found], every[place][order])
    assert space.cosine("w2", "w5") == pytest.approx(every[2, 5])


@pytest.mark.spec("S02")
def test_an_analogy_is_a_sum_of_directions(space):
    lengths = np.sqrt((space.vectors**2).sum(1))
    plain = space.vectors / lengths[:, None]
    wanted = plain[4] - plain[1] + plain[9]
    scores = plain @ wanted / np.sqrt(wanted @ wanted)
    order = [other for other in np.argsort(-scores) if other not in (4, 1, 9)]
    found = space.analogy("w4", "w1", "w9", count=WORDS)
    assert [one.word for one in found] == [space.words[other] for other in order]
    np.testing.assert_allclose([one.cosine for one in found], scores[order])
    assert space.nearest("w4 - w1 + w9", WORDS) == found
    assert [one.word for one in space.nearest("- w1 + w4 + w9", WORDS)] == [one.word for one in found]


@pytest.mark.spec("S02")
def test_a_parallelogram_is_found():
    royal, male, size = np.array([2.0, 0, 0, 1]), np.array([0, 1.0, 0, 1]), np.array([0, 0, 1.0, -1])
    vectors = {"king": royal + male, "queen": royal - male, "man": male + size, "woman": size - male, "tree": -royal}
    space = WordSpace(list(vectors), list(vectors.values()))
    assert space.analogy("king", "man", "woman")[0].word == "queen"


@pytest.mark.spec("S02")
def test_the_map_is_the_two_principal_components(space):
    lengths = np.linalg.norm(space.vectors, axis=1, keepdims=True)
    wanted = PCA(n_components=2).fit_transform(space.vectors / lengths)
    found = space.project()
    np.testing.assert_allclose(np.abs(found), np.abs(wanted), atol=1e-9)
    largest = np.abs(found).argmax(axis=0)
    assert (found[largest, [0, 1]] > 0).all()


@pytest.mark.spec("S02")
def test_t_sne_keeps_groups_together():
    chance = np.random.default_rng(0)
    centres = np.repeat(chance.standard_normal((3, 11)) * 5, 5, axis=0)
    space = WordSpace([str(number) for number in range(15)], centres + 0.1 * chance.standard_normal((15, 11)))
    flat = space.project("tsne")
    assert flat.shape == (15, 2)
    apart = np.linalg.norm(flat[:, None] - flat[None], axis=-1)
    same = np.repeat(np.arange(3), 5)[:, None] == np.repeat(np.arange(3), 5)[None]
    assert apart[same].max() < apart[~same].min()


def test_few_words_and_few_numbers_have_a_map_too():
    assert WordSpace(["a"], [[1.0, 2.0]]).project().tolist() == [[0.0, 0.0]]
    np.testing.assert_allclose(WordSpace(["a", "b"], [[1.0], [-1.0]]).project(), [[1.0, 0.0], [-1.0, 0.0]])
    assert WordSpace(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]).project("tsne").shape == (2, 2)


def test_a_word_of_zeros_is_near_to_nothing():
    space = WordSpace(["nothing", "a", "b"], [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert space.cosine("nothing", "a") == 0.0
    assert [one.cosine for one in space.nearest("nothing")] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("asked", "terms"),
    [
        ("king", [(1, "king")]),
        ("king - man + woman", [(1, "king"), (-1, "man"), (1, "woman")]),
        ("− man + king", [(-1, "man"), (1, "king")]),
        ("new york + forty-three", [(1, "new york"), (1, "forty-three")]),
        ("a - b", [(1, "a - b")]),  # known as it stands
    ],
)
def test_how_a_sum_is_written(asked, terms):
    assert parse_terms(asked, {"a - b"}) == terms


@pytest.mark.parametrize("asked", ["", " ", "+", "a - - b", "a +"])
def test_a_sum_that_is_none_is_refused(asked):
    with pytest.raises(InputError, match="king - man"):
        parse_terms(asked, {})


def test_an_unknown_word_names_its_neighbour(space):
    with pytest.raises(InputError, match="did you mean 'w12'"):
        space.nearest("w122")
    assert "w3" in space and "nobody" not in space and len(space) == WORDS


@pytest.mark.parametrize(("words", "vectors"), [(["a"], [[1], [2]]), (["a", "a"], [[1], [2]]), ([], []), (["a"], [1])])
def test_words_and_vectors_must_go_together(words, vectors):
    with pytest.raises(InputError):
        WordSpace(words, vectors)
