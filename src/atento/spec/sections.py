"""The sections of a recipe: every key with its kind, limits, default and meaning."""

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from atento.errors import InputError

Level = Literal["auto", "char", "word", "subword"]


class Section(BaseModel):
    """Frozen, and strict about names."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class DataRecipe(Section):
    """Where examples come from."""

    train: str = Field("", description="a data file, two parallel files a.de,a.en, or a built-in name")
    valid: str = Field("", description="a file of its own for validation; empty: a share of train")
    test: str = Field("", description="a file of its own for the final test; empty: a share of train")
    source: str = Field("", description="column that is read (built-in numbers: a language); empty: guessed")
    target: str = Field("", description="column that is written (built-in numbers: a language); empty: guessed")
    label: str = Field("", description="column that holds the label, labels or tags; empty: guessed")
    separator: str = Field("", description="what stands between several labels in one cell; empty: guessed")
    beside: Literal["auto", "no"] = Field(
        "auto", description="whether files beside train that are named valid, dev or test are its other parts"
    )
    documents: Literal["auto", "file", "lines", "paragraphs"] = Field(
        "auto", description="what one document of a plain text is: all of the file, a line, or what blank lines part"
    )
    time: str = Field("", description="series: column of the time stamps; empty: guessed")
    series: str = Field("", description="series: column that says which series a row belongs to; empty: guessed")
    known: str = Field("", description="series: columns known beforehand, of times to come too, commas between")
    horizon: int = Field(0, ge=0, description="series: how many steps are forecast; 0: guessed")
    look_back: int = Field(0, ge=0, description="series: how many steps are read; 0: guessed")
    frequency: str = Field("", description="series: distance of two rows, e.g. 15min, 1h, 1d, 1mo; empty: found")
    order: Literal["stop", "sort"] = Field("stop", description="series: at rows that are not in order of time")
    twins: Literal["stop", "first", "last", "mean"] = Field("stop", description="series: at several rows of one time")
    gaps: Literal["stop", "linear", "previous"] = Field(
        "stop", description="numbers and rows that are missing: stop, or fill by a line or by what came before"
    )
    zone: Literal["", "UTC"] = Field("", description="series: UTC brings time stamps of several zones together")
    pixels: int = Field(0, ge=0, le=1024, description="pictures: side in pixels they are brought to; 0: guessed")
    upright: Literal["yes", "no"] = Field("yes", description="pictures: turn those that are marked as turned")
    largest: float = Field(50.0, gt=0, description="pictures: more megapixels than these are refused")
    split: str = Field(
        "90/5/5",
        description="shares of train, validation and test, by distinct sources; of series by time, also as rows: "
        "8640/2880/2880",
    )
    seed: int = Field(-1, ge=-1, description="seed of the split and of built-in sets; -1: train.seed")
    length: int = Field(0, ge=0, description="built-in sets that say so: how long a source may be; 0: as usual")
    header: Literal["auto", "yes", "no"] = Field("auto", description="whether the first line names the columns")
    bad_rows: Literal["stop", "skip"] = Field("stop", description="at a row that cannot be used")
    near: Literal["keep", "drop"] = Field(
        "keep", description="training rows that only case, spaces and punctuation tell from a held-out one"
    )
    conflicts: Literal["keep", "first"] = Field(
        "keep", description="training rows that give a source another target than an earlier row; first: leave them out"
    )


class TokensRecipe(Section):
    """How text is cut."""

    source: Level = Field("auto", description="char, word, subword, or auto")
    target: Level = Field("auto", description="char, word, subword, or auto")
    lower: bool = Field(False, description="read capital letters as small ones")
    size: int = Field(4000, ge=8, description="most tokens in a word or subword vocabulary")
    least_count: int = Field(1, ge=1, description="a rarer token is unknown")
    vectors: str = Field("", description="a file of word vectors (word2vec's or GloVe's text) that words begin with")


class ModelRecipe(Section):
    """Which model, and how large."""

    name: str = Field("auto", description="`atento models` lists them; a composition such as lstm+additive+sparsemax")
    hidden: int = Field(128, ge=1, description="width of every family")
    layers: int = Field(1, ge=1, le=1000, description="layers of the encoder and of the decoder")
    heads: int = Field(4, ge=1, description="heads of multi-head attention; must divide hidden")
    feed_forward: int = Field(0, ge=0, description="width inside a Transformer layer; 0: four times hidden")
    dropout: float = Field(0.1, ge=0, lt=1, description="share of values dropped while training")
    norm: Literal["pre", "post", "none"] = Field(
        "pre", description="Transformer layers normalise before each part, after it, or nowhere"
    )
    positions: Literal["sinusoidal", "index", "binary", "learned", "none", "rotary", "alibi", "relative"] = Field(
        "sinusoidal", description="how a Transformer knows what stands where"
    )
    longest: int = Field(
        512, ge=1, description="the longest sequence that learned positions and the score location can hold"
    )
    activation: str = Field(
        "tanh",
        description="bends a recurrent cell's content: tanh, relu, leaky-relu, elu, sigmoid, maxout or identity",
    )
    init: str = Field(
        "uniform",
        description="how weights start: uniform, orthogonal, identity or xavier; of a Transformer uniform, xavier or "
        "t-fixup, which needs neither norm nor warm-up",
    )
    directions: int = Field(2, ge=1, le=2, description="ways an encoder reads: forward, or both")
    summary: Literal["auto", "last", "mean", "max", "attention"] = Field(
        "auto",
        description="how a source becomes one vector; auto: last, of a Transformer's states the mean; attention: in a "
        "classifier, by a learned query",
    )
    handover: Literal["auto", "state", "input", "both"] = Field(
        "auto",
        description="a recurrent decoder gets the summary as first state, with every input, or both; "
        "auto: both, with attention as state",
    )
    attend: Literal["current", "previous"] = Field(
        "current", description="a recurrent decoder looks with its state after a step (Luong) or before it (Bahdanau)"
    )
    reach: int = Field(
        16,
        ge=0,
        description="how far the extents local, local-predictive, adaptive-span, relative see; words that skip-gram "
        "and next-word take together",
    )
    block: int = Field(32, ge=1, description="how long a block of the extents block-local, strided and fixed is")
    alpha: float = Field(
        0.0, ge=0, le=2, description="of the distribution entmax, over 1 and at most 2; 0: learned, one a head"
    )
    characters: int = Field(0, ge=0, description="width of what is read inside each word, letter by letter; 0: nothing")
    runs: int = Field(
        0, ge=0, le=3, description="a classifier also knows which runs of up to so many words occur; 0: nothing of them"
    )
    tied: bool = Field(True, description="one table of vectors both reads and predicts, where a model does both")
    vectors: Literal["fine-tuned", "frozen"] = Field(
        "fine-tuned", description="whether the vectors of tokens.vectors learn on or stay as they are"
    )
    compressed: int = Field(64, ge=1, description="into how many keys linformer presses a sequence")
    channels: Literal["auto", "joint", "each"] = Field(
        "auto", description="forecasts read all channels together, or each by itself with the same weights"
    )
    quantiles: str = Field("", description="forecasts of quantiles, e.g. 0.1,0.5,0.9; empty: of one number")
    strategy: Literal["auto", "direct", "recursive"] = Field(
        "auto", description="a forecast's steps all at once, or one after the other, each from those before"
    )
    anchor: Literal["auto", "last", "mean", "none", "change"] = Field(
        "auto",
        description="what is taken off a window before it is read, and added to its forecast; change: the last value "
        "is added alone",
    )
    highway: bool = Field(True, description="forecasts: a weighted sum of the window goes beside the network")
    patch: int = Field(0, ge=0, description="steps of a series that are read together; 0: chosen")
    latent: int = Field(0, ge=0, description="width an autoencoder presses its input to; 0: chosen")


class TrainRecipe(Section):
    """How to learn."""

    seed: int = Field(0, ge=0, description="one seed for weights, order and dropout, and for the split")
    steps: int = Field(0, ge=0, description="stop after so many steps; 0: no such limit")
    epochs: int = Field(0, ge=0, description="stop after so many passes over the data; 0: no such limit")
    budget: float = Field(0, ge=0, description="stop after so much time, e.g. 90s or 5m; 0: no such limit")
    optimiser: Literal["adamw", "adam", "radam", "rmsprop", "sgd", "momentum", "nesterov"] = Field(
        "adamw", description="how gradients become steps"
    )
    lr: float = Field(2e-3, gt=0, description="highest learning rate")
    beta1: float = Field(0.9, ge=0, lt=1, description="memory of past gradients (all but sgd and rmsprop)")
    beta2: float = Field(0.98, ge=0, lt=1, description="memory of their squares (adamw, adam, radam, rmsprop)")
    weight_decay: float = Field(0.01, ge=0, description="pull of weights towards zero (adamw)")
    warmup: int = Field(100, ge=0, description="steps over which the rate rises")
    warmup_shape: Literal["linear", "exponential", "untuned-linear", "untuned-exponential", "none"] = Field(
        "linear", description="how the rate rises; untuned: over as many steps as beta2 asks for, not warmup"
    )
    decay: Literal["linear", "cosine", "exponential", "inverse-sqrt", "constant", "noam"] = Field(
        "linear", description="how the rate falls; noam: the whole rate follows from model.hidden and warmup, not lr"
    )
    clip: float = Field(1.0, ge=0, description="largest gradient norm; 0: no limit")
    clip_value: float = Field(0.0, ge=0, description="largest size of any one number of a gradient; 0: no limit")
    label_smoothing: float = Field(0.0, ge=0, lt=1, description="share of each label spread over all tokens")
    loss_over: Literal["tokens", "sequences"] = Field(
        "tokens", description="what the loss is the mean over; sequences: summed over time within each"
    )
    l2: float = Field(0.0, ge=0, description="the sum of squared weights, times this, is added to the loss")
    teacher: Literal["always", "until", "linear", "exponential", "inverse-sigmoid"] = Field(
        "always", description="how the share of true inputs falls from one to teacher_end; else the model's own tokens"
    )
    teacher_end: float = Field(0.5, ge=0, le=1, description="share of true inputs at the end of the run")
    teacher_epochs: int = Field(1, ge=0, description="teacher=until: epochs of true inputs, then the share of the end")
    own: Literal["likeliest", "drawn"] = Field("likeliest", description="which token of its own a model reads instead")
    truncate: int = Field(0, ge=0, description="steps a gradient goes back in time; 0: to the start")
    objective: Literal["next", "masked"] = Field(
        "next", description="what a model of plain text learns: the next token, or tokens that are masked"
    )
    masked: float = Field(0.15, gt=0, lt=1, description="share of tokens masked, with objective=masked")
    window: int = Field(256, ge=2, description="tokens a model of plain text learns at a time")
    carry: bool = Field(
        False, description="a recurrent model of one long text goes on from window to window with its state"
    )
    word_dropout: float = Field(0.0, ge=0, lt=1, description="share of source tokens read as unknown while training")
    noise: float = Field(0.0, ge=0, description="noise on numbers that are read while training, in spreads")
    rollout: int = Field(1, ge=1, description="steps a recursive forecaster walks on its own output while training")
    balance: float = Field(0.0, ge=0, le=1, description="how much more rare labels weigh: 0 no more, 1 as common ones")
    average: float = Field(0.0, ge=0, lt=1, description="memory of a running mean of the weights, e.g. 0.999; 0: none")
    batch_tokens: int = Field(1536, ge=1, description="source and target tokens in a batch, padding included")
    precision: Literal["auto", "fp32", "bf16"] = Field("auto", description="auto: bf16 products on a GPU, else fp32")
    validations: int = Field(12, ge=1, description="how often to validate between start and end")
    validation_examples: int = Field(300, ge=1, description="most examples a validation decodes")
    patience: int = Field(6, ge=1, description="validations without a better one before stopping early")
    checkpoint_every: int = Field(200, ge=1, description="steps between checkpoints")
    threads: int = Field(0, ge=0, description="processor threads; 0: measured at the start")

    @field_validator("budget", mode="before")
    @classmethod
    def read_duration(cls, value: object) -> object:
        """90, 90s, 5m and 1h are all durations."""
        return parse_duration(value) if isinstance(value, str) else value

    @field_validator("decay")
    @classmethod
    def rise_first(cls, value: str, info: ValidationInfo) -> str:
        """Noam's formula is also a warm-up."""
        if value == "noam" and not info.data.get("warmup"):
            raise InputError(
                "Noam's rate rises over train.warmup steps, and there are none", fix="add train.warmup=4000"
            )
        return value


