"""Looking inside models.

- `gradients`: gradient flow through time of every recurrent cell and every stack of attention.
- `recording`: activations of a forward pass by hooks, and the hidden states of a text layer by layer.
- `hand_built`: three networks with hand-written weights, to compare learned ones with.
"""

from atento.models.diagnostics.gradients import GradientFlow, gradient_flow
from atento.models.diagnostics.hand_built import FollowsWeather, Rotates, RotatesInRain
from atento.models.diagnostics.recording import RecordedActivations, hidden_states, record_activations

__all__ = [
    "FollowsWeather",
    "GradientFlow",
    "RecordedActivations",
    "Rotates",
    "RotatesInRain",
    "gradient_flow",
    "hidden_states",
    "record_activations",
]
