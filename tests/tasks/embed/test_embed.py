"""The embed task: what it asks of a model, its codec, its passages and its simple model, each by hand."""

import numpy as np
import pytest
import torch

from atento.data import Words
from atento.errors import InputError
from atento.metrics.language_model import PREFERENCE
from atento.models import ModelName
from atento.models.builders.language_model import EMBEDDERS, require_embedder
from atento.models.embedder import noise_distribution
from atento.spec import DataRecipe, DecodeRecipe, ModelRecipe, TokensRecipe
from atento.tasks.catalogue import TASKS
from atento.tasks.embed.codec import WordCodec
from atento.tasks.embed.embed import EMBED, NextWordCounts, next_word_preference, preferred_share
from atento.tasks.reading.text import passages, read_passages

TEXTS = ["the cat sees the dog", "the dog sees the cat", "a bird sings", "the bird sees a cat"] * 3


@pytest.fixture(scope="module")
def codec():
    return WordCodec.learn(TokensRecipe(), [(text, "") for text in TEXTS])


def build(codec, name="skip-gram", **choices):
    torch.manual_seed(0)
    module = EMBED.learning.build(ModelRecipe(name=name, hidden=5, window=2, **choices), codec).eval()
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter.detach())
    return module


def test_a_true_word_is_preferred_to_the_noise_below_it():
    scores = torch.tensor([[[5.0, 1.0, 2.0, 2.0, 7.0]]])
    noise = torch.tensor([0.0, 0.1, 0.2, 0.3, 0.4])
    assert preferred_share(scores, torch.tensor([[2]]), noise).item() == pytest.approx(0.1 + (0.2 + 0.3) / 2)
    assert preferred_share(scores, torch.tensor([[4]]), noise).item() == pytest.approx(0.1 + 0.2 + 0.3 + 0.4 / 2)


@pytest.mark.parametrize("name", EMBEDDERS)
def test_what_is_judged_word_by_word(codec, name):
    module, noise = build(codec, name), noise_distribution(codec.counts)
    texts = ["the cat sees a bird", "sees", "", "the unheard dog", "xyz"]
    for text, (preferred, asked) in zip(texts, next_word_preference(module, codec, texts, DecodeRecipe()), strict=True):
        row = codec.read(text)
        wanted, words = 0.0, 0
        for at, word in enumerate(row):
            if at and word >= 4:
                scores = module.predict(torch.tensor([row]))[0, at]
                wanted += sum(
                    float(noise[other])
                    * (1.0 if scores[word] > scores[other] else 0.5 * (scores[word] == scores[other]))
                    for other in range(len(scores))
                )
                words += 1
        assert asked == words
        assert preferred == pytest.approx(float(wanted), abs=1e-5)


def test_the_metric_is_the_mean_over_all_words():
    assert PREFERENCE.value([[1.5, 2.0], [0.5, 3.0], [0.0, 0.0]], [("",)] * 3) == pytest.approx(0.4)


def test_a_simple_model_counts_which_word_follows_which():
    simple = NextWordCounts().fit(["a b a c", "a b"], ["", ""])
    counts = {"a": 3, "b": 2, "c": 1}
    noise = {word: count**0.75 for word, count in counts.items()}
    total = sum(noise.values())
    (first, second, third, empty) = simple.predict(["a b", "a c", "c b", ""])
    assert first == [pytest.approx((noise["a"] + noise["c"] + noise["b"] / 2) / total), 1.0]  # b followed a twice
    assert second == [pytest.approx((noise["a"] + noise["c"] / 2) / total), 1.0]  # c once, a never
    assert third == [pytest.approx((noise["c"] + noise["b"] / 2) / total), 1.0]  # nothing followed c: by frequency
    assert empty == [0.0, 0.0]
    with pytest.raises(InputError, match="has not learned"):
        NextWordCounts().predict(["a"])


def test_words_are_counted_in_the_training_part(codec):
    counts = dict(zip(codec.vocabulary.id_to_token, codec.counts, strict=True))
    assert counts["the"] == 15 and counts["bird"] == 6 and counts["<unknown>"] == 0
    again = WordCodec.load(codec.to_json())
    assert (again.counts, again.vocabulary.id_to_token, again.lower) == (
        codec.counts,
        codec.vocabulary.id_to_token,
        False,
    )
    lower = WordCodec.learn(TokensRecipe(lowercase=True), [("The THE cat", "")])
    assert lower.read("the The CAT") == [4, 4, 5]


@pytest.mark.parametrize("saved", [{}, {"counts": [1]}, {"lower": 3}, {"counts": ["x"] * 9}])
def test_a_damaged_codec_is_refused(codec, saved):
    with pytest.raises(InputError):
        WordCodec.load({**codec.to_json(), **saved} if saved else {})


def test_a_text_without_words_is_refused():
    with pytest.raises(InputError, match="no words to learn"):
        WordCodec.learn(TokensRecipe(), [("word", "")])


def test_documents_are_read_passage_by_passage(tmp_path):
    assert list(passages("one\ntwo\n\n \nthree " + "x " * 399)) == ["one two", "three" + " x" * 199, "x " * 199 + "x"]
    path = tmp_path / "text.txt"
    path.write_text("".join(f"line {number} is here\nand goes on\n\n" for number in range(60)))
    reading = read_passages(DataRecipe(train=str(path), documents="paragraphs"), 0)
    assert len(reading.train) + len(reading.valid) + len(reading.test) == 60
    assert all("\n" not in source and source.endswith("and goes on") for source, _ in reading.train)


def test_answers_are_neighbours(codec):
    module = build(codec)
    answers = [
        answer.text
        for answer in EMBED.answering.answer(module, codec, ["cat", "cat - dog", "the cat", "", "zz"], DecodeRecipe())
    ]
    assert all(len(answer.split(", ")) == 5 for answer in answers[:3])
    assert "cat" not in answers[0].split(", ")
    assert answers[3:] == ["", ""]


def test_steps_show_vectors_and_scores(codec):
    for name in EMBEDDERS:
        vectors, scores = EMBED.answering.trace(build(codec, name), codec, "the cat", DecodeRecipe())
        assert vectors.rows == ["the", "cat"] and vectors.shape == [2, 5]
        assert np.shape(scores.matrix) == (2, 5) and not {"<pad>", "<unknown>"} & set(scores.columns)


def test_it_is_never_guessed_and_has_names_of_its_own():
    assert TASKS["embed"].reading.recognise(None).likelihood == 0.0
    with pytest.raises(InputError, match="did you mean 'skip-gram'"):
        require_embedder(ModelName.parse("skipgram"))


def test_words_at_another_level():
    codec = WordCodec.learn(TokensRecipe(source="char"), [("abc", ""), ("cab", "")])
    assert codec.vocabulary.level == "char" and sum(codec.counts) == 6
    assert isinstance(WordCodec.learn(TokensRecipe(), [("a b", "")]).vocabulary, Words)
