"""The sections of a recipe: every key with its kind, limits, default and meaning."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from atento.errors import InputError
from atento.spec.bounds import Beam, Count, Length, Seed, Size, Threads
from atento.spec.durations import parse_duration

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
    separator: str = Field("", description="separator of several labels in one cell; empty: guessed")
    sheet: str = Field("", description="sheet of an Excel workbook; empty: its only one")
    merge_labels: Literal["no", "case"] = Field(
        "no",
        description="case: labels that differ in case, spaces or invisible characters alone are one, in lower case",
    )
    siblings: Literal["auto", "no"] = Field(
        "auto",
        description="whether files next to the training file that are named valid, dev or test are its other parts, "
        "and rows that a column names so",
    )
    documents: Literal["auto", "file", "lines", "paragraphs"] = Field(
        "auto",
        description="what one document of a plain text is: the whole file, a line, or a paragraph between blank lines",
    )
    time: str = Field("", description="series: column of the timestamps; empty: guessed")
    series: str = Field("", description="series: column that says which series a row belongs to; empty: guessed")
    future_covariates: str = Field("", description="series: columns known for future times too, separated by commas")
    horizon: Length = Field(0, ge=0, description="series: how many steps are forecast; 0: guessed")
    look_back: Length = Field(0, ge=0, description="series: how many past steps the model reads; 0: guessed")
    frequency: str = Field("", description="series: time between two rows, e.g. 15min, 1h, 1d, 1mo; empty: inferred")
    order: Literal["stop", "sort"] = Field(
        "stop", description="series: what to do with rows that are not in time order"
    )
    duplicates: Literal["stop", "first", "last", "mean"] = Field(
        "stop", description="series: what to do with several rows of one timestamp"
    )
    decimal: Literal["", "point", "comma"] = Field(
        "",
        description="decimal sign of numbers where a file leaves it open, as 1.234 does; empty: found out by the file",
    )
    gaps: Literal["stop", "linear", "previous"] = Field(
        "stop", description="missing numbers and rows: stop, or fill by linear interpolation or with the previous value"
    )
    timezone: Literal["", "UTC"] = Field("", description="series: UTC converts timestamps of several time zones")
    image_size: int = Field(
        0, ge=0, le=1024, description="images: height and width in pixels they are resized to; 0: guessed"
    )
    exif_rotation: Literal["yes", "no"] = Field("yes", description="images: apply the rotation in their EXIF data")
    max_megapixels: float = Field(50.0, gt=0, description="images: larger ones are refused")
    split: str = Field(
        "90/5/5",
        description="shares of train, validation and test, by distinct sources; of series by time, also as rows: "
        "8640/2880/2880",
    )
    seed: Seed = Field(-1, ge=-1, description="seed of the split and of built-in sets; -1: train.seed")
    length: Length = Field(0, ge=0, description="built-in sets that say so: how long a source may be; 0: as usual")
    header: Literal["auto", "yes", "no"] = Field("auto", description="whether the first line names the columns")
    bad_rows: float = Field(
        0.01,
        ge=0,
        le=1,
        description="the largest share of rows that are listed and left out because they cannot be used; more of them "
        "are an error; stop: 0, skip: 1",
    )
    near_duplicates: Literal["keep", "drop"] = Field(
        "keep", description="training rows that differ from a held-out one only in case, spaces and punctuation"
    )
    conflicts: Literal["keep", "first"] = Field(
        "keep", description="training rows that give a source another target than an earlier row; first: drop them"
    )

    @field_validator("bad_rows", mode="before")
    @classmethod
    def read_share(cls, value: object) -> object:
        """`stop` leaves no row out, `skip` any number."""
        return {"stop": 0.0, "skip": 1.0}.get(value, value) if isinstance(value, str) else value


class TokensRecipe(Section):
    """How text is cut."""

    source: Level = Field("auto", description="char, word, subword, or auto")
    target: Level = Field("auto", description="char, word, subword, or auto")
    lowercase: bool = Field(False, description="lower-case the source text")
    vocab_size: Size = Field(4000, ge=8, description="largest word or subword vocabulary")
    min_count: Count = Field(1, ge=1, description="a token that occurs less often is unknown")
    max_length: Length = Field(
        1000, ge=1, description="most tokens of a text that are read or written; what follows them is left out"
    )
    vectors: str = Field("", description="a file of word vectors (word2vec's or GloVe's text) that words begin with")


class ModelRecipe(Section):
    """Which model, and how large."""

    name: str = Field("auto", description="`atento models` lists them; a composition such as lstm+additive+sparsemax")
    members: int = Field(
        1, ge=1, le=1000, description="networks whose mean is the model; set where `atento compare --seeds` joins them"
    )
    hidden: Size = Field(128, ge=1, description="hidden size of every family")
    layers: int = Field(1, ge=1, le=1000, description="layers of the encoder and of the decoder")
    heads: Size = Field(4, ge=1, description="heads of multi-head attention; must divide hidden")
    feed_forward: Size = Field(0, ge=0, description="width inside a Transformer layer; 0: four times hidden")
    dropout: float = Field(0.1, ge=0, lt=1, description="dropout probability")
    locked_dropout: bool = Field(
        False, description="recurrent language models: one dropout mask for all steps of a sequence"
    )
    recurrent_dropout: float = Field(
        0.0, ge=0, lt=1, description="recurrent language models: share of recurrent weights dropped for a sequence"
    )
    embedding_dropout: float = Field(
        0.0, ge=0, lt=1, description="language models: share of the vocabulary that is zero for a batch"
    )
    activation_penalty: float = Field(
        0.0, ge=0, description="recurrent language models: times the mean square of the outputs, added to the loss (AR)"
    )
    temporal_penalty: float = Field(
        0.0,
        ge=0,
        description="recurrent language models: times the mean square of the change of the outputs from step to step, "
        "added to the loss (TAR)",
    )
    norm: Literal["pre", "post", "none"] = Field(
        "pre", description="layer normalization of Transformer layers: before each sublayer, after it, or none"
    )
    positions: Literal["sinusoidal", "index", "binary", "learned", "none", "rotary", "alibi", "relative"] = Field(
        "sinusoidal", description="positional encoding of a Transformer"
    )
    max_length: Length = Field(
        512, ge=1, description="longest sequence that learned positions and the location score can hold"
    )
    activation: str = Field(
        "auto",
        description="activation of a recurrent cell: tanh, relu, leaky-relu, elu, sigmoid, maxout or identity; "
        "auto: tanh, of mingru and minlstm identity, as they were published",
    )
    init: str = Field(
        "uniform",
        description="weight initialization: uniform, orthogonal, identity or xavier; of a Transformer "
        "uniform, xavier or t-fixup, which needs neither normalization nor warm-up",
    )
    directions: int = Field(2, ge=1, le=2, description="1: a unidirectional encoder, 2: a bidirectional one")
    pooling: Literal["auto", "last", "mean", "max", "attention"] = Field(
        "auto",
        description="how the encoder's states become one vector; auto: the last state, of a "
        "Transformer the mean; attention: in a classifier, by a learned query",
    )
    context: Literal["auto", "state", "input", "both"] = Field(
        "auto",
        description="how a recurrent decoder gets the pooled source: as its first state, with every "
        "input, or both; auto: both, with attention only as state",
    )
    attend: Literal["luong", "bahdanau"] = Field(
        "luong", description="a recurrent decoder attends with its state after a step (Luong) or before it (Bahdanau)"
    )
    window: Length = Field(
        16,
        ge=0,
        description="window size of the extents local, local-predictive, adaptive-span "
        "and relative, and of skip-gram and next-word",
    )
    block: Length = Field(32, ge=1, description="block size of the extents block-local, strided and fixed")
    alpha: float = Field(
        0.0,
        ge=0,
        le=2,
        description="alpha of the distribution entmax, over 1 and at most 2; 0: learned, one for each head",
    )
    characters: Size = Field(0, ge=0, description="size of the character features of each word; 0: none")
    ngrams: int = Field(0, ge=0, le=3, description="a classifier also reads n-grams of up to this many words; 0: none")
    sampled_softmax: Size = Field(
        0,
        ge=0,
        description="language models: a target is compared with this many drawn tokens while training, where the "
        "vocabulary is larger; 0: with all. Probabilities are exact in either case",
    )
    tied_embeddings: bool = Field(True, description="share the embeddings of the decoder's input and output")
    vectors: Literal["fine-tuned", "frozen"] = Field(
        "fine-tuned", description="whether the vectors of tokens.vectors learn on or stay as they are"
    )
    linformer_rank: Length = Field(64, ge=1, description="to how many keys linformer projects a sequence")
    channels: Literal["auto", "joint", "each"] = Field(
        "auto", description="forecasts read all channels jointly, or each one independently with the same weights"
    )
    quantiles: str = Field("", description="quantiles to forecast, e.g. 0.1,0.5,0.9; empty: a point forecast")
    strategy: Literal["auto", "direct", "recursive"] = Field(
        "auto",
        description="forecast all steps at once (direct), or one after the other "
        "from the model's own predictions (recursive)",
    )
    anchor: Literal["auto", "last", "mean", "none", "change"] = Field(
        "auto",
        description="what is subtracted from a window before it is read, and added to its "
        "forecast; change: the last value is only added",
    )
    linear_skip: bool = Field(True, description="forecasts: a linear layer over the window beside the network")
    patch: Length = Field(0, ge=0, description="time steps of a series in one patch; 0: chosen")
    latent: Size = Field(0, ge=0, description="latent size of an autoencoder; 0: chosen")


class TrainRecipe(Section):
    """How to learn."""

    seed: Seed = Field(0, ge=0, description="one seed for weights, order and dropout, and for the split")
    steps: Count = Field(0, ge=0, description="stop after this many optimizer steps; 0: no such limit")
    epochs: Count = Field(0, ge=0, description="stop after this many passes over the data; 0: no such limit")
    budget: float = Field(0, ge=0, description="stop after this time, e.g. 90s or 5m; 0: no such limit")
    optimizer: Literal["adamw", "adam", "radam", "rmsprop", "sgd", "momentum", "nesterov"] = Field(
        "adamw", description="optimizer"
    )
    lr: float = Field(2e-3, gt=0, description="highest learning rate")
    beta1: float = Field(0.9, ge=0, lt=1, description="decay of the mean of gradients (all but sgd and rmsprop)")
    beta2: float = Field(
        0.98, ge=0, lt=1, description="decay of the mean of squared gradients (adamw, adam, radam, rmsprop)"
    )
    weight_decay: float = Field(0.01, ge=0, description="decoupled weight decay (adamw)")
    warmup: Count = Field(100, ge=0, description="warm-up steps of the learning rate")
    warmup_shape: Literal["linear", "exponential", "untuned-linear", "untuned-exponential", "none"] = Field(
        "linear", description="how the learning rate rises; untuned: over as many steps as beta2 asks for, not warmup"
    )
    decay: Literal["linear", "cosine", "exponential", "inverse-sqrt", "constant", "plateau", "noam"] = Field(
        "linear",
        description="how the learning rate falls; plateau: by plateau_factor after a validation without improvement; "
        "noam: the whole schedule follows from model.hidden and warmup, not lr",
    )
    plateau_factor: float = Field(0.25, gt=0, lt=1, description="decay=plateau: what the rate is multiplied by")
    clip: float = Field(1.0, ge=0, description="largest gradient norm; 0: no clipping")
    clip_value: float = Field(0.0, ge=0, description="largest absolute value of a gradient; 0: no clipping")
    label_smoothing: float = Field(0.0, ge=0, lt=1, description="label smoothing")
    loss_over: Literal["tokens", "sequences"] = Field(
        "tokens", description="what the loss is averaged over; sequences: summed over the tokens of each"
    )
    l2: float = Field(0.0, ge=0, description="the sum of squared weights, times this, is added to the loss")
    teacher_forcing: Literal["always", "until", "linear", "exponential", "inverse-sigmoid"] = Field(
        "always",
        description="schedule of the share of true inputs to a decoder, from 1 to "
        "teacher_forcing_end; the others are its own tokens (scheduled sampling)",
    )
    teacher_forcing_end: float = Field(0.5, ge=0, le=1, description="share of true inputs at the end of the run")
    teacher_forcing_epochs: Count = Field(
        1, ge=0, description="teacher_forcing=until: epochs of true inputs before the share of the end"
    )
    sampled_tokens: Literal["argmax", "sampled"] = Field(
        "argmax", description="which token of its own the model reads where the input is not the true one"
    )
    bptt_steps: Length = Field(
        0, ge=0, description="truncated back-propagation: steps a gradient goes back in time; 0: to the start"
    )
    objective: Literal["next", "masked"] = Field(
        "next", description="what a language model learns: the next token, or masked tokens"
    )
    mask_probability: float = Field(0.15, gt=0, lt=1, description="share of tokens masked, with objective=masked")
    sequence_length: Length = Field(256, ge=2, description="tokens of one training sequence of a language model")
    stateful: bool = Field(
        False, description="a recurrent language model carries its state from one sequence of a long text to the next"
    )
    word_dropout: float = Field(
        0.0, ge=0, lt=1, description="share of source tokens replaced by the unknown token while training"
    )
    noise: float = Field(
        0.0, ge=0, description="Gaussian noise on numeric inputs while training, in standard deviations"
    )
    rollout: Length = Field(
        1, ge=1, description="steps a recursive forecaster is rolled out on its own predictions while training"
    )
    class_weight: float = Field(
        0.0,
        ge=0,
        le=1,
        description="power of the inverse class frequency that weights the loss: 0 no weights, 1 balanced",
    )
    ema: float = Field(
        0.0, ge=0, lt=1, description="decay of an exponential moving average of the weights, e.g. 0.999; 0: none"
    )
    batch_tokens: Count = Field(1536, ge=1, description="source and target tokens in a batch, padding included")
    precision: Literal["auto", "fp32", "bf16"] = Field(
        "auto", description="auto: bf16 matrix products on a GPU and on a CPU with instructions for them, else fp32"
    )
    validations: Count = Field(12, ge=1, description="how often to validate during the run")
    validation_examples: Count = Field(300, ge=1, description="most examples of one validation")
    patience: Count = Field(6, ge=1, description="validations without improvement before early stopping")
    checkpoint_every: Count = Field(0, ge=0, description="steps between further checkpoints; 0: by the clock alone")
    histograms: Count = Field(0, ge=0, description="steps between histograms of gradients and updates; 0: none")
    threads: Threads = Field(0, ge=0, description="CPU threads; 0: measured at the start")
    closed_form: bool = Field(True, description="begin with a simple model in closed form, where the model has one")
    baselines: bool = Field(
        True, description="fit the simple baselines too, where that takes seconds, to show them beside the result"
    )

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

    beam: Beam = Field(1, ge=1, description="beam size; 1: greedy")
    length_penalty: float = Field(1.0, ge=0, description="beam scores are divided by length to this power")
    max_tokens: Length = Field(0, ge=0, description="most tokens generated; 0: from the training data")
    temperature: float = Field(0, ge=0, description="sampling temperature; 0: no sampling, the most probable token")
    top_k: Size = Field(0, ge=0, description="sample among the k most probable tokens; 0: among all")
    top_p: float = Field(
        1.0, gt=0, le=1, description="sample among the most probable tokens that hold this probability"
    )
    seed: Seed = Field(0, ge=0, description="the same seed draws the same outputs")
    horizon: Length = Field(0, ge=0, description="steps forecast; more than learned: on from its own output; 0: those")

    @model_validator(mode="after")
    def agree(self) -> "DecodeRecipe":
        """A beam does not draw, and what is not drawn cannot be narrowed."""
        if self.temperature and self.beam > 1:
            raise InputError("a beam keeps the likeliest outputs and draws none", fix="give beam=1 or temperature=0")
        if not self.temperature and (self.top_k or self.top_p < 1):
            raise InputError("top_k and top_p narrow a draw; temperature=0 draws nothing", fix="give temperature=1")
        return self
