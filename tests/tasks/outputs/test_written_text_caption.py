"""The caption task: from a folder of pictures to the words of a loaded model, and where each of them looked."""

import csv
import json
import random
from pathlib import Path

import pytest
import torch
from PIL import Image

import atento
from atento.data.images import Scene, Shape, draw
from atento.data.text.vocabulary import END, START
from atento.errors import InputError
from atento.metrics import regions_in_box, weight_in_box
from atento.models import ModelName
from atento.spec import DataRecipe, DecodeRecipe, ModelRecipe, Recipe, TokensRecipe
from atento.tasks.catalogue import CAPTION
from atento.tasks.filling import fill_defaults

SIDE = 16
SCENES = [
    ("drawn:16 red circle 5 5 3", "a red circle"),
    ("drawn:16 blue square 10 9 4; red star 4 4 3", "a red star left of a blue square"),
    ("drawn:16 green star 8 8 5", "a green star"),
]
NAMES = ["conv/lstm", "conv/lstm+additive", "conv/gru+dot+hard", "conv/transformer"]


@pytest.fixture(scope="module")
def codec():
    asked = Recipe().with_values({"data.image_size": SIDE})
    return CAPTION.learning.bind(CAPTION.learning.learn(TokensRecipe(target="word"), SCENES), asked)


