"""A recurrent forecaster that walks the horizon and looks back at the window from each of its steps."""

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.models.forecast_pieces import Asking, Reading, Writing
from atento.models.forecaster import Network
from atento.models.summaries import Summary
from atento.recurrent.stack import Stack

# Axes: N rows, L past, H horizon, C channels, K covariates, S pieces of the past, J of the horizon, D size, E states.


class LookingBack(Network):
    """s_j = f(s_{j−1}, what is known of piece j), a context c_j by attention with s_j as query over the states of the
    window, tanh(W [c_j; s_j]) writes the piece (Luong et al., 2015, sec. 3). It reads none of its own output.
    """

    def __init__(
        self,
        reading: Reading,
        encoder: Stack,
        summarise: Summary,
        asking: Asking,
        decoder: Stack,
        attention: Attention,
        writing: Writing,
    ) -> None:
        super().__init__()
        self.reading, self.encoder, self.summarise = reading, encoder, summarise
        self.asking, self.decoder, self.attention, self.writing = asking, decoder, attention, writing
        self.first = nn.Linear(encoder.output_size, decoder.output_size * decoder.layers)
        self.join = nn.Linear(encoder.output_size + decoder.output_size, decoder.output_size)

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """One walk of each part, one attention for all pieces."""
        states, said = self.walk(past, known)
        context = self.attention(said, states, states)
        outputs: Tensor = self.writing(torch.tanh(self.join(torch.cat([context, said], dim=-1))))
        return outputs

    def walk(self, past: Tensor, known: Tensor) -> tuple[Tensor, Tensor]:
        """The states of the window (N, S, E) and of the horizon (N, J, D)."""
        time = past.size(1)
        states = self.encoder(self.reading(past, known[:, :time]).relu()).outputs
        whole = torch.ones(states.shape[:2], dtype=torch.bool, device=states.device)
        said = torch.tanh(self.first(self.summarise(states, whole))).chunk(self.decoder.layers, dim=-1)
        start = self.decoder.start(states[:, 0])
        start = tuple(state._replace(hidden=hidden) for state, hidden in zip(start, said, strict=True))
        return states, self.decoder(self.asking(known[:, time:]), start).outputs

    def weights(self, past: Tensor, known: Tensor) -> Tensor:
        """(N, 1, 1, J, S)."""
        states, said = self.walk(past, known)
        return self.attention.weights(said, states)[:, None, None]