class DecodeRecipe(Section):
    """How to write an output."""

    beam: int = Field(1, ge=1, description="hypotheses kept side by side; 1: greedy")
    length_penalty: float = Field(1.0, ge=0, description="beam scores are divided by length to this power")
    longest: int = Field(0, ge=0, description="most tokens written; 0: from the training data")
    temperature: float = Field(0, ge=0, description="above 0 tokens are drawn, the bolder the higher; 0: the likeliest")
    top_k: int = Field(0, ge=0, description="draw among so many likeliest tokens; 0: among all")
    top_p: float = Field(1.0, gt=0, le=1, description="draw among the likeliest tokens that hold this probability")
    seed: int = Field(0, ge=0, description="the same seed draws the same outputs")
    horizon: int = Field(0, ge=0, description="steps forecast; more than learned: on from its own output; 0: those")

    @model_validator(mode="after")
    def agree(self) -> "DecodeRecipe":
        """A beam does not draw, and what is not drawn cannot be narrowed."""
        if self.temperature and self.beam > 1:
            raise InputError("a beam keeps the likeliest outputs and draws none", fix="give beam=1 or temperature=0")
        if not self.temperature and (self.top_k or self.top_p < 1):
            raise InputError("top_k and top_p narrow a draw; temperature=0 draws nothing", fix="give temperature=1")
        return self


def parse_duration(text: str, *, where: str = "") -> float:
    """Seconds in 90, 90s, 5m or 1.5h."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smh]?)\s*", text)
    if not match:
        problem = f"{where + ': ' if where else ''}{text!r} is not a duration."
        raise InputError(problem, found=text, fix="write 90s, 5m or 1h")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]
