"""Model names: the words they are made of, and the one place where they are parsed.

A name is FAMILY[+SCORE][+DISTRIBUTION][+EXTENT], or ENCODER/DECODER of two such names: `lstm+additive+sparsemax`,
`transformer`, `transformer/gru+dot`. In place of an extent, `linformer` projects the keys to fewer. The last part of a
name may have a suffix of one kind of model: `lstm+crf`.

`ModelName.parse` accepts any text. `require_family` and `require_encoder_decoder` check whether its words are known;
the module that builds a kind of model checks the rest.
"""

from dataclasses import dataclass

from atento.attention.presets import DISTRIBUTIONS, EXTENTS, SCORES, Composition, compose
from atento.errors import InputError, unknown_name

FAMILIES: dict[str, str] = {  # of sequences
    "rnn": "plain recurrent network (Elman 1990)",
    "jordan": "recurrent network whose output feeds back (Jordan 1986)",
    "gru": "gated recurrent unit (Cho et al. 2014), the reset after the product",
    "gru-before": "gated recurrent unit as first published, the reset before the product (Cho et al. 2014)",
    "mgu": "minimal gated unit, a GRU with one gate for reset and update (Zhou et al. 2016)",
    "mingru": "GRU whose gate reads the input alone: a parallel scan (Feng et al. 2024)",
    "lstm": "long short-term memory (Hochreiter & Schmidhuber 1997; Gers et al. 2000)",
    "minlstm": "LSTM whose gates read the input alone: a parallel scan (Feng et al. 2024)",
    "transformer": "attention only (Vaswani et al. 2017)",
}
IMAGE_ENCODERS: dict[str, str] = {
    "conv": "small convolutional network, a state for each image region: conv/DECODER, conv+SCORE (Xu et al. 2015)",
}
FORECASTERS: dict[str, str] = {  # of series alone
    "linear": "forecasters: one linear map of the past (NLinear of Zeng et al. 2023)",
}
LINFORMER = "linformer"
HARD_EXACT, HARD_MONOTONIC = "hard-exact", "hard-monotonic"
ALIGNMENTS: dict[str, str] = {  # of recurrent decoders of text that attend
    HARD_EXACT: "decoders: exact hard attention, outputs summed over all alignments (Wu et al. 2018)",
    HARD_MONOTONIC: "decoders: exact hard attention over alignments that never go back (Wu & Cotterell 2019)",
}
COPY = "copy"
SUFFIXES: dict[str, str] = {  # of one kind of model
    **ALIGNMENTS,
    COPY: "recurrent decoders of text that attend: each token is generated or copied from the source (See et al. 2017)",
    "crf": "taggers: tags predicted jointly, by a linear-chain conditional random field",
    "hierarchical": "text classifiers: words are encoded into sentences, sentences into a document",
    "one-each": "classifiers of several labels: a network of its own for each label",
    "wide": "text classifiers and taggers: a linear model of n-grams or word features beside the network",
    "co": "matchers: each side attends to the other",
    "ngram": "language models: interpolated with a Kneser–Ney n-gram model of the same tokens",
    "patches": "forecasters: a Transformer over patches of model.patch steps",
}
SELF_ATTENTIVE = frozenset({"transformer"})  # families that consist of self-attention; it is what their words name
DEFAULT_SCORES = {"transformer": "scaled-dot", "conv": "additive"}  # where none is named; other families: dot


@dataclass(frozen=True)
class ModelPart:
    """The encoder or the decoder of a name: a family, and the words added to it, in order."""

    family: str
    added: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "ModelPart":
        """`lstm+additive` -> the family lstm with additive added."""
        family, *added = text.split("+")
        return cls(family, tuple(added))

    def __str__(self) -> str:
        return "+".join((self.family, *self.added))

    @property
    def linformer(self) -> bool:
        """Whether the keys of a sequence are projected to fewer (Linformer)."""
        return self.family in FAMILIES and LINFORMER in self.added

    @property
    def composed(self) -> list[str]:
        """The words that name an attention: all but one `linformer`."""
        words = list(self.added)
        if self.linformer:
            words.remove(LINFORMER)
        return words

    def without(self, *words: str) -> "ModelPart":
        """The part without these words."""
        return ModelPart(self.family, tuple(word for word in self.added if word not in words))

    @property
    def self_attentive(self) -> bool:
        """Whether the family consists of self-attention."""
        return self.family in SELF_ATTENTIVE

    @property
    def added_attention(self) -> Composition | None:
        """The attention that the words add to a family that does not consist of it, such as a recurrent one."""
        return self.compose() if self.composed and not self.self_attentive else None

    def compose(self) -> Composition:
        """The attention that the words name, or the family's default where they name none; other words are refused."""
        return compose(self.composed, default_score=DEFAULT_SCORES.get(self.family, "dot"))


