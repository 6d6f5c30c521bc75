"""The tag task: words in, tags out, from a set to an answer."""

import pytest
import torch

import atento
from atento.errors import InputError
from atento.spec import DataRecipe, DecodeRecipe, ModelRecipe, TokensRecipe
from atento.tasks.catalogue import TAG
from atento.tasks.filling import fill_defaults
from atento.tasks.finding import find_task

PAIRS = [
    ("Ann\tLee\tsat\tin\tRome", "B-per\tI-per\tO\tO\tB-loc"),
    ("Rome\tslept", "B-loc\tO"),
    ("we\tmet\tBob", "O\tO\tB-per"),
]
QUICK = {
    "model.hidden": 32,
    "model.characters": 24,
    "model.dropout": 0.0,
    "train.lr": 1.5e-2,
    "train.batch_tokens": 400,
    "train.warmup": 10,
    "train.steps": 80,
    "train.threads": 1,
    "train.validations": 1,
    "train.validation_examples": 100,
}


@pytest.fixture(scope="module")
def codec():
    return TAG.learning.learn(TokensRecipe(), PAIRS)


@pytest.fixture(scope="module", params=["gru", "gru+crf", "transformer+crf"])
def module(request, codec):
    torch.manual_seed(0)
    recipe = ModelRecipe(name=request.param, hidden=8, heads=2, dropout=0.0, characters=8)
    return TAG.learning.build(recipe, codec).eval()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return atento.fit(
        "grammar", model="gru+crf", settings=QUICK, device="cpu", out=tmp_path_factory.mktemp("tag") / "run"
    )


@pytest.mark.spec("K04")
def test_it_learns_what_no_word_says_by_itself(run):
    """`watch` is a noun here and a verb there; names, verbs and adverbs that were never seen go by their letters."""
    assert run.metrics["metric"] == "accuracy"
    scores = {name: value for name, (value, _, _) in run.metrics["scores"].items()}
    assert scores["accuracy"] > 0.97 and scores["unseen_accuracy"] > 0.95 and scores["sentences"] > 0.85
    assert run.predict(["they watch the watch", "no plan find Brenkosk"]) == [
        "PRON VERB DET NOUN",
        "DET NOUN VERB NAME",
    ]
    frequent, perceptron = (make() for make in TAG.judging.baselines)
    reading = TAG.reading.read(run.recipe.data, 0)
    sources, targets = zip(*reading.train, strict=True)
    said = frequent.fit(sources, targets).predict([question.source for question in reading.test])
    assert TAG.judging.metrics(run.predictor.bundle.codec)[0].value(said, [q.references for q in reading.test]) < 0.9
    assert perceptron.name == "perceptron"


def test_batches_are_padded_on_the_right(codec):
    batch = TAG.learning.batch(codec, [TAG.learning.encode(codec, pair) for pair in PAIRS])
    assert batch.source.shape == (3, 5, 1 + 5)
    assert batch.valid.sum(1).tolist() == [5, 2, 3]
    assert (batch.source[~batch.valid] == 0).all()
    assert [TAG.learning.length(codec, TAG.learning.encode(codec, pair)) for pair in PAIRS] == [5, 2, 3]


def test_the_loss_is_minus_the_log_probability_of_the_tags(codec, module):
    batch = TAG.learning.batch(codec, [TAG.learning.encode(codec, pair) for pair in PAIRS])
    loss = TAG.learning.loss(module, batch, 0.0)
    assert loss.items == 10
    if module.chain is None:
        logits = module(batch)
        said = logits.log_softmax(-1)[range(10), batch.truth[batch.valid]]
        assert loss.total.item() == pytest.approx(-said.sum().item(), rel=1e-5)
        assert TAG.learning.loss(module, batch, 0.1).total > 0
    else:
        with pytest.raises(InputError, match="crf judges whole sequences"):
            TAG.learning.loss(module, batch, 0.1)


