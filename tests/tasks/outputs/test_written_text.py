"""The translate task: what it learns from, what it answers, and where it looked."""

import math

import pytest
import torch

from atento.data.evidence.evidence import gather
from atento.data.text.vocabulary import END, START, UNKNOWN
from atento.errors import InputError
from atento.models import ModelName
from atento.spec import DataRecipe, DecodeRecipe, ModelRecipe, TokensRecipe
from atento.tasks.catalogue import TRANSLATE
from atento.tasks.filling import fill_defaults
from atento.tasks.finding import find_task, recognise
from atento.tasks.outputs.output import Example

PAIRS = [("ab", "x y"), ("ba", "y x"), ("aab", "x x y"), ("c", "z")] * 8


@pytest.fixture(scope="module")
def codec():
    return TRANSLATE.learning.learn(TokensRecipe(source="char", target="word"), PAIRS)


@pytest.fixture(scope="module")
def module(codec):
    torch.manual_seed(0)
    return TRANSLATE.learning.build(ModelRecipe(name="lstm+additive", hidden=16, dropout=0.0), codec).eval()


def test_vocabularies_come_from_the_training_part_alone(tmp_path):
    """A letter that only validation or test hold is unknown, and no word of theirs can be written."""
    rows = [(f"a{'b' * (n % 5)} {n % 7}", f"x y {n % 7}") for n in range(60)]
    train, held = tmp_path / "t.tsv", tmp_path / "h.tsv"
    train.write_text("".join(f"{source}\t{target}\n" for source, target in rows))
    held.write_text("aß\tnever\n")
    reading = TRANSLATE.reading.read(DataRecipe(train=str(train), valid=str(held), test=str(held)), 0)
    for level in ("char", "word", "subword"):
        learned = TRANSLATE.learning.learn(TokensRecipe(source=level, target=level), reading.train)
        assert UNKNOWN in learned.input.encode("aß")
        assert UNKNOWN in learned.output.encode("never")
        assert UNKNOWN not in learned.input.encode("abb 3")


def test_a_codec_comes_back_as_it_was(codec):
    again = TRANSLATE.learning.load(codec.to_json())
    for pair in PAIRS[:4]:
        assert TRANSLATE.learning.encode(again, pair) == TRANSLATE.learning.encode(codec, pair)
    assert again.output.limit == codec.output.limit
    assert codec.output.vocabulary.decode(codec.output.encode("x x y")) == "x x y"
    batch = TRANSLATE.learning.batch(codec, [TRANSLATE.learning.encode(codec, PAIRS[3])])
    assert (batch.previous[0, 0], batch.target[0, -1]) == (START, END)


@pytest.mark.parametrize("change", [{"longest": "9"}, {"longest": 0}, {"growth": "1"}, {"vocabulary": None}])
def test_no_codec(codec, change):
    saved = codec.to_json()
    with pytest.raises(InputError):
        TRANSLATE.learning.load({**saved, "output": {**saved["output"], **change}})


def test_batches_are_padded_on_the_right(codec):
    batch = TRANSLATE.learning.batch(codec, [TRANSLATE.learning.encode(codec, pair) for pair in PAIRS[:4]])
    assert batch.source.shape == (4, 3)
    assert batch.target.shape == batch.previous.shape == (4, 4)
    assert batch.source_valid.sum(1).tolist() == [2, 2, 3, 1]
    assert batch.target_valid.sum(1).tolist() == [3, 3, 4, 2]
    assert (batch.target[~batch.target_valid] == 0).all()


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_the_loss_is_of_real_tokens_only(codec, module, smoothing):
    """By hand: each pair alone, each token's log-probability, the smoothed share over all tokens."""
    encoded = [TRANSLATE.learning.encode(codec, pair) for pair in PAIRS[:4]]
    together = TRANSLATE.learning.loss(module, TRANSLATE.learning.batch(codec, encoded), smoothing)
    total, count = 0.0, 0
    for pair in encoded:
        batch = TRANSLATE.learning.batch(codec, [pair])
        logs, target = module(batch).log_softmax(-1), torch.tensor([*pair.target, END])
        right = logs[torch.arange(len(target)), target]
        total -= ((1 - smoothing) * right + smoothing * logs.mean(-1)).sum().item()
        count += len(target)
    assert together.items == count == 12
    assert together.total.item() == pytest.approx(total, rel=1e-5)
    assert together.mean.item() == pytest.approx(total / 12, rel=1e-5)


