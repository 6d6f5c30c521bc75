"""Models: trained networks with a loss, made of encoders, decoders and heads.

Each room imports only from the rooms below it:

- `builders/`: a recipe with a model name becomes a model. `diagnostics/`: gradient flow and activations of any model.
- The models: `classifier`, `tagger`, `matcher`, `image_matcher`, `translator`, `language_model`, `embedder`,
  `forecaster` with `forecast_networks`, `autoencoder`, and `heads`, which hold the losses of labels and numbers.
- `backbones/`: encoders of tokens, words, numbers and images, and decoders of text, of every family.
- `protocols`: the interfaces of encoders, decoders and many-to-one models; `summaries`: states as one vector;
  `names`: how a model name is parsed.
"""

from atento.models.autoencoder import Autoencoder, AutoencoderBatch, WindowSizes
from atento.models.classifier import Classifier, LabelledBatch, NGramFeatures, OneVsRest
from atento.models.embedder import NextWord, SkipGram, WordsBatch
from atento.models.forecaster import Forecaster, ForecastNetwork, SeriesBatch, SeriesSizes
from atento.models.heads import Head, LabelHead, MultiLabelHead, RegressionHead
from atento.models.image_matcher import ImageMatcher, ImageQuestionBatch
from atento.models.language_model import LanguageModel, MaskedBatch, MaskedLanguageModel, TextBatch
from atento.models.matcher import MatchBatch, Matcher, PairHead, PairVectors
from atento.models.names import ModelName, ModelPart
from atento.models.protocols import Decoder, DecoderStep, Encoded, Encoder, IncrementalDecoder, Judge
from atento.models.tagger import BestTags, Tagger
from atento.models.translator import TranslationBatch, Translator

__all__ = [
    "Autoencoder",
    "AutoencoderBatch",
    "BestTags",
    "Classifier",
    "Decoder",
    "DecoderStep",
    "Encoded",
    "Encoder",
    "ForecastNetwork",
    "Forecaster",
    "Head",
    "ImageMatcher",
    "ImageQuestionBatch",
    "IncrementalDecoder",
    "Judge",
    "LabelHead",
    "LabelledBatch",
    "LanguageModel",
    "MaskedBatch",
    "MaskedLanguageModel",
    "MatchBatch",
    "Matcher",
    "ModelName",
    "ModelPart",
    "MultiLabelHead",
    "NGramFeatures",
    "NextWord",
    "OneVsRest",
    "PairHead",
    "PairVectors",
    "RegressionHead",
    "SeriesBatch",
    "SeriesSizes",
    "SkipGram",
    "Tagger",
    "TextBatch",
    "TranslationBatch",
    "Translator",
    "WindowSizes",
    "WordsBatch",
]
