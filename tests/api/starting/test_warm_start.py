"""Pre-training on plain text, and another task started from it."""

import random

import pytest
import torch

import atento
from atento.api.starting.warm_start import tail
from atento.data.text.vocabulary import END
from atento.errors import InputError

SOUNDS = {"cat": "mew", "dog": "wow", "cow": "moo", "owl": "hoo", "pig": "oink", "bee": "buzz", "hen": "cluck"}
WHEN, WHO, WHERE = (
    ["now", "then", "today", "once"],
    ["Ana", "Ben", "Eva", "Leo", "Mia", "Tom"],
    ["here", "there", "inside", "outside"],
)
SMALL = {"model.layers": 1, "train.threads": 1, "train.validations": 1, "model.dropout": 0.0, "train.batch_tokens": 512}
MASKED = {"train.objective": "masked", "train.mask_probability": 0.3}


def names(chance, count):
    """Words of no meaning, four letters each."""
    return sorted({"".join(chance.choice(part) for part in ("bdfglmnprst", "aeiou") * 2) for _ in range(count)})


def sentence(chance, kinds):
    """Three words of one kind; which kind is its label."""
    label = chance.choice(sorted(kinds))
    one, two, three = chance.sample(kinds[label], 3)
    return f"the {one} {chance.choice(('sees', 'likes', 'meets'))} the {two} near the {three}", label


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("starting")


