"""Recipes become models: the only place where strings become modules. Its errors name recipe keys and model names.

- `choices`: what many models share: summaries, sizes of attention, poolings, refusals.
- `recurrent`, `transformer`: all modules of either kind; `encoder_decoder`: the families by name, encoders, decoders
  and translators of any of them.
- `classifier`, `tagger`, `matcher`, `language_model`, `numbers`, `images`, `forecaster`, `autoencoder`: a kind of model
  each, with the names it takes in the docstring.
"""

from atento.models.builders.autoencoder import build_autoencoder
from atento.models.builders.classifier import build_classifier
from atento.models.builders.encoder_decoder import (
    Vocabularies,
    build_decoder,
    build_encoder,
    build_translator,
    count_parameters,
)
from atento.models.builders.forecaster import build_forecaster
from atento.models.builders.images import build_captioner, build_image_classifier, build_image_encoder
from atento.models.builders.language_model import build_embedder, build_language_model, build_masked_model
from atento.models.builders.matcher import build_image_matcher, build_matcher
from atento.models.builders.numbers import build_estimator, build_series_classifier, build_transcriber
from atento.models.builders.tagger import Tagset, build_tagger, build_word_tagger

__all__ = [
    "Tagset",
    "Vocabularies",
    "build_autoencoder",
    "build_captioner",
    "build_classifier",
    "build_decoder",
    "build_embedder",
    "build_encoder",
    "build_estimator",
    "build_forecaster",
    "build_image_classifier",
    "build_image_encoder",
    "build_image_matcher",
    "build_language_model",
    "build_masked_model",
    "build_matcher",
    "build_series_classifier",
    "build_tagger",
    "build_transcriber",
    "build_translator",
    "build_word_tagger",
    "count_parameters",
]
