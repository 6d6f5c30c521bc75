"""Words that begin with vectors from a file: where they go, and whether they learn."""

import numpy as np
import pytest
import torch

import atento
from atento.data import SPECIAL_TOKENS, write_vectors
from atento.errors import InputError
from atento.spec import Recipe
from atento.tasks.catalogue import TASKS
from atento.tasks.embed.vectors import start_words, table_of, words_of

WORDS, SIZE = ["one", "two", "three", "four", "five"], 12
PAIRS = [(f"{a} {b} Seven", f"{b}, {a}") for a in WORDS for b in WORDS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vectors")
    vectors = np.random.default_rng(1).standard_normal((7, SIZE)) * 3
    write_vectors(folder / "v.txt", ["two", "one", "seven", "four", "five", "unheard", "Two"], vectors)
    (folder / "pairs.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS))
    return folder


def recipe_of(folder, **values):
    return Recipe().with_values(
        {"tokens.source": "word", "tokens.vectors": str(folder / "v.txt"), "model.hidden": SIZE, **values}
    )


def build(recipe, task="translate", name="gru"):
    chosen = TASKS[task]
    pairs = PAIRS if task == "translate" else [(source, str(place % 2)) for place, (source, _) in enumerate(PAIRS)]
    codec = chosen.learning.learn(recipe.tokens, pairs)
    torch.manual_seed(0)
    return chosen.learning.build(recipe.model.model_copy(update={"name": name}), codec), codec


@pytest.mark.spec("S03")
@pytest.mark.parametrize(("task", "name"), [("translate", "gru"), ("translate", "transformer"), ("classify", "lstm")])
def test_each_word_gets_its_vector_and_the_others_keep_theirs(folder, task, name):
    recipe = recipe_of(folder, **{"model.heads": 2})
    module, codec = build(recipe, task, name)
    before = table_of(module, codec).table.weight.detach().clone()
    (note,) = start_words(module, codec, recipe, started=False)
    assert "vectors for 5 of 6 words" in note
    table = table_of(module, codec).table.weight.detach()
    lines = (folder / "v.txt").read_text().splitlines()[1:]
    file = {word: np.array(numbers, dtype=float) for word, *numbers in (line.split() for line in lines)}
    scale = 1 / np.mean([np.linalg.norm(file[word]) for word in ("one", "two", "four", "five", "seven")])
    for place, word in enumerate(words_of(codec)[0], start=len(SPECIAL_TOKENS)):
        wanted = file.get(word, file.get(word.lower()))
        if wanted is None:
            assert torch.equal(table[place], before[place])
        else:
            np.testing.assert_allclose(table[place].numpy(), scale * wanted, rtol=1e-5)
    assert torch.equal(table[: len(SPECIAL_TOKENS)], before[: len(SPECIAL_TOKENS)])


@pytest.mark.spec("S03")
@pytest.mark.parametrize("how", ["frozen", "fine-tuned"])
def test_frozen_vectors_stay_bit_for_bit_and_the_others_learn(folder, tmp_path, how):
    told = []
    settings = {
        "tokens.source": "word",
        "tokens.vectors": str(folder / "v.txt"),
        "model.vectors": how,
        "model.hidden": SIZE,
        "train.steps": 6,
        "train.threads": 1,
        "train.weight_decay": 0.1,
    }
    run = atento.fit(
        folder / "pairs.tsv", task="translate", model="gru", settings=settings, device="cpu", out=tmp_path / "run",
        on_event=lambda event: told.append(event.get("text", "")),
    )  # fmt: skip
    recipe = run.recipe
    torch.manual_seed(recipe.train.seed)
    fresh = TASKS["translate"].learning.build(recipe.model, run.predictor.bundle.codec)
    start_words(fresh, run.predictor.bundle.codec, recipe, started=False)
    first = table_of(fresh, run.predictor.bundle.codec).table.weight
    last = table_of(run.module, run.predictor.bundle.codec).table.weight
    assert torch.equal(first, last) == (how == "frozen")
    assert any("vectors for" in text for text in told)
    others = [name for name, part in fresh.named_parameters() if not torch.equal(part, run.module.get_parameter(name))]
    assert len(others) > 5
    assert first.requires_grad == (how == "fine-tuned")


def test_what_does_not_fit_is_refused(folder):
    for values, why in [
        ({"model.hidden": 16}, "--set model.hidden=12"),
        ({"tokens.source": "char"}, "--set tokens.source=word"),
        ({"tokens.vectors": ""}, "--set tokens.vectors=FILE"),
        ({"tokens.vectors": str(folder / "w.txt")}, "did you mean"),
    ]:
        recipe = recipe_of(folder, **{"model.vectors": "frozen", **values})
        module, codec = build(recipe)
        with pytest.raises(InputError) as caught:
            start_words(module, codec, recipe, started=False)
        assert why in str(caught.value)


def test_vectors_of_other_words_are_refused(folder, tmp_path):
    write_vectors(tmp_path / "other.txt", ["uno"], np.ones((1, SIZE)))
    recipe = recipe_of(folder, **{"tokens.vectors": str(tmp_path / "other.txt")})
    with pytest.raises(InputError, match="none of its words"):
        start_words(*build(recipe), recipe, started=False)


def test_nothing_asked_nothing_done(folder):
    module, codec = build(recipe_of(folder))
    frozen = Recipe().with_values({"model.vectors": "frozen"})
    assert len(start_words(module, codec, frozen, started=True)) == 1  # as the run it goes on from
    assert not table_of(module, codec).table.weight.requires_grad
