"""Recipes of the forecast task, chosen by measurement. How stands in docs/defaults/forecast.md."""

from atento.models.builders.recurrent import CELLS
from atento.models.names import ModelName
from atento.spec import Recipe
from atento.tasks.forecast.windows import Pairs, is_dynamical_system
from atento.tasks.task import Values

MODELS = ("linear", "rnn", "gru", "lstm", "gru+additive", "transformer+patches")

SPLIT = "70/10/20"  # by time: the future must be long enough to judge forecasts by

COMMON: Values = {
    "model.hidden": 64,
    "model.dropout": 0.5,
    "train.lr": 2e-3,
    "train.ema": 0.99,
    "train.validation_examples": 1000,
    "train.validations": 16,
    "train.patience": 6,
    "train.precision": "fp32",
}

ANY_DATA: dict[str, Values] = {
    "linear": {**COMMON, "train.lr": 3e-4, "train.weight_decay": 0.0},
    "rnn": COMMON,
    "gru": COMMON,
    "lstm": COMMON,
    "transformer": {**COMMON, "model.hidden": 32, "model.layers": 2, "model.feed_forward": 64, "model.dropout": 0.3},
}

STEPS_OF_AN_EPOCH = 128  # about: as many windows in a batch as make so many
SMALLEST, LARGEST = 16, 256  # windows in a batch
STEPS = 600  # of a run; numbers with noise are soon known by heart
FEWEST_EPOCHS = 2

# How stands in docs/defaults/dynamics.md.
FLOW: Values = {
    "model.strategy": "recursive",
    "model.channels": "joint",
    "model.anchor": "change",
    "model.linear_skip": False,
    "model.hidden": 128,
    "model.layers": 2,
    "model.dropout": 0.0,
    "train.rollout": 2,
    "train.batch_tokens": 256,
    "train.lr": 5e-3,
    "train.decay": "cosine",
    "train.weight_decay": 0.0,
    "train.precision": "fp32",
    "train.validation_examples": 200,
    "train.patience": 1000,
}

# of a net that begins with a product in closed form: many units are one more solution, and small steps keep it
FLOW_OF_STATES: Values = {
    **FLOW,
    "model.hidden": 256,
    "model.layers": 1,
    "train.lr": 1e-4,
    "train.patience": 6,
}

BUILTIN: dict[str, Values] = {  # how stands in docs/tasks/paths.md
    "paths": {
        "data.horizon": 8,
        "data.look_back": 16,
        "model.channels": "joint",
        "model.dropout": 0.0,
        "model.linear_skip": False,
        "train.lr": 6e-3,
        "train.epochs": 30,
        "train.budget": 60,
    },
    "rossler": {"train.budget": 60},
    "lorenz": {"train.budget": 60},
}


def defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return {"data.split": SPLIT, **ANY_DATA.get(model.family, COMMON), **BUILTIN.get(data, {})}


def sized(recipe: Recipe, train: Pairs, device: str) -> Values:
    """What follows from how much there is to learn from and from what it is, with the columns, look-back and horizon
    in full, so that another file is read alike.
    """
    frame = train[0][1]
    columns = {f"data.{key}": text for key, text in frame.keys}
    read: Values = {**columns, "data.horizon": frame.horizon, "data.look_back": frame.look_back}
    if flows(train):
        return {**flow_values(ModelName.parse(recipe.model.name)), **read}
    windows = sum(max(0, len(series) - frame.window + 1) for series, _ in train)
    batch = min(max(windows // STEPS_OF_AN_EPOCH, SMALLEST), LARGEST)
    values: Values = {"train.batch_tokens": batch * frame.look_back, **read}
    if not recipe.train.steps and not recipe.train.epochs:
        values["train.epochs"] = max(FEWEST_EPOCHS, -(-STEPS * batch // max(1, windows)))
    return values


def flow_values(model: ModelName) -> Values:
    """The values for a dynamical system, by the family of the model."""
    if str(model) in CELLS:
        return FLOW_OF_STATES
    return {**FLOW, "train.lr": 1e-3} if model.family == "transformer" else FLOW


def flows(train: Pairs) -> bool:
    """Whether series are of a dynamical system read row by row: a row is its state, and the change is learned."""
    frame = train[0][1]
    return frame.look_back == 1 and not frame.covariates and is_dynamical_system([series for series, _ in train])
