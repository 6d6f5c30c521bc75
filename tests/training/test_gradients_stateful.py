"""A state that goes on from batch to batch: as one walk would, and through a checkpoint."""

import os
import signal

import pytest
import torch

import atento
from atento.data.examples.streams import Stream, StreamSampler
from atento.errors import InputError, Interrupted
from atento.layers import token_cross_entropy
from atento.models.builders import build_language_model
from atento.spec import ModelRecipe, Recipe, TokensRecipe, TrainRecipe
from atento.tasks.generate.codec import TextCodec
from atento.tasks.generate.training import TRUNCATED_BPTT, batch_rows
from atento.training import new_learner
from atento.training.gradients import backpropagate_stateful

WINDOW, ROWS, TOKENS = 5, 3, 11
WORDS = "so it goes on and on, as it ever did; and so on it goes. " * 40
SMALL = {
    "model.hidden": 12,
    "train.threads": 1,
    "train.sequence_length": 8,
    "train.batch_tokens": 64,
    "train.steps": 60,
    "train.validations": 6,
    "train.checkpoint_every": 7,
    "tokens.source": "char",
}


@pytest.mark.spec("K06")
@pytest.mark.parametrize("name", ["lstm", "gru"])
def test_the_loss_is_that_of_one_walk_and_its_gradient_stops_at_the_window(name):
    torch.manual_seed(0)
    model = build_language_model(ModelRecipe(name=name, hidden=7, layers=2, dropout=0.0), TOKENS).double()
    learner = new_learner(model, Recipe())
    codec = TextCodec.learn(TokensRecipe(source="char"), [(WORDS, "")])
    stream = Stream(torch.randint(4, TOKENS, (70,)).tolist(), WINDOW)
    batches = StreamSampler(stream, batch_tokens=ROWS * WINDOW, seed=0, lanes=True).epoch(0)
    state = model.decoder.start(model.empty_source(ROWS))
    for position, starts in enumerate(batches):
        batch = batch_rows(codec, [stream[start] for start in starts])
        model.zero_grad()
        learner.progress.position = position
        found = backpropagate_stateful(TRUNCATED_BPTT, learner, batch, TrainRecipe(), torch.device("cpu"))
        slopes = [weight.grad.clone() for weight in model.parameters()]
        model.zero_grad()
        features, state = model.decoder.resume(batch.previous, state)
        loss = token_cross_entropy(model.decoder.to_logits(features).flatten(0, 1), batch.target.flatten()).mean
        loss.backward()
        torch.testing.assert_close(found, loss.detach(), rtol=0, atol=1e-12)
        for weight, slope in zip(model.parameters(), slopes, strict=True):
            torch.testing.assert_close(weight.grad, slope, rtol=0, atol=1e-12)
        state = state._replace(cells=tuple(type(cell)(*(part.detach() for part in cell)) for cell in state.cells))
    learner.progress.position = 0
    anew = backpropagate_stateful(TRUNCATED_BPTT, learner, batch, TrainRecipe(), torch.device("cpu"))
    assert abs(anew - found) > 1e-6  # an epoch begins anew: the same windows without their past


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("memory") / "text.txt"
    path.write_text(WORDS, encoding="utf-8")
    return path


@pytest.mark.spec("K06")
def test_a_run_that_was_stopped_goes_on_bit_for_bit(text, tmp_path):
    settings = {**SMALL, "train.stateful": True}

    def stop_once(event):
        if event["event"] == "validation" and event["step"] == 30:
            os.kill(os.getpid(), signal.SIGTERM)

    whole = atento.fit(text, task="generate", model="lstm", settings=settings, out=tmp_path / "whole", device="cpu")
    with pytest.raises(Interrupted):
        atento.fit(
            text,
            task="generate",
            model="lstm",
            settings=settings,
            out=tmp_path / "cut",
            device="cpu",
            on_event=stop_once,
        )
    cut = atento.fit(tmp_path / "cut" / "recipe.toml", out=tmp_path / "cut", resume=True, device="cpu")
    for mine, theirs in zip(cut.module.parameters(), whole.module.parameters(), strict=True):
        assert torch.equal(mine, theirs)
    assert cut.metrics["scores"] == whole.metrics["scores"]


def test_what_has_no_state_is_refused(text, tmp_path):
    with pytest.raises(InputError, match=r"train\.stateful"):
        atento.fit(
            text, task="generate", model="transformer", settings={**SMALL, "train.stateful": True}, out=tmp_path / "run"
        )