@dataclass(frozen=True)
class ModelName:
    """A parsed model name: one part that is encoder and decoder, or one of each."""

    parts: tuple[ModelPart, ...]

    @classmethod
    def parse(cls, text: str) -> "ModelName":
        """`transformer/gru+dot` -> its two parts. Any text is accepted; its words need not be known."""
        return cls(tuple(map(ModelPart.parse, text.split("/", 1))))

    def __str__(self) -> str:
        return "/".join(map(str, self.parts))

    @property
    def encoder(self) -> ModelPart:
        """The first part."""
        return self.parts[0]

    @property
    def decoder(self) -> ModelPart:
        """The last part."""
        return self.parts[-1]

    @property
    def family(self) -> str:
        """The decoder's family, on which default values depend."""
        return self.decoder.family

    @property
    def alone(self) -> bool:
        """Whether the name has one part only."""
        return len(self.parts) == 1

    @property
    def bare(self) -> "ModelName":
        """The families without added words: `transformer/gru`."""
        return ModelName(tuple(ModelPart(part.family) for part in self.parts))

    def has(self, suffix: str) -> bool:
        """Whether the last part has this suffix."""
        return suffix in self.decoder.added

    def without(self, *suffixes: str) -> "ModelName":
        """The name without these suffixes in its last part."""
        return ModelName((*self.parts[:-1], self.decoder.without(*suffixes)))


def require_family(part: ModelPart, name: ModelName) -> None:
    """Refuse a part of `name` that is not a family of sequences, with or without an attention."""
    where, family = f"model {str(name)!r}", part.family
    for table, does, task in (
        (IMAGE_ENCODERS, "reads images", "a task of images"),
        (FORECASTERS, "forecasts series", "a task of series"),
    ):
        if family in table:
            raise InputError(
                f"{where}: {family} {does}, and cannot stand here.",
                found=str(part),
                fix=f"take another family ({', '.join(FAMILIES)}), or {task}",
            )
    if family not in FAMILIES:
        raise unknown_name("model", family, FAMILIES, where=where if str(name) != family else "")
    foreign = next((word for word in part.added if word in SUFFIXES), "")
    if foreign:  # a build that takes it has removed it already
        raise InputError(
            f"{where}: {foreign!r} has no meaning for this task.",
            found=f"{foreign}, which is for {SUFFIXES[foreign]}",
            fix=f"leave +{foreign} out",
        )
    extent = next((word for word in part.added if word in EXTENTS and word != "everything"), "")
    if part.linformer and extent:
        raise InputError(
            f"{where}: linformer mixes all positions, which leaves no extent to choose.",
            found=f"{LINFORMER} and {extent}",
            fix=f"leave {extent!r} out, or {LINFORMER!r}",
        )
    if part.added and not part.self_attentive and {*DISTRIBUTIONS, *EXTENTS}.issuperset(part.composed):
        words = [*part.composed, *([LINFORMER] if part.linformer else [])]
        raise InputError(
            f"{where} names no score.",
            found=", ".join(words),
            fix=f"add one, e.g. {part.family}+dot+{'+'.join(words)} (scores: {', '.join(SCORES)})",
        )
    part.compose()


def require_encoder_decoder(name: ModelName) -> None:
    """Refuse a name that is not one or two parts of known families, or that gives a recurrent encoder an attention."""
    if "/" in str(name.decoder):
        raise InputError(f"model {str(name)!r} has more than two parts.", found=str(name), fix="write ENCODER/DECODER")
    name = name if name.decoder.self_attentive else name.without(*ALIGNMENTS)
    for part in name.parts:
        require_family(part, name)
    encoder = name.encoder
    if not name.alone and encoder.added_attention is not None:
        raise InputError(
            f"model {str(name)!r}: a recurrent encoder has no attention; its decoder has.",
            found=str(encoder),
            fix=f"write {encoder.family}/{name.decoder}",
        )


def require_known(name: ModelName) -> None:
    """Refuse a name that is not of known families, whatever its suffix."""
    require_encoder_decoder(name.without(*SUFFIXES))