@pytest.mark.parametrize("beam", [1, 3])
def test_neighbours_do_not_change_an_answer(codec, module, beam):
    sources, recipe = ["ab", "c", "aabbaabb", "", "?", "ba " * 9], DecodeRecipe(beam=beam)
    together = TRANSLATE.answering.answer(module, codec, sources, recipe)
    for source, answer in zip(sources, together, strict=True):
        (alone,) = TRANSLATE.answering.answer(module, codec, [source], recipe)
        assert alone.text == answer.text
        assert alone.score == pytest.approx(answer.score, abs=1e-4)
        assert answer.score <= 0
    assert TRANSLATE.answering.answer(module, codec, [], recipe) == []


@pytest.mark.parametrize("beam", [1, 3])
def test_neighbours_do_not_change_how_long_an_answer_may_be(beam):
    """A model that never ends writes as much as its own source allows, not its neighbour's."""
    long_pairs = [("ab" * 30, "x " * 60), ("ba" * 30, "y " * 60)] * 4
    codec = TRANSLATE.learning.learn(TokensRecipe(source="char", target="word"), long_pairs)
    torch.manual_seed(0)
    module = TRANSLATE.learning.build(ModelRecipe(name="gru", hidden=16, dropout=0.0), codec).eval()
    with torch.no_grad():
        module.decoder.bias[END] = -1e4
    sources, recipe = ["a", "ab" * 30, "ab" * 5], DecodeRecipe(beam=beam)
    together = TRANSLATE.answering.answer(module, codec, sources, recipe)
    alone = [TRANSLATE.answering.answer(module, codec, [source], recipe)[0] for source in sources]
    assert [answer.text for answer in together] == [answer.text for answer in alone]
    assert [answer.score for answer in together] == pytest.approx([answer.score for answer in alone], rel=1e-4)
    assert [len(answer.text.split()) for answer in together] == [12, 95, 30]


def test_a_look_is_at_the_answer_itself(codec, module):
    (answer,) = TRANSLATE.answering.answer(module, codec, ["aab"], DecodeRecipe())
    look = TRANSLATE.answering.look(module, codec, " aab ", DecodeRecipe())
    assert look.text == answer.text
    assert look.score == pytest.approx(answer.score, abs=1e-5)
    assert look.source == ["a", "a", "b"]
    assert look.output[-1] == "<end>"
    assert look.weights.shape == (1, 1, len(look.output), 3)
    torch.testing.assert_close(look.weights.sum(-1), torch.ones(1, 1, len(look.output)))
    unknown = TRANSLATE.answering.look(module, codec, "a?b", DecodeRecipe())
    assert unknown.source == ["a", "?", "b"], "a person reads what was typed"


def test_an_output_has_an_end(codec, module):
    (answer,) = TRANSLATE.answering.answer(module, codec, ["ab" * 50], DecodeRecipe(max_tokens=4))
    assert len(answer.text.split()) <= 4
    (answer,) = TRANSLATE.answering.answer(module, codec, ["ab" * 50], DecodeRecipe())
    assert len(answer.text.split()) <= codec.output.limit.longest
    assert math.isfinite(answer.score)


def test_the_headline_follows_the_level_of_the_target(codec):
    assert [metric.name for metric in TRANSLATE.judging.metrics(codec)] == ["exact", "symbol_error", "chrf", "bleu"]
    texts = [(f"a {n}", " ".join(f"word{n * k}" for k in range(9))) for n in range(60)]
    open_text = TRANSLATE.learning.learn(TokensRecipe(source="char", target="subword", vocab_size=60), texts)
    assert [metric.name for metric in TRANSLATE.judging.metrics(open_text)] == ["chrf", "bleu", "exact"]


