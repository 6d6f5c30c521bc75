"""What every task shows of the inside of a network: its attention maps, and attributions that add up.

A law is a test for each input × output, and goes through the models that may stand between them.
"""

import copy
import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import atento
from atento.layers.embeddings import TokenEmbedding
from atento.models.classifier import NGramFeatures, OneVsRest
from atento.models.diagnostics.attention_maps import maps_of_calls, record_attention
from atento.models.diagnostics.attribution import integrated_gradients
from atento.spec import ModelRecipe, TokensRecipe
from atento.tasks.catalogue import CLASSIFY, FORECAST, GENERATE
from atento.tasks.generate.generate import self_attention
from atento.tasks.inputs.image import Image
from atento.tasks.inputs.image_question import ImageQuestion
from atento.tasks.inputs.text import Text
from atento.tasks.inputs.two_texts import TwoTexts
from atento.tasks.inputs.words import WordList
from atento.tasks.outputs.one_label import OneLabel
from atento.tasks.outputs.tags import Tags
from cases import asked_of

place = importlib.util.spec_from_file_location("contract_tasks", Path(__file__).with_name("test_tasks.py"))
tasks = importlib.util.module_from_spec(place)
place.loader.exec_module(tasks)

SELF = ("encoder self-attention", "self")
MAPS = {  # what each name of a model must show, whatever the output; none: it does not attend
    (Text, "gru+additive"): [("pooling", "pooling")],
    (Text, "transformer"): [SELF],
    (TwoTexts, "gru+dot+co"): [("first text to second", "cross"), ("second text to first", "cross")],
    (TwoTexts, "transformer+co"): [("self-attention of both texts", "self")],
    (tasks.Numbers, "transformer"): [SELF],
    (Image, "conv+additive"): [("pooling", "regions")],
    (ImageQuestion, "conv/gru+dot+co"): [("question to image", "regions"), ("image to question", "cross")],
    (WordList, "transformer+crf"): [SELF],
}
WRITTEN = {
    "gru+dot": [("cross-attention", "cross")],
    "transformer": [SELF, ("decoder self-attention", "causal"), ("cross-attention", "cross")],
    "conv/gru+dot": [("cross-attention", "regions")],
}
EXTRA = {  # more arrangements of one text and one label
    "gru+hierarchical": [("words within their sentence", "words"), ("sentences within the text", "sentences")],
    "transformer+hierarchical": [
        ("self-attention of words", "self"),
        ("words within their sentence", "words"),
        ("self-attention of sentences", "self"),
        ("sentences within the text", "sentences"),
    ],
}
CASES = {
    f"{input.__name__} × {output.__name__}": [tasks.Case(input, output, name) for name in names]
    for (input, output), names in tasks.NAMES.items()
} | {"Text × OneLabel, hierarchical": [tasks.Case(Text, OneLabel, name) for name in EXTRA]}
every_task = asked_of(CASES)


def passed_of(case, source):
    return case.task.answering.forward_pass(case.module, case.codec, source, tasks.DECODE)


def shown_of(module, passed):
    with torch.no_grad(), record_attention(module) as calls:
        passed.score(passed.values)
    assert not any("read" in vars(part) for part in module.modules())
    return maps_of_calls(calls, passed.places)


def expected(case):
    if case.output is tasks.WrittenText:
        return WRITTEN[case.name]
    return EXTRA.get(case.name) or MAPS.get((case.input, case.name.removesuffix("+one-each")), [])


@pytest.mark.spec("V02")
@every_task
def test_every_attention_is_shown_and_its_rows_sum_to_one(case):
    for source in case.sources:
        maps = shown_of(case.module, passed_of(case, source))
        assert [(one.name.partition(", network")[0], one.kind) for one in maps] == expected(case)
        for one in maps:
            assert one.weights.shape[2:] == (len(one.queries), len(one.keys))
            sums = one.weights.nansum(dim=-1)[~one.weights.isnan().all(dim=-1)]
            torch.testing.assert_close(sums, torch.ones_like(sums), atol=1e-5, rtol=0)


@pytest.mark.spec("V02")
@every_task
def test_maps_are_the_model_s_own_weights(case):
    """What `look` gives comes from the models' own `weights`; of both texts together it is a part of the map."""
    for source in case.sources:
        own = case.task.answering.look(case.module, case.codec, source, tasks.DECODE)
        maps = shown_of(case.module, passed_of(case, source))
        if not own.weights.numel() or isinstance(case.module, OneVsRest):
            continue
        if case.name == "transformer+co":
            queries, keys = own.weights.shape[2:]
            (whole,) = maps
            found = [whole.weights[..., -queries:, :keys]]
        elif case.name in EXTRA:
            words, sentences = (next(one for one in maps if one.kind == kind) for kind in ("words", "sentences"))
            within = words.weights.nansum(dim=2, keepdim=True)
            of_sentence = (~words.weights.isnan()).float().mul(sentences.weights.mT).sum(dim=2, keepdim=True)
            found = [torch.cat([within, of_sentence])]
        else:
            found = [one.weights for one in maps]
        fitting = [weights for weights in found if weights.shape == own.weights.shape]
        assert any(torch.allclose(weights, own.weights, atol=1e-6) for weights in fitting)


