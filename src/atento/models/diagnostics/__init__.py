"""Looking inside models.

- `gradients`: gradient flow through time of every recurrent cell and every stack of attention.
- `attention_maps`: the weights of every attention of a model in one forward pass, with labels.
- `attribution`: integrated gradients, how much each part of an input moved a score.
- `recurrent_states`: hidden states at each token, and units that follow a pattern of the text.
- `recording`: activations of a forward pass by hooks, and the hidden states of a text layer by layer.
- `hand_built`: three networks with hand-written weights, to compare learned ones with.
"""

from atento.models.diagnostics.attention_maps import AttentionMap, MapPlace, maps_of_calls, record_attention
from atento.models.diagnostics.attribution import Attributions, integrated_gradients
from atento.models.diagnostics.gradients import GradientFlow, gradient_flow
from atento.models.diagnostics.hand_built import FollowsWeather, Rotates, RotatesInRain
from atento.models.diagnostics.recording import RecordedActivations, hidden_states, record_activations

__all__ = [
    "AttentionMap",
    "Attributions",
    "FollowsWeather",
    "GradientFlow",
    "MapPlace",
    "RecordedActivations",
    "Rotates",
    "RotatesInRain",
    "gradient_flow",
    "hidden_states",
    "integrated_gradients",
    "maps_of_calls",
    "record_activations",
    "record_attention",
]