@pytest.fixture(scope="module", params=NAMES)
def module(request, codec):
    torch.manual_seed(0)
    return CAPTION.learning.build(ModelRecipe(name=request.param, hidden=8, heads=2, dropout=0.0), codec).eval()


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    """Two squares, one on each side: the words name them from left to right, so that places matter."""
    place, chance, boxes = tmp_path_factory.mktemp("beside"), random.Random(0), {}
    with (place / "captions.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["file", "caption"])
        for number in range(240):
            left, right = chance.sample(["red", "green", "blue"], 2)
            one = Shape(left, "square", chance.choice([3, 5]), chance.randint(4, 12), 3)
            other = Shape(right, "square", chance.choice([11, 13]), chance.randint(4, 12), 3)
            Image.fromarray(draw(Scene(SIDE, (one, other)))).save(place / f"{number}.png")
            boxes[f"{number}.png"] = (one.box, other.box)
            rows.writerow([f"{number}.png", f"{left} beside {right}"])
    return place / "captions.csv", boxes


@pytest.mark.parametrize("name", ["conv/lstm+additive", "conv/lstm+additive+hard-half"])
@pytest.mark.spec("K07", "A17")
def test_soft_and_hard_attention_learn_what_stands_where(beside, name, tmp_path):
    """From files to an answer of the loaded model: exact captions, and each word looks at the square it names."""
    table, boxes = beside
    settings = {
        "model.hidden": 16,
        "model.layers": 1,
        "model.dropout": 0.0,
        "model.attend": "luong",
        "model.context": "both",
        "train.steps": 500,
        "train.lr": 1e-2,
        "train.warmup": 10,
        "train.ema": 0.0,
        "train.validations": 1,
        "train.threads": 1,
        "train.batch_tokens": 1536,
        "data.split": "80/5/15",
    }
    run = atento.fit(table, task="caption", model=name, settings=settings, out=tmp_path / "run")
    loaded = atento.load(tmp_path / "run")
    lines = [json.loads(line) for line in (run.folder / "predictions.jsonl").read_text().splitlines()]
    assert len(lines) > 25
    said = [answer.text for answer in loaded.predictor.answer([line["source"] for line in lines])]
    right = [text in line["references"] for text, line in zip(said, lines, strict=True)]
    assert sum(right) >= 0.9 * len(lines)
    shares, uniform = [], []
    for line in lines:
        found = loaded.predictor.look(line["source"])
        assert found.grid == (8, 8)
        assert found.image.startswith("data:image/png;base64,")
        for word, box in zip((0, 2), boxes[Path(line["source"]).name], strict=True):
            shares.append(weight_in_box(found.weights[0, 0, word].double().numpy(), box, found.grid, SIDE))
            uniform.append(regions_in_box(box, found.grid, SIDE).mean())
    assert sum(shares) / len(shares) > 1.5 * sum(uniform) / len(uniform)


def test_a_batch_is_pixels_and_padded_captions(codec):
    batch = CAPTION.learning.batch(codec, [CAPTION.learning.encode(codec, pair) for pair in SCENES])
    assert batch.source.shape == (3, 3, SIDE, SIDE)
    assert batch.source_valid.all()
    assert batch.target_valid.sum(1).tolist() == [4, 9, 4]
    assert (batch.previous[:, 0] == START).all()
    assert batch.target[1, 8] == END
    assert [CAPTION.learning.length(codec, CAPTION.learning.encode(codec, pair)) for pair in SCENES] == [96, 96, 96]


def test_the_loss_is_the_mean_cost_of_the_words(codec, module):
    """−ln p of each word after the true words before it, one step of the decoder at a time."""
    if "hard" in str(module.decoder):
        module.eval()  # the likeliest region, not a drawn one
    batch = CAPTION.learning.batch(codec, [CAPTION.learning.encode(codec, pair) for pair in SCENES])
    found = CAPTION.learning.loss(module, batch, 0.0)
    total = 0.0
    for row, (source, caption) in enumerate(SCENES):
        pixels = codec.input.images.read_all([source])
        state = module.decoder.start(module.encode(pixels, torch.ones(1, 1, dtype=torch.bool)))
        before = START
        for token in [*codec.output.encode(caption), END]:
            step = module.decoder.step(torch.tensor([before]), state)
            total -= step.logits.log_softmax(-1)[0, token].item()
            before, state = token, step.state
        assert row < len(SCENES)
    assert found.items == 17
    assert found.total.item() == pytest.approx(total, rel=1e-5)


def test_neighbours_order_and_number_change_no_caption(codec, module):
    sources = [source for source, _ in SCENES] * 2
    for decode in (DecodeRecipe(), DecodeRecipe(beam=3), DecodeRecipe(temperature=1.0, seed=3)):
        together = CAPTION.answering.answer(module, codec, sources, decode)
        assert len(together) == 6
        alone = [CAPTION.answering.answer(module, codec, [source], decode)[0] for source in sources[:3]]
        assert [one.text for one in together[:3]] == [one.text for one in alone]
        assert [one.score for one in together[:3]] == pytest.approx([one.score for one in alone], abs=1e-4)
    assert CAPTION.answering.answer(module, codec, [], DecodeRecipe()) == []


def test_a_look_has_a_row_a_word_and_a_column_a_region(codec, module):
    found = CAPTION.answering.look(module, codec, SCENES[1][0], DecodeRecipe(max_tokens=5))
    assert found.source[:2] == ["1·1", "1·2"]
    assert len(found.source) == 64
    if not module.decoder.attends:
        assert found.weights.numel() == 0
        return
    assert found.weights.shape[2:] == (len(found.output), 64)
    torch.testing.assert_close(found.weights.sum(-1), torch.ones(found.weights.shape[:3]), rtol=0, atol=1e-5)


def test_one_pass_matrix_by_matrix(codec, module):
    traces = {
        trace.title: trace for trace in CAPTION.answering.trace(module, codec, SCENES[0][0], DecodeRecipe(max_tokens=4))
    }
    pixels = codec.input.images.read_all([SCENES[0][0]])[0]
    assert traces["pixels"].columns == ["red", "green", "blue"]
    corner = pixels[:, :2, :2].mean(dim=(1, 2))  # 2 × 2 pixels a region
    assert traces["pixels"].matrix[0] == pytest.approx(corner.tolist(), abs=1e-4)
    assert traces["features"].shape == [64, 8]
    assert traces["encoder states"].shape == [64, 8]
    assert any(title.startswith("step 1") for title in traces)


def test_several_captions_are_all_right(tmp_path):
    Image.fromarray(draw(Scene(SIDE, ()))).save(tmp_path / "a.png")
    Image.fromarray(draw(Scene(SIDE, (Shape("red", "star", 8, 8, 4),)))).save(tmp_path / "b.png")
    rows = ["file,caption", "a.png,nothing at all", "b.png,one red star", "a.png,an empty picture"]
    (tmp_path / "table.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    asked = CAPTION.reading.read_labelled(DataRecipe(), str(tmp_path / "table.csv"), 0).questions
    assert [question.references for question in asked] == [("nothing at all", "an empty picture"), ("one red star",)]


def test_what_was_learned_is_loaded(codec):
    again = CAPTION.learning.load(json.loads(json.dumps(codec.to_json())))
    assert CAPTION.learning.encode(again, SCENES[1]) == CAPTION.learning.encode(codec, SCENES[1])
    assert (again.input.images.side, again.output.limit) == (SIDE, codec.output.limit)
    for broken in ({**codec.to_json(), "input": {}}, {**codec.to_json(), "output": {}}, {}):
        with pytest.raises(InputError):
            CAPTION.learning.load(broken)


def test_pictures_are_read_as_the_recipe_says(codec):
    larger = CAPTION.learning.bind(codec, Recipe().with_values({"data.image_size": 24}))
    assert larger.input.images.read_all([SCENES[0][0]]).shape == (1, 3, 24, 24)
    assert "24 × 24" in larger.notes[0]
    module = CAPTION.learning.build(ModelRecipe(name="conv/gru+dot", hidden=6), larger)
    assert CAPTION.answering.look(module, larger, SCENES[0][0], DecodeRecipe(max_tokens=2)).grid == (6, 6)


def test_every_compared_model_has_a_recipe():
    for name in CAPTION.defaults.models:
        recipe = fill_defaults(CAPTION, {"model.name": name}, data="scenes")
        CAPTION.learning.check_name(ModelName.parse(recipe.model.name))
        assert recipe.model.hidden <= 128