@pytest.mark.spec("V02")
@every_task
def test_weights_follow_from_queries_and_keys(case):
    """softmax(Q Kᵀ / √d) in float64 of the vectors that are shown, of a causal map without later keys."""
    for one in shown_of(case.module, passed_of(case, case.sources[-1])):
        if one.vectors is None:
            continue
        query, key, value = (part.double() for part in one.vectors)
        scores = query @ key.mT / query.shape[-1] ** 0.5
        if one.kind == "causal":
            scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -torch.inf)
        torch.testing.assert_close(scores.softmax(dim=-1), one.weights.double(), atol=1e-5, rtol=0)
        assert value.shape == key.shape


def emptied(module, case):
    """A copy whose embeddings are all zero; a matcher's overlaps too."""
    blank = copy.deepcopy(module)
    for name, part in blank.named_modules():
        if isinstance(part, TokenEmbedding) and not (hasattr(blank, "encoder") and name.startswith("decoder")):
            part.register_forward_hook(lambda module, args, output: torch.zeros_like(output))
        if isinstance(part, nn.Embedding) and name.endswith("overlap"):
            part.weight.data.zero_()
    return blank


@every_task
def test_attributions_add_up_to_the_change_of_the_score(case):
    source = case.sources[2]
    passed = passed_of(case, source)
    found = integrated_gradients(passed.reader or case.module, passed.score, passed.values)
    values = found.tokens.sum() + (0 if found.values is None else found.values.sum())
    count = len(found.tokens) + (0 if found.values is None else len(passed.by_item(found.values)))
    assert count in (len(passed.tokens), len([token for token in passed.tokens if token != "¶"]))
    with torch.no_grad():
        assert found.score == pytest.approx(float(passed.score(passed.values)), rel=1e-6)
    hard = case.input is ImageQuestion  # layer norms of two encoders: reported, not reached
    assert float(values) == pytest.approx(found.score - found.baseline, rel=0.3 if hard else 0.01, abs=1e-6)
    assert hard or found.remainder <= 0.01


@every_task
def test_the_baseline_is_the_model_without_what_it_read(case):
    if case.output in (Tags, tasks.WrittenText) or isinstance(case.module, OneVsRest):
        return  # the answer is fixed by the search of the whole model
    passed = passed_of(case, case.sources[2])
    blank, whole = emptied(case.module, case), case.module
    found = integrated_gradients(passed.reader or whole, passed.score, passed.values, most=32)
    encoded = case.codec.input.encode(case.sources[2])
    batch = case.codec.input.asked(whole, [encoded])
    if passed.values is not None:
        batch = type(batch)(torch.zeros_like(batch[0]), *batch[1:])
    with torch.no_grad():
        outputs, logits = blank(batch)[0], whole(case.codec.input.asked(whole, [encoded]))[0]
    best = int(logits.argmax())
    if case.output is OneLabel:
        assert found.baseline == pytest.approx(float(outputs.log_softmax(-1)[best]), abs=1e-6)
    elif case.output is tasks.SeveralLabels:
        assert found.baseline == pytest.approx(float(nn.functional.logsigmoid(outputs[best])), abs=1e-6)
    else:
        scale = case.codec.output.scale
        assert found.baseline == pytest.approx(float(outputs[0]) * scale.std + scale.mean, abs=1e-6)


def test_ngrams_are_attributed_to_their_words():
    """With every other weight of the head at zero, the score is linear in the vectors of n-grams."""
    case = tasks.Case(Text, OneLabel, "gru")
    torch.manual_seed(0)
    recipe = ModelRecipe(name="gru", hidden=6, layers=1, dropout=0.0, ngrams=2)
    module = CLASSIFY.learning.build(recipe, case.codec).double().eval()
    ngrams = next(part for part in module.modules() if isinstance(part, NGramFeatures))
    nn.init.normal_(ngrams.table.weight)
    for parameter in module.head.parameters():
        nn.init.zeros_(parameter)
    tokens = torch.tensor([case.codec.input.encode("four five six")])
    valid = torch.ones_like(tokens, dtype=torch.bool)

    def score(values):
        return module(case.codec.input.asked(module, [tokens[0].tolist()]))[0, 1]

    found = integrated_gradients(module, score)
    vectors = ngrams.table(ngrams.buckets(tokens, valid))[0, :, 1] * 10 / 5**0.5  # four, five, six, four five, five six
    one, two, three, first, second = vectors.tolist()
    wanted = [one + first / 2, two + first / 2 + second / 2, three + second / 2]
    assert found.tokens.tolist() == pytest.approx(wanted, abs=1e-9)