@pytest.fixture(scope="module")
def sounds(place):
    chance = random.Random(0)
    lines = []
    for one in chance.choices(sorted(SOUNDS), k=500):
        when, who, where = (chance.choice(words) for words in (WHEN, WHO, WHERE))
        lines.append(f"{when} {who} hears the {one} say {SOUNDS[one]} {where}\n")
    path = place / "sounds.txt"
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def kinds(place):
    """Plain text of two kinds of words, and a little of it labelled."""
    chance = random.Random(0)
    words = names(chance, 80)
    chance.shuffle(words)
    kinds = {"farm": words[:25], "sea": words[25:50]}
    plain = "".join(sentence(chance, kinds)[0] + "\n" for _ in range(1500))
    (place / "plain.txt").write_text(plain, encoding="utf-8")
    for part, count in (("few", 8), ("valid", 40), ("test", 200)):
        rows = [sentence(chance, kinds) for _ in range(count)]
        (place / f"{part}.tsv").write_text("text\tlabel\n" + "".join(f"{t}\t{k}\n" for t, k in rows), encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def masked(kinds, place):
    values = {**SMALL, **MASKED, "model.hidden": 32, "train.steps": 400, "train.lr": 8e-3, "train.warmup": 30}
    return atento.fit(kinds / "plain.txt", task="generate", model="transformer", settings=values, out=place / "masked")


@pytest.fixture(scope="module")
def written(sounds, place):
    values = {**SMALL, "model.hidden": 24, "train.steps": 150, "train.lr": 2e-2, "train.warmup": 10}
    return atento.fit(sounds, task="generate", model="lstm", settings=values, out=place / "written")


@pytest.mark.spec("T10", "K06")
def test_a_masked_model_fills_what_the_right_side_decides(sounds, written, place):
    """What is heard stands after the animal: both sides know it, the left side alone cannot."""
    values = {**SMALL, **MASKED, "model.hidden": 24, "train.steps": 220, "train.lr": 1e-2, "train.warmup": 20}
    run = atento.fit(sounds, task="generate", model="transformer", settings=values, out=place / "filled")
    blanks = [f"now Ana hears the ___ say {sound} here" for sound in SOUNDS.values()]
    truths = [f"now Ana hears the {animal} say {sound} here" for animal, sound in SOUNDS.items()]
    assert run.predict(blanks) == truths
    assert run.predict(["then Ben hears <blank> cow say ___ there"]) == ["then Ben hears the cow say moo there"]
    codec = written.predictor.bundle.codec
    begun = codec.row("now Ana hears the", whole=False)
    with torch.no_grad():
        model = written.module
        logits = model.decoder(begun[None], model.empty_source(1))[0, -1].softmax(-1)
    animals = [codec.vocabulary.encode(animal)[0] for animal in SOUNDS]
    assert logits[animals].sum() > 0.9
    assert logits.max() < 0.35  # of seven animals, whatever is said after them


@pytest.mark.spec("K06")
def test_a_model_that_writes_tries_words_and_scores_what_follows(written):
    blanks = [f"now Ana hears the ___ say {sound} here" for sound in SOUNDS.values()]
    found = written.predict(blanks)
    assert found == [f"now Ana hears the {animal} say {sound} here" for animal, sound in SOUNDS.items()]
    (text,) = written.predict(["now Ana hears the dog"])
    assert text.startswith("now Ana hears the dog say wow ")
    assert text.split()[-1] in WHERE


@pytest.mark.spec("T10")
def test_a_pre_trained_start_beats_a_random_one_on_little_data(kinds, masked, place):
    """8 labelled sentences, three seeds: the words of a kind were met together in plain text."""
    values = {**SMALL, "data.valid": str(kinds / "valid.tsv"), "data.test": str(kinds / "test.tsv")}
    values |= {"train.steps": 30, "train.lr": 3e-3, "train.warmup": 5, "train.batch_tokens": 200}
    found, notes = {}, []
    for start in (None, masked.folder):
        own = {"model.hidden": 32, "model.name": "transformer"} if start is None else {}
        found[start is None] = [
            atento.fit(
                kinds / "few.tsv",
                task="classify",
                settings={
                    key: value for key, value in {**values, **own}.items() if start is None or key != "model.layers"
                },
                seed=seed,
                start_from=start,
                out=place / f"few-{start is None}-{seed}",
                on_event=lambda event: notes.append(event.get("text", "")),
            ).metrics["scores"]["accuracy"][0]
            for seed in range(3)
        ]
    assert min(found[False]) > max(found[True]) + 0.05, found  # the worst of one better than the best of the other
    assert sum(found[False]) / 3 > sum(found[True]) / 3 + 0.1, found
    assert any("19 of 21 tensors start from" in note and "head starts fresh" in note for note in notes)
    assert any("tokens of the run started from" in note for note in notes)


@pytest.mark.spec("T10")
def test_a_forward_reader_starts_from_a_model_that_writes(written, kinds, place):
    """Its states are those of the language model, token by token."""
    values = {"train.steps": 1, "train.threads": 1, "train.lr": 1e-9, "train.validations": 1}
    run = atento.fit(
        kinds / "few.tsv", task="classify", settings=values, start_from=written.folder, out=place / "forward"
    )
    assert run.recipe.model.directions == 1
    tokens = written.predictor.bundle.codec.vocabulary.encode("now Ana hears the cow say moo")
    assert run.predictor.bundle.codec.vocabulary.encode("now Ana hears the cow say moo") == tokens
    rows = torch.tensor([tokens])
    with torch.no_grad():
        states = run.module.encoder.encode(rows, torch.ones_like(rows, dtype=torch.bool)).states
        expected = written.module.decoder.features(rows, written.module.empty_source(1))
    torch.testing.assert_close(states, expected, rtol=0, atol=1e-5)


def test_the_same_task_goes_on_with_other_text(written, sounds, place):
    values = {"train.steps": 1, "train.lr": 1e-9, "train.threads": 1}
    run = atento.fit(sounds, settings=values, start_from=written.folder, out=place / "on")
    assert run.recipe.task == "generate"
    assert run.predictor.bundle.codec.vocabulary.to_json() == written.predictor.bundle.codec.vocabulary.to_json()
    for mine, theirs in zip(run.module.parameters(), written.module.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-6)


def test_tags_take_the_words(masked, place):
    path = place / "tags.conll"
    rows = [f"the\tDET\n{word}\tNOUN\nsees\tVERB\n\n" for word in names(random.Random(1), 20)]
    path.write_text("".join(rows), encoding="utf-8")
    values = {"train.steps": 2, "train.threads": 1, "model.characters": 0}
    run = atento.fit(path, task="tag", settings=values, start_from=masked.folder, out=place / "tagged")
    words, known = run.predictor.bundle.codec.input, masked.predictor.bundle.codec.vocabulary
    assert words.word_numbers["the"] == known.encode("the")[0]
    assert words.word_numbers["sees"] == known.encode("sees")[0]
    assert END not in words.word_numbers.values()


@pytest.mark.spec("T10")
@pytest.mark.parametrize(
    "task, head, row",
    [("label", "text\tlabels", "{}\ta;b"), ("match", "first\tsecond\tlabel", "{}\tthe {} again\tyes")],
)
def test_other_tasks_take_vocabulary_and_weights(task, head, row, masked, place):
    path = place / f"{task}.tsv"
    lines = [row.format(*[f"the {word} sees"] * 2) for word in names(random.Random(2), 24)]
    others = [line.replace("a;b", "c").replace("yes", "no").replace("sees", "likes") for line in lines]
    path.write_text("\n".join([head, *lines, *others, ""]), encoding="utf-8")
    said = []
    values = {"train.steps": 1, "train.threads": 1, "train.lr": 1e-9}
    run = atento.fit(
        path,
        task=task,
        settings=values,
        start_from=masked.folder,
        out=place / task,
        on_event=lambda event: said.append(event.get("text", "")),
    )
    (note,) = [text for text in said if "tensors start from" in text]
    assert int(note.split()[0]) >= 19
    theirs = masked.module.encoder.embedding.tokens.table.weight
    tables = [part.weight for part in run.module.modules() if isinstance(part, torch.nn.Embedding)]
    assert any(table.shape == theirs.shape and torch.allclose(table, theirs, atol=1e-6) for table in tables)


@pytest.mark.parametrize(
    "task, settings, message",
    [
        ("classify", {"tokens.source": "char"}, "the vocabulary is the run's own"),
        ("classify", {"model.hidden": 64}, r"model\.hidden is already decided"),
        ("classify", {"model.name": "gru"}, r"model\.name is already decided"),
        ("translate", {}, "cannot start from a model of the task generate"),
    ],
)
def test_what_cannot_be_taken_over_is_refused(task, settings, message, masked, kinds, place):
    with pytest.raises(InputError, match=message):
        atento.fit(kinds / "few.tsv", task=task, settings=settings, start_from=masked.folder, out=place / "refused")
    assert not (place / "refused").exists()


def test_what_weights_are_called_inside_their_half():
    assert tail("decoder.stack.cells.0.read.weight") == "stack.cells.0.read.weight"
    assert tail("encoder.embedding.tokens.table.weight") == "embedding.tokens.table.weight"
    assert tail("head.map.weight") == "head.map.weight"