def test_answers_are_lists_of_tags_and_neighbours_do_not_change_them(codec, module):
    sources = ["Ann\tmet\tBob", "Rome", "", "Lee slept in Rome!"]
    together = TAG.answering.answer(module, codec, sources, DecodeRecipe())
    alone = [TAG.answering.answer(module, codec, [source], DecodeRecipe())[0] for source in sources]
    assert [len(answer.value) for answer in together] == [3, 1, 0, 5]
    assert [answer.value for answer in together] == [answer.value for answer in alone]
    assert [answer.score for answer in together] == pytest.approx([answer.score for answer in alone], abs=1e-4)
    assert together[0].text == " ".join(together[0].value) and together[0].judged == together[0].value
    assert TAG.answering.answer(module, codec, [], DecodeRecipe()) == []


def test_a_look_is_where_the_words_of_a_transformer_looked(codec, module):
    look = TAG.answering.look(module, codec, "Ann met Bob", DecodeRecipe())
    assert look.source == ["Ann", "met", "Bob"] and look.output[0].startswith("Ann ")
    if type(module.encoder).__name__ == "TransformerEncoder":
        assert look.weights.shape == (1, 2, 3, 3)
        torch.testing.assert_close(look.weights.sum(-1), torch.ones(1, 2, 3))
    else:
        assert look.weights.numel() == 0


def test_steps_hold_the_transitions_and_the_probabilities(codec, module):
    steps = {step.title: step for step in TAG.answering.trace(module, codec, "Ann met Bob", DecodeRecipe())}
    chain = ["start", "transitions", "end"] if module.chain is not None else []
    assert list(steps) == ["words", "states", "scores", *chain, "probabilities"]
    assert [sum(row) for row in steps["probabilities"].matrix] == pytest.approx([1, 1, 1], abs=1e-3)
    if chain:
        assert steps["transitions"].rows == steps["transitions"].columns == list(codec.output.tagset.tags)
        begins = dict(zip(steps["start"].columns, steps["start"].matrix[0], strict=True))
        assert begins["I-per"] < -1000 < begins["B-per"]


def test_the_headline_follows_what_the_tags_are(codec):
    assert [metric.name for metric in TAG.judging.metrics(codec)][:2] == ["span_f1", "span_precision"]
    plain = TAG.learning.learn(TokensRecipe(), [("the\tcat", "DET\tNOUN")])
    assert [metric.name for metric in TAG.judging.metrics(plain)] == ["accuracy", "sentences", "unseen_accuracy"]


def test_how_wrong_an_answer_is(codec):
    assert TAG.judging.error(codec, ["O", "O"], ["O\tO"]) == 0
    assert TAG.judging.error(codec, ["O", "O"], ["B-per\tO", "B-per\tI-per"]) == 1
    assert TAG.judging.error(codec, ["O"], [["O", "O"]]) == 1


def test_words_are_forgotten_while_training(codec):
    torch.manual_seed(0)
    batch = TAG.learning.batch(codec, [TAG.learning.encode(codec, pair) for pair in PAIRS])
    blurred = TAG.learning.word_dropout(batch, 0.5)
    assert (blurred.source[..., 0] != batch.source[..., 0]).any()
    assert torch.equal(blurred.truth, batch.truth) and torch.equal(blurred.source[..., 1:], batch.source[..., 1:])


def test_defaults_name_models_that_can_be_built(codec):
    for name in (*TAG.defaults.models, TAG.defaults.model):
        recipe = fill_defaults(TAG, {"model.name": name}, data="grammar")
        TAG.learning.build(recipe.model, codec)


def test_a_conll_file_is_recognised_and_read(tmp_path):
    path = tmp_path / "some.conll"
    text = "".join(f"{word} {tag}\n" for word, tag in zip(*(part.split("\t") for part in PAIRS[0]), strict=True))
    path.write_text((text + "\n") * 1 + "Rome B-loc\nslept O\n\n" * 20)
    task, _ = find_task("auto", DataRecipe(train=str(path)))
    assert task is TAG
    asked = TAG.reading.read_labelled(DataRecipe(), str(path), 0)
    assert asked.questions[0] == (PAIRS[0][0], (PAIRS[0][1],))