def test_ngrams_of_a_hierarchical_model_belong_to_ends_of_sentences_too():
    case = tasks.Case(Text, OneLabel, "gru+hierarchical")
    torch.manual_seed(0)
    recipe = ModelRecipe(name="gru+hierarchical", hidden=6, layers=1, dropout=0.0, ngrams=2)
    module = CLASSIFY.learning.build(recipe, case.codec).double().eval()
    nn.init.normal_(module.ngrams.table.weight)
    passed = CLASSIFY.answering.forward_pass(module, case.codec, "three two\none", tasks.DECODE)
    found = integrated_gradients(module, passed.score)
    assert list(passed.tokens) == ["three", "two", "¶", "one"] and len(found.tokens) == 4
    assert found.remainder <= 0.01 and found.tokens[2] != 0


@pytest.mark.spec("V02")
@pytest.mark.parametrize("name, objective", [("transformer", "next"), ("gru", "next"), ("transformer", "masked")])
def test_a_language_model_shows_its_self_attention(name, objective):
    texts = ["the cat sat on the mat", "a dog ran to the cat", "the dog sat"] * 3
    codec = GENERATE.learning.learn(TokensRecipe(source="word"), [(text, "") for text in texts])
    codec = replace(codec, objective=objective)
    module = GENERATE.learning.build(ModelRecipe(name=name, hidden=6, heads=2, layers=2, dropout=0.0), codec).eval()
    passed = GENERATE.answering.forward_pass(module, codec, "the dog", tasks.DECODE)
    maps = shown_of(module, passed)
    if name == "gru":
        assert maps == []
    else:
        (one,) = maps
        assert one.kind == ("causal" if objective == "next" else "self")
        row = codec.row(passed.text, whole=False)
        torch.testing.assert_close(one.weights, self_attention(module, row), atol=1e-6, rtol=0)
        assert one.queries == one.keys == list(passed.tokens)
    found = integrated_gradients(module, passed.score)
    assert len(found.tokens) == len(passed.tokens) and found.remainder <= 0.05


WAVE = np.sin(np.arange(240) / 3)


@pytest.fixture(scope="module")
def waves(tmp_path_factory):
    file = tmp_path_factory.mktemp("waves") / "waves.csv"
    rows = [f"2024-01-{1 + at // 24:02d} {at % 24:02d}:00,{value:.4f}\n" for at, value in enumerate(WAVE)]
    file.write_text("time,y\n" + "".join(rows), encoding="utf-8")
    return file


def trained(file, task, name, folder, **settings):
    chosen = {"train.steps": 2, "train.threads": 1, "data.look_back": 12, **settings}
    if name != "linear":
        chosen |= {"model.hidden": 8, "model.layers": 1}
    return atento.fit(file, task=task, model=name, settings=chosen, device="cpu", out=folder)


@pytest.mark.spec("V02")
@pytest.mark.parametrize("name", ["gru+dot", "transformer", "gru", "linear"])
def test_a_forecaster_shows_where_it_attends(name, waves, tmp_path):
    run = trained(waves, "forecast", name, tmp_path / "run", **{"data.horizon": 3})
    source = run.predictor.bundle.read().test[0].source
    codec, like = run.predictor.bundle.codec, next(run.module.parameters())
    passed = FORECAST.answering.forward_pass(run.module, codec, source, run.recipe.decode)
    past, known, _ = codec.read([source], run.module.horizon, like)
    own, maps = run.module.weights(past, known)[0, 0], shown_of(run.module, passed)
    assert bool(maps) == bool(own.numel()) == (name in ("gru+dot", "transformer"))
    for one in maps:
        torch.testing.assert_close(one.weights[..., -own.size(2) :, :].to(own), own, atol=1e-6, rtol=0)
        assert "0" in one.keys and one.queries[-1].startswith("+")
    found = integrated_gradients(run.module, passed.score, passed.values)
    assert found.values.shape == past.shape and found.remainder <= 0.01
    assert run.attribution("").tokens[-1] == "0"


@pytest.mark.spec("V02")
def test_an_autoencoder_shows_both_halves(waves, tmp_path):
    run = trained(waves, "autoencode", "transformer", tmp_path / "run")
    first, second = run.explain("").maps
    assert (first.name, second.name) == ("encoder self-attention", "decoder self-attention")
    own = run.explain("").weights
    torch.testing.assert_close(first.weights, own, atol=1e-6, rtol=0)
    assert run.attribution("").remainder <= 0.01
