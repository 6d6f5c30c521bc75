"""The autoencode task: windows and frames pressed to a path that recreates the flow they came from."""

import json

import numpy as np
import pytest
import torch

import atento
from atento.data.builtin.dynamics import film_states
from atento.data.dynamics import rossler
from atento.data.series import Past
from atento.errors import InputError, RunError
from atento.metrics import next_step_r2, smooth_map_r2, smooth_map_r2_each
from atento.models import ModelName
from atento.spec import DataRecipe, DecodeRecipe, ModelRecipe, Recipe, TokensRecipe
from atento.tasks.autoencode.autoencode import AUTOENCODE, latent_path
from atento.tasks.autoencode.codec import WindowCodec
from atento.tasks.autoencode.leaks import with_later_windows
from atento.tasks.autoencode.reading import open_windows, read_windows
from atento.tasks.catalogue import TASKS

QUICK = {"train.threads": 1, "train.validations": 2, "train.validation_examples": 200}
STEP, FRAMES, ROWS = 0.2, 6000, 24


def write_series(path, values, names):
    rows = [",".join(names), *(",".join(repr(float(number)) for number in row) for row in values)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def states():
    """A flow whose first coordinate alone is shown to the models."""
    return rossler(FRAMES, step=STEP, seed=0)


@pytest.fixture(scope="module")
def series(states, tmp_path_factory):
    return write_series(tmp_path_factory.mktemp("series") / "wave.csv", states[:, :1], ["height"])


@pytest.fixture(scope="module")
def film_run(tmp_path_factory):
    out = tmp_path_factory.mktemp("film") / "run"
    return atento.fit("film", model="mlp", settings={**QUICK, "train.steps": 200}, device="cpu", out=out)


@pytest.fixture(scope="module")
def window_run(series, tmp_path_factory):
    out = tmp_path_factory.mktemp("windows") / "run"
    settings = {**QUICK, "train.steps": 300, "data.look_back": ROWS}
    return atento.fit(series, task="autoencode", model="mlp", settings=settings, device="cpu", out=out)


def path_of(run, file):
    """The latents of a whole file in the order of time."""
    bundle = run.predictor.bundle
    recipe = bundle.recipe.data
    if file == "film":
        reading = bundle.task.reading.read(recipe, 0)
        whole = (
            reading.train[0][0].values,
            *(np.concatenate([q.source.values for q in part]) for part in (reading.valid, reading.test)),
        )
        rows = np.concatenate(whole)
        pasts = [Past("", "", rows[at : at + 1], np.zeros((1, 0)), origin=at + 1) for at in range(len(rows))]
    else:
        pasts = bundle.task.reading.read_unlabelled(recipe, str(file), 0).sources
    return latent_path(run.module, bundle.codec, pasts)


@pytest.mark.spec("D07")
def test_the_latents_of_frames_recreate_the_flow(film_run):
    latents = path_of(film_run, "film")
    assert latents.shape == (FRAMES, 3)
    assert smooth_map_r2_each(latents, film_states(0)).min() > 0.95
    assert next_step_r2(latents) > 0.95
    assert film_run.metrics["scores"]["r2"][0] > 0.9


@pytest.mark.spec("D07")
def test_three_principal_components_of_the_frames_do_not(film_run):
    """What the film is made for: no three sums of pixels say all of the state."""
    reading = AUTOENCODE.reading.read(DataRecipe(train="film", split="70/15/15"), 0)
    frames, states = reading.train[0][0].values, film_states(0)[:4200]
    centred = frames - frames.mean(axis=0)
    components = np.linalg.eigh(centred.T @ centred)[1][:, -3:]
    assert smooth_map_r2(centred @ components, states) < 0.95


@pytest.mark.spec("D07")
def test_the_latents_of_windows_of_one_coordinate_recreate_the_flow(window_run, series, states):
    latents, seen = path_of(window_run, series), states[ROWS - 1 :]
    assert latents.shape == (FRAMES - ROWS + 1, 3)
    assert smooth_map_r2_each(latents, seen).min() > 0.95, "y and z too, which were never shown"
    assert next_step_r2(latents) > 0.95
    assert smooth_map_r2(latents[np.random.default_rng(0).permutation(len(latents))], seen) < 0.1


@pytest.mark.spec("D07")
def test_the_state_of_a_forecasting_network_recreates_the_flow(series, states, tmp_path):
    settings = {**QUICK, "train.steps": 200, "train.lr": 0.01, "data.look_back": ROWS, "data.horizon": 1}
    settings |= {"model.hidden": 5, "model.dropout": 0.0, "model.strategy": "recursive", "model.anchor": "none"}
    settings |= {"model.linear_skip": False, "train.batch_tokens": 128 * ROWS, "data.split": "70/15/15"}
    run = atento.fit(series, task="forecast", model="rnn", settings=settings, device="cpu", out=tmp_path / "run")
    recipe = run.recipe.data.model_copy(update={"horizon": 0})
    pasts = open_windows(recipe, str(series), 0).sources
    past, _, _ = run.predictor.bundle.codec.read(pasts, 1, next(run.module.parameters()))
    latents, seen = run.module.network.stack(past).outputs[:, -1].detach().double().numpy(), states[ROWS - 1 :]
    assert latents.shape == (FRAMES - ROWS + 1, 5)
    assert smooth_map_r2_each(latents, seen).min() > 0.95
    assert next_step_r2(latents) > 0.95


def test_answers_are_windows_and_latents(window_run, series):
    bundle = window_run.predictor.bundle
    pasts = bundle.task.reading.read_unlabelled(bundle.recipe.data, str(series), 0).sources[:5]
    answers = window_run.predictor.answer(pasts)
    codec, module = bundle.codec, window_run.module
    for past, answer in zip(pasts, answers, strict=True):
        scaled = torch.tensor((past.values - codec.mean) / codec.std, dtype=torch.float32)[None]
        latent = module.encode(scaled)
        expected = module.decode(latent)[0].detach().numpy() * codec.std + codec.mean
        np.testing.assert_allclose(answer.value[:ROWS].reshape(ROWS, 1), expected, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(answer.value[ROWS:], latent[0].detach().numpy(), rtol=1e-4, atol=1e-5)
        assert answer.text == " ".join(f"{number:.4g}" for number in latent[0].tolist())
    alone = [window_run.predictor.answer([past])[0].value for past in pasts]
    np.testing.assert_allclose(np.stack(alone), np.stack([answer.value for answer in answers]), rtol=1e-4, atol=1e-5)
    assert window_run.predictor.answer([]) == []


def test_the_metrics_by_hand(window_run, series):
    bundle = window_run.predictor.bundle
    questions = bundle.task.reading.read_labelled(bundle.recipe.data, str(series), 0).questions[:200]
    answers = [answer.value for answer in window_run.predictor.answer([question.source for question in questions])]
    metrics = {metric.name: metric for metric in AUTOENCODE.judging.metrics(bundle.codec)}
    sources, references = [question.source for question in questions], [question.references for question in questions]
    std, mean = bundle.codec.std[0], bundle.codec.mean[0]
    truth = np.stack([source.values[:, 0] for source in sources])
    errors = (np.stack([answer[:ROWS] for answer in answers]) - truth) / std
    found = {name: metric.for_sources(sources).value(answers, references) for name, metric in metrics.items()}
    assert found["mse"] == pytest.approx(np.square(errors).mean())
    assert found["r2"] == pytest.approx(1 - np.square(errors).sum() / np.square((truth - mean) / std).sum())
    latents = np.stack([answer[ROWS:] for answer in answers])
    assert found["next_step"] == pytest.approx(next_step_r2(latents))
    twice = metrics["next_step"].for_sources(sources).statistics(answers * 2, references * 2)
    once = metrics["next_step"].for_sources(sources).statistics(answers, references)
    np.testing.assert_allclose(twice, np.concatenate([once, once]))
    assert list(window_run.metrics["scores"]) == ["mse", "r2", "next_step"]


def test_held_out_windows_lie_in_their_own_time(series):
    reading = read_windows(DataRecipe(train=str(series), look_back=ROWS, split="70/15/15"), 0)
    ((part, frame),) = reading.train
    assert (len(part), frame.look_back) == (4200, ROWS)
    assert reading.valid[0].source.origin == 4200 + ROWS
    assert reading.valid[-1].source.origin == 5100
    assert reading.test[0].source.origin == 5100 + ROWS
    assert len(reading.test) == 900 - ROWS + 1
    np.testing.assert_array_equal(reading.test[0].references[0], reading.test[0].source.values)
    assert np.shares_memory(reading.test[0].source.values, reading.test[1].source.values), "views, not copies"
    assert len(reading.test[::7]) == -(-len(reading.test) // 7)


def test_the_scale_knows_the_training_part_alone(series):
    recipe = DataRecipe(train=str(series), look_back=ROWS, split="70/15/15")
    reading = read_windows(recipe, 0)
    codec = WindowCodec.learn(TokensRecipe(), reading.train)
    values = reading.train[0][0].values
    np.testing.assert_allclose((codec.mean, codec.std), (values.mean(axis=0), values.std(axis=0)))
    require_no_leak = AUTOENCODE.learning.require_no_leak

    require_no_leak(codec, reading)
    whole = read_windows(recipe.model_copy(update={"split": "98/1/1"}), 0)
    with pytest.raises(RunError, match=r"the mean of 'height' is not that of the training rows"):
        require_no_leak(WindowCodec.learn(TokensRecipe(), whole.train), reading)
    early = reading._replace(test=read_windows(recipe.model_copy(update={"split": "50/25/25"}), 0).valid)
    with pytest.raises(RunError, match="of the test part hold rows that were learned from"):
        with_later_windows(early)


def test_pixels_share_one_spread():
    reading = AUTOENCODE.reading.read(DataRecipe(train="film", split="70/15/15"), 0)
    codec = WindowCodec.learn(TokensRecipe(), reading.train)
    values = reading.train[0][0].values
    assert np.ptp(codec.std) == 0
    assert codec.std[0] == pytest.approx(np.sqrt(values.var(axis=0).mean()))
    assert (codec.frame.look_back, codec.sizes.frame) == (1, (24, 24))


def test_a_codec_comes_back_from_what_it_wrote(window_run):
    codec = window_run.predictor.bundle.codec
    again = WindowCodec.load(json.loads(json.dumps(codec.to_json())))
    assert (again.frame, again.noise) == (codec.frame, codec.noise)
    np.testing.assert_array_equal((again.mean, again.std), (codec.mean, codec.std))
    for damage in ({"std": [0.0]}, {"mean": []}, {"look_back": 0}, {"channels": 3}):
        with pytest.raises(InputError, match="no scale of windows"):
            WindowCodec.load({**codec.to_json(), **damage})
    with pytest.raises(InputError, match="no scale of windows"):
        WindowCodec.load({})


def test_noise_reaches_the_model():
    codec = WindowCodec.learn(
        TokensRecipe(), AUTOENCODE.reading.read(DataRecipe(train="film", split="70/15/15"), 0).train
    )
    told = AUTOENCODE.learning.bind(codec, Recipe().with_values({"train.noise": 0.3}))
    assert AUTOENCODE.learning.build(ModelRecipe(name="mlp", latent=2), told).noise == 0.3


def test_simple_models_answer_in_the_same_form(series):
    reading = read_windows(DataRecipe(train=str(series), look_back=ROWS, split="70/15/15"), 0)
    codec = WindowCodec.learn(TokensRecipe(), reading.train)
    sources, references = zip(*((question.source, question.references) for question in reading.test), strict=True)
    found = {}
    for make in AUTOENCODE.judging.baselines:
        model = make().fit([one for one, _ in reading.train], [frame for _, frame in reading.train])
        outputs = model.predict(sources)
        metrics = [metric.for_sources(sources) for metric in AUTOENCODE.judging.metrics(codec)]
        found[model.name] = {metric.name: metric.value(outputs, references) for metric in metrics}
    assert abs(found["mean"]["r2"]) < 0.01
    assert found["mean"]["next_step"] == 0, "a latent of nothing goes nowhere"
    windows = np.lib.stride_tricks.sliding_window_view(reading.train[0][0].values[:, 0], ROWS)
    windows = (windows - codec.mean) / codec.std
    components = np.linalg.svd(windows - windows.mean(axis=0), full_matrices=False)[2][:3]
    tested = (np.stack([source.values[:, 0] for source in sources]) - codec.mean) / codec.std - windows.mean(axis=0)
    expected = np.square(tested - tested @ components.T @ components).mean()
    assert found["pca-3"]["mse"] == pytest.approx(expected, rel=1e-4)


def test_a_look_and_the_steps_of_a_pass(window_run, series):
    bundle = window_run.predictor.bundle
    past = bundle.task.reading.read_unlabelled(bundle.recipe.data, str(series), 0).sources[7]
    look = window_run.predictor.look(past)
    assert len(look.source) == ROWS and look.weights.numel() == 0
    steps = AUTOENCODE.answering.trace(window_run.module, bundle.codec, past, DecodeRecipe())
    assert [step.title for step in steps] == ["window", "latent", "recreated"]
    assert steps[1].columns == ["z1", "z2", "z3"]
    torch.manual_seed(0)
    codec = bundle.codec
    transformer = AUTOENCODE.learning.build(
        ModelRecipe(name="transformer", hidden=8, heads=2, latent=2, dropout=0.0), codec
    )
    look = AUTOENCODE.answering.look(transformer.eval(), codec, past, DecodeRecipe())
    assert look.weights.shape == (1, 2, ROWS, ROWS)
    torch.testing.assert_close(look.weights.sum(-1), torch.ones(1, 2, ROWS))


def test_a_path_as_a_table(window_run, series):
    bundle = window_run.predictor.bundle
    opened = bundle.task.reading.read_unlabelled(bundle.recipe.data, str(series), 0)
    opened = opened._replace(sources=opened.sources[:9])
    answers = window_run.predictor.answer(opened.sources)
    table = AUTOENCODE.answering.tabulate(opened, answers)
    assert list(table) == ["ds", "z1", "z2", "z3"]
    assert table["ds"][0] == str(ROWS - 1)
    assert [table[f"z{at + 1}"][4] for at in range(3)] == pytest.approx(answers[4].value[ROWS:].tolist())


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"horizon": 3}, r"data\.horizon has no meaning"),
        ({"look_back": 5000}, "no window|too short"),
        ({"look_back": 1000}, "no window of 1000 rows fits"),
    ],
)
def test_what_is_refused(changes, message, series):
    with pytest.raises(InputError, match=message):
        read_windows(DataRecipe(train=str(series), split="70/15/15", **changes), 0)


def test_it_is_a_task_that_nothing_asks_for_by_itself(series):
    from atento.tasks.finding import find_task

    assert TASKS["autoencode"] is AUTOENCODE
    assert find_task("auto", DataRecipe(train="film")) == (AUTOENCODE, "")
    assert find_task("auto", DataRecipe(train=str(series)))[0].name == "forecast"
    with pytest.raises(InputError, match="there is no autoencoder"):
        AUTOENCODE.learning.check_name(ModelName.parse("lineal"))
