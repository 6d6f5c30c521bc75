"""Any module by its signature: torch's own, a researcher's own, and what is said when it cannot be called."""

import pytest
import torch
from torch import nn

import atento
from atento.errors import InputError

torch_layers = {
    "rows first": nn.TransformerEncoderLayer(8, 2, 16, batch_first=True),
    "time first": nn.TransformerEncoderLayer(8, 2, 16),
}


@pytest.mark.parametrize("layer", torch_layers.values(), ids=torch_layers)
def test_torchs_layer_lets_nan_through_from_padding(layer):
    found = atento.check(layer)
    assert [finding.contract for finding in found.broken] == ["padding content", "gradients at padding"]
    assert found["padding content"].words.startswith("nan in the padding")
    assert found["padding amount"].verdict == found["neighbours"].verdict == "held"


def test_torchs_attention_gives_nan_where_nothing_is_real():
    found = {finding.contract for finding in atento.check(nn.MultiheadAttention(8, 2)).broken}
    assert found == {"padding content", "no valid items", "gradients at padding"}


def test_a_module_that_is_not_told_what_is_real():
    found = atento.check(nn.LSTM(5, 7, batch_first=True), causal=True)
    assert found
    assert found["future"].verdict == "held"
    assert found["padding content"].verdict == "does not apply"
    assert "no argument `valid`" in found["padding content"].words


class Tagger(nn.Module):
    """Tokens in, a score a token out."""

    def __init__(self):
        super().__init__()
        self.table, self.map = nn.Embedding(19, 6), nn.Linear(6, 5)

    def forward(self, tokens, valid):
        vectors = self.table(tokens).masked_fill(~valid.unsqueeze(-1), 0.0)
        return self.map(vectors + vectors.sum(1, keepdim=True))


def test_tokens_are_drawn_for_an_embedding():
    found = atento.check(Tagger())
    assert found
    assert found["gradients at padding"].verdict == "held"
    assert "another token" in found["padding content"].words
    assert atento.check(Tagger(), values=torch.randint(0, 19, (3, 7)))


class Strange(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def forward(self, values, valid):
        if values.size(-1) != self.width:
            raise ValueError(f"I read {self.width} features")
        return values


def test_an_example_says_how_wide_values_are():
    with pytest.raises(InputError, match=r"I read 13 features(.|\n)*values=torch\.randn"):
        atento.check(Strange(13))
    found = atento.check(Strange(13), values=torch.randn(2, 3, 13), causal=True)
    assert found["future"].verdict == "held"
    assert atento.check(Strange(8))


@pytest.mark.parametrize("values", [torch.randn(3, 7), torch.zeros(3, 7, 2, dtype=torch.long)], ids=["2", "3"])
def test_an_example_of_no_known_shape(values):
    with pytest.raises(InputError, match=r"numbers \(rows, time, width\) or tokens \(rows, time\)"):
        atento.check(Strange(13), values=values)


def test_what_signature_is_expected():
    with pytest.raises(InputError, match=r"missing 1 required(.|\n)*forward\(values, valid\) -> values"):
        atento.check(nn.Bilinear(2, 3, 4))
    with pytest.raises(InputError, match="the first axis must be the rows"):
        atento.check(nn.Flatten(0))
    with pytest.raises(InputError, match="check takes a torch module"):
        atento.check(3)
