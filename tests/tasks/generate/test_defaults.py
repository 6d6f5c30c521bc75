"""Sizes and regularization follow from the text, the time and the machine."""

import random

import pytest

from atento.spec import Recipe
from atento.tasks.catalogue import TASKS
from atento.tasks.filling import fill_defaults, fill_sizes
from atento.tasks.generate.defaults import TextSize, sized

GENERATE = TASKS["generate"]


def text(words=4000, vocabulary=5500):
    chance = random.Random(0)
    return " ".join(f"w{chance.randrange(vocabulary)}" for _ in range(words))


def chosen(model, device, *, copies=1, documents=1, **keys):
    values = {"model.name": model, "data.train": "a.txt", **{key.replace("__", "."): one for key, one in keys.items()}}
    recipe = fill_defaults(GENERATE, values, data="")
    train = [(text() + " " + "x " * 10 * copies, "")] * documents
    return fill_sizes(GENERATE, recipe, values, train, device=device)


def test_how_much_there_is():
    pairs = [("one two. ", ""), ("one two. ", "")]
    words = TextSize.of(Recipe().with_values({"tokens.source": "word", "tokens.min_count": 2}), pairs)
    assert words == ("word", 8.0, 4)  # one, two, the mark and the space at the end
    assert TextSize.of(Recipe().with_values({"tokens.source": "char"}), pairs) == ("char", 18.0, 7)
    assert TextSize.of(Recipe().with_values({"tokens.source": "subword"}), pairs).tokens == pytest.approx(18 / 3.5)


def test_the_more_often_a_text_is_read_the_stronger_is_the_dropout():
    found = [chosen("lstm", "cuda", tokens__source="char", train__epochs=many).model for many in (2, 9, 20, 50)]
    assert [one.dropout for one in found] == [0.1, 0.2, 0.3, 0.4]
    assert [one.recurrent_dropout for one in found] == [0.0, 0.0, 0.2, 0.3]
    assert [one.locked_dropout for one in found] == [False, False, True, True]
    words = chosen("lstm", "cuda", tokens__source="word", train__epochs=90).model
    assert (words.dropout, words.recurrent_dropout, words.embedding_dropout) == (0.6, 0.5, 0.1)
    assert (words.activation_penalty, words.temporal_penalty) == (2.0, 1.0)
    cut = chosen("lstm", "cuda", tokens__source="word", train__epochs=90, train__bptt_steps=10).model
    assert cut.activation_penalty == cut.temporal_penalty == 0.0 and cut.recurrent_dropout == 0.5
    parallel = chosen("minlstm", "cuda", tokens__source="word", train__epochs=90).model
    assert parallel.dropout == 0.6 and parallel.recurrent_dropout == 0.0, "it has no recurrent matrices"


def test_a_large_vocabulary_is_drawn_from_on_a_cpu_alone():
    assert (
        chosen("lstm", "cpu", tokens__source="word", tokens__vocab_size=9000, train__budget=60).model.sampled_softmax
        == 0
    )
    pairs = [(text(60_000, 5000), "")]
    values = {"model.name": "lstm", "data.train": "a.txt", "tokens.source": "word", "train.budget": 60}
    values["tokens.vocab_size"] = 9000
    recipe = fill_defaults(GENERATE, values, data="")
    assert fill_sizes(GENERATE, recipe, values, pairs, device="cpu").model.sampled_softmax == 1024
    assert fill_sizes(GENERATE, recipe, values, pairs, device="cuda").model.sampled_softmax == 0


def test_width_follows_the_time():
    widths = [chosen("lstm", "cpu", tokens__source="char", train__budget=many).model.hidden for many in (20, 600, 6000)]
    assert widths == sorted(widths) and widths[0] == 256 and widths[-1] == 512
    small = chosen("gru", "cuda", tokens__source="char", train__budget=600)
    assert small.model.hidden == 256 and small.train.epochs == 60, "a short text is not read for ever"
    large = chosen("gru", "cuda", tokens__source="char", train__budget=600, documents=40)
    assert large.model.hidden == 1024 and large.train.lr == pytest.approx(2e-3)


def test_what_a_user_says_goes_before():
    said = chosen("lstm", "cuda", tokens__source="word", train__epochs=90, model__dropout=0.25, model__hidden=77).model
    assert (said.dropout, said.hidden) == (0.25, 77)
    masked = chosen("gru", "cuda", train__objective="masked").model
    assert masked.embedding_dropout == 0.0 and not masked.locked_dropout
    recipe = fill_defaults(GENERATE, {"model.name": "lstm", "data.train": "stories"}, data="stories")
    assert sized(recipe, [(text(), "")], "cuda") == {}
    assert chosen("transformer", "cuda", tokens__source="word", train__budget=60).model.positions == "rotary"
    assert chosen("transformer+alibi+ngram", "cuda", tokens__source="word").model.positions == "sinusoidal"
    assert chosen("transformer", "cpu", tokens__source="char", train__budget=60).model.hidden == 128


def test_a_transformer_that_is_short_of_time_is_small_and_takes_many_steps():
    sizes = ("hidden", "layers", "positions", "dropout")
    short = chosen("transformer", "cpu", tokens__source="char", train__budget=60, train__threads=1, documents=90)
    assert [getattr(short.model, key) for key in sizes] == [128, 2, "rotary", 0.0]
    assert (short.train.batch_tokens, short.train.sequence_length, short.train.lr) == (512, 64, 3e-3)
    assert "core" in short.why("model.layers")
    often = chosen("transformer", "cpu", tokens__source="char", train__budget=60, train__threads=1)
    assert often.model.layers == 2 and often.model.dropout == 0.1, "a text that is read often needs dropout"
    biased = chosen("transformer+alibi", "cpu", tokens__source="char", train__budget=60, train__threads=1)
    assert biased.model.layers == 2 and biased.model.positions == "sinusoidal"
    for known in ({"train__budget": 6000}, {"train__steps": 10}, {"train__budget": 60, "model__layers": 4}):
        assert chosen("transformer", "cpu", tokens__source="char", **known).model.layers == 4