def test_the_task_is_found_by_name_or_by_looking(tiny_pairs, tmp_path):
    assert find_task("translate", DataRecipe(train="nowhere")) == (TRANSLATE, "")
    assert find_task("auto", DataRecipe(train="numbers")) == (TRANSLATE, "")
    task, reason = find_task("auto", DataRecipe(train=str(tiny_pairs)))
    assert task is TRANSLATE
    assert reason.startswith("task: translate (")
    with pytest.raises(InputError, match="no task 'sing'"):
        find_task("sing", DataRecipe(train="numbers"))
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("text,stars\n" + "".join(f"a text {n},{n % 5}\n" for n in range(30)))
    assert recognise(gather(str(ratings)))["translate"].likelihood < 0.5
    assert TRANSLATE.reading.recognise(gather(str(tiny_pairs))).likelihood > 0.5
    ratings.write_text("x,y\n" + "".join(f"{n * 7919 % 31 / 7:.3f},{n * 6101 % 37 / 9:.3f}\n" for n in range(30)))
    with pytest.raises(InputError, match="no task fits"):
        find_task("auto", DataRecipe(train=str(ratings)))


def test_what_the_user_says_goes_before_defaults():
    chosen = fill_defaults(TRANSLATE, {}, data="numbers")
    assert chosen.model.name == TRANSLATE.defaults.model
    assert (
        chosen.train.lr == TRANSLATE.defaults.values("numbers", ModelName.parse(TRANSLATE.defaults.model))["train.lr"]
    )
    told = fill_defaults(TRANSLATE, {"train.lr": 0.5, "model.name": "gru"}, data="numbers")
    assert (told.train.lr, told.model.name, told.task) == (0.5, "gru", "translate")


@pytest.mark.spec("E07")
def test_a_draw_depends_on_its_source_and_seed_alone(codec, module):
    """Not on neighbours, nor on their order; the same source asked again is drawn anew."""
    sources, recipe = ["ab", "c", "aabb", "ab", "", "ba"], DecodeRecipe(temperature=2.0, seed=3)
    together = TRANSLATE.answering.answer(module, codec, sources, recipe)
    assert TRANSLATE.answering.answer(module, codec, sources, recipe) == together
    backwards = TRANSLATE.answering.answer(module, codec, ["ba", "", "ab", "aabb", "ab", "c"], recipe)
    assert [answer.text for answer in backwards] == [together[place].text for place in (5, 4, 0, 2, 3, 1)]
    for place in (0, 1, 2, 4, 5):
        assert TRANSLATE.answering.answer(module, codec, [sources[place]], recipe)[0].text == together[place].text
    drawn = {answer.text for answer in TRANSLATE.answering.answer(module, codec, ["ab"] * 30, recipe)}
    assert len(drawn) > 5
    other = TRANSLATE.answering.answer(module, codec, sources, DecodeRecipe(temperature=2.0, seed=4))
    assert [answer.text for answer in other] != [answer.text for answer in together]


def test_a_draw_of_one_is_greedy(codec, module):
    sources = ["ab", "c", "aabb"]
    greedy = TRANSLATE.answering.answer(module, codec, sources, DecodeRecipe())
    assert TRANSLATE.answering.answer(module, codec, sources, DecodeRecipe(temperature=1.0, top_k=1)) == greedy
    assert TRANSLATE.answering.look(module, codec, "ab", DecodeRecipe(temperature=2.0)).output[-1] == "<end>"


def test_capital_letters_read_as_small_ones():
    pairs = [("Ab Ba", "Ba Ab"), ("ba ab", "Ab ba")] * 4
    codec = TRANSLATE.learning.learn(TokensRecipe(source="char", target="char", lowercase=True), pairs)
    again = TRANSLATE.learning.load(codec.to_json())
    for one in (codec, again):
        assert one.input.encode("AB ba") == one.input.encode(" ab BA ")
        assert one.output.vocabulary.decode(one.output.encode("Ab")) == "Ab", "a target keeps its capital letters"
    plain = TRANSLATE.learning.learn(TokensRecipe(source="char", target="char"), pairs)
    assert plain.input.encode("Ab") != plain.input.encode("ab")


def test_forgotten_tokens_are_unknown_and_padding_stays(codec):
    batch = TRANSLATE.learning.batch(codec, [Example([5] * 400, [5]), Example([6] * 100, [])])
    torch.manual_seed(0)
    blurred = TRANSLATE.learning.word_dropout(batch, 0.25)
    lost = blurred.source == UNKNOWN
    assert not lost[~batch.source_valid].any()
    assert torch.equal(blurred.source[~lost], batch.source[~lost])
    assert 0.17 < lost.sum() / 500 < 0.33
    assert torch.equal(blurred.target, batch.target)
