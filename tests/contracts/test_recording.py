"""Laws of modules that torch records: torch.export leaves batch and lengths open, torch.compile makes one graph.

Every two parts of a composition meet in some case, with and without padding. The compositions of one score are recorded
together, which costs a tenth of the time.
"""

import pytest
import torch
from torch import nn
from torch.export import Dim, export

from atento.attention import (
    DISTRIBUTIONS,
    EXTENTS,
    SCORES,
    Additive,
    Attention,
    BlockLocal2d,
    Causal,
    Composition,
    Everything,
    Linformer,
    Masked,
    MultiHead,
    ScaledDot,
    Sigmoid,
    Sizes,
    Softmax,
    Window,
)
from atento.blocks import TransformerEncoderLayer, TransformerStack
from atento.layers import FeedForward
from atento.models.builders import Vocabularies, build_translator
from atento.spec import ModelRecipe
from cases import all_pairs, asked_of, by_first
from compositions import has_meaning
from recording import same_recorded

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
    pytest.mark.usefixtures("light_recording"),
]

BATCH, QUERIES, KEYS, SIZE, VALUE_SIZE = 2, 3, 5, 7, 11
LONGEST = 19
SIZES = Sizes(query=SIZE, key=SIZE, reach=1, heads=1, block=2, max_length=LONGEST)
OTHERS = [(5, 7, 11), (1, 4, 4)]  # other sizes than those that were recorded

ROWS, ASKED, SEEN, STEPS = Dim("rows"), Dim("asked"), Dim("seen", max=LONGEST), Dim("steps", max=16)


class Together(nn.Module):
    """Attentions over the same keys, some with padding and some without."""

    def __init__(self, attentions, padded):
        super().__init__()
        self.attentions, self.padded = nn.ModuleList(attentions), padded

    def forward(self, query, key, value, valid):
        pairs = zip(self.attentions, self.padded, strict=True)
        return [one(query, key, value, valid=valid if padded else None) for one, padded in pairs]


def some_items(batch, queries, keys):
    """Padding with a hole in it; the last row sees nothing."""
    valid = torch.rand(batch, keys) < 0.7
    valid[-1] = False
    query, key, value = (torch.randn(batch, *shape) for shape in ((queries, SIZE), (keys, SIZE), (keys, VALUE_SIZE)))
    return query, key, value, valid


def built(cases):
    attentions = [Composition(*names).build(SIZES).eval() for *names, _ in cases]
    for weight in nn.ModuleList(attentions).parameters():
        nn.init.normal_(weight, std=0.5)
    return Together(attentions, [padded for *_, padded in cases])


def is_asked(score, distribution, extent, *padded):
    """Scores of one path meet three extents, and the long search of a threshold, which sees a matrix alone, two."""
    searched = distribution in ("sparsemax", "entmax15", "entmax")
    short = score in ("additive", "general") and extent in ("everything", "local")
    every = score in ("scaled-dot", "additive", "linear", "location") or extent in ("everything", "causal", "relative")
    return has_meaning(score, distribution, extent) and (short if searched else every)


ALIKE = ("hard-reinforce", "hard-half")  # other gradients than hard's, and the same values
COMPOSITIONS = by_first(
    all_pairs(SCORES, [name for name in DISTRIBUTIONS if name not in ALIKE], EXTENTS, [True, False], allowed=is_asked)
)


@asked_of({score: [cases] for score, cases in COMPOSITIONS.items()})
def test_every_composition_is_exported_with_open_sizes(cases):
    together = built(cases)
    over_keys = {0: ROWS, 1: SEEN}
    open_sizes = ({0: ROWS, 1: ASKED}, over_keys, over_keys, over_keys)
    exported = export(together, some_items(BATCH, QUERIES, KEYS), dynamic_shapes=open_sizes).module()
    for sizes in OTHERS:
        items = some_items(*sizes)
        torch.testing.assert_close(exported(*items), together(*items), rtol=1e-12, atol=1e-12)


@asked_of({score: [cases] for score, cases in COMPOSITIONS.items()})
def test_every_composition_is_compiled_as_one_graph(cases):
    together, items = built(cases), some_items(BATCH, QUERIES, KEYS)
    leaves = [part.requires_grad_() for part in items[:3]]
    torch.compiler.reset()
    contexts = torch.compile(together, fullgraph=True, backend="eager", dynamic=True)(*items), together(*items)
    torch.testing.assert_close(*contexts, rtol=1e-12, atol=1e-12)
    slopes = [torch.autograd.grad(sum(part.sin().sum() for part in each), leaves) for each in contexts]
    torch.testing.assert_close(*slopes, rtol=1e-9, atol=1e-9)


def heads(attention):
    return MultiHead(6, 2, attention)


def layers(attention):
    return TransformerStack([TransformerEncoderLayer(heads(attention), FeedForward(6, 11)) for _ in range(2)])


VISIBLE = torch.rand(LONGEST, LONGEST, generator=torch.Generator().manual_seed(0)) < 0.6
SELF_ATTENTIVE = {
    "heads": lambda: heads(Attention(Additive(3, 3, hidden_size=5), Sigmoid(), Causal() & Window(2))),
    "linformer": lambda: heads(Linformer(Attention(ScaledDot(), Softmax(), Everything()), LONGEST, 3)),
    "mask": lambda: heads(Attention(ScaledDot(), Softmax(), Masked(VISIBLE))),
    "image": lambda: heads(Attention(ScaledDot(), Sigmoid(), BlockLocal2d(4, 5, block=(2, 2)))),
    "stack": lambda: layers(Attention(ScaledDot(), Softmax(), Causal())),
}


@pytest.mark.parametrize("name", SELF_ATTENTIVE)
@pytest.mark.parametrize("padded", [True, False])
def test_self_attention_is_recorded(name, padded):
    def make(batch, steps):
        valid = torch.arange(steps) < torch.tensor([[steps]] + [[max(1, steps - 2)]] * (batch - 1))
        return torch.randn(batch, steps, 6), *([valid] if padded else [])

    def call(module, values, valid=None):
        return module(values, valid=valid)

    open_sizes = ({0: ROWS, 1: STEPS},) * (2 if padded else 1)
    same_recorded(SELF_ATTENTIVE[name](), call, make, [(3, 7), (2, 11), (1, 4)], open_sizes)


def encode_and_step(model, source, valid, token):
    """An encoder, the start of a decoder and two of its steps."""
    encoded = model.encode(source, valid)
    step = model.decoder.step(token, model.decoder.start(encoded))
    return encoded.states, step.logits, model.decoder.step(token, step.state).logits


MODELS = {
    "lstm/gru+additive+sparsemax": {},
    "gru/lstm+general+entmax15+local": {"attend": "bahdanau"},
    "transformer/transformer": {},
}


@pytest.mark.parametrize("name", MODELS)
def test_encoders_and_steps_of_decoders_are_recorded(name):
    recipe = ModelRecipe(name=name, hidden=6, layers=1, heads=2, feed_forward=7, window=2, max_length=LONGEST)
    model = build_translator(recipe.model_copy(update=MODELS[name]), Vocabularies(13, 11))

    def make(batch, steps):
        valid = torch.arange(steps) < torch.tensor([[steps]] + [[max(1, steps - 3)]] * (batch - 1))
        return torch.randint(4, 13, (batch, steps)), valid, torch.randint(4, 11, (batch,))

    open_sizes = ({0: ROWS, 1: STEPS}, {0: ROWS, 1: STEPS}, {0: ROWS})
    same_recorded(model, encode_and_step, make, [(3, 5), (2, 8)], open_sizes)
