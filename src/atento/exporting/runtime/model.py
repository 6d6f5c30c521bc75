"""An exported model at work: a folder to answers."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from atento.data.text.levels import load_vocabulary, prepare
from atento.data.text.vocabulary import SPECIAL_TOKENS
from atento.data.text.word_space import Term, WordSpace, parse_terms
from atento.errors import InputError
from atento.exporting.folder import CODEC, EXPORT, FORMAT, Json, check_folder, damaged, read_json
from atento.exporting.runtime.graphs import OnnxGraph
from atento.exporting.runtime.judged import ExportedAnswer, LabelJudge, TagJudge
from atento.exporting.runtime.search import Emit
from atento.exporting.runtime.series import Forecasts, WindowCoder
from atento.exporting.runtime.sources import WordReader, reader_of
from atento.exporting.runtime.writing import Completer, MaskedScorer, Steps, Writer
from atento.spec import DecodeRecipe
from atento.spec.recipe import Settings, parse_settings

NEIGHBOURS = 5


class ExportedModel:
    """Answers by the graphs of a folder; torch is not needed."""

    def __init__(self, folder: Path, *, threads: int = 0) -> None:
        self.folder = folder
        self.manifest = check_folder(folder)
        self.facts: Json = read_json(folder, EXPORT)
        if self.facts.get("format") not in range(1, FORMAT + 1):
            raise damaged(folder, EXPORT, f"format {self.facts.get('format')!r}")
        if self.facts.get("to") not in ("onnx", "ct2"):
            raise InputError(
                f"{folder} holds programs for torch.export.load, which atento itself does not run.",
                found=f"--to {self.facts.get('to')}",
                fix="use the run itself, or export it with --to onnx",
            )
        self.codec: Json = read_json(folder, CODEC)
        self.threads = threads
        try:
            self.decode = DecodeRecipe(**self.facts["decode"])
            self.graphs = {
                str(name): OnnxGraph(folder, saved, threads=threads) for name, saved in self.facts["graphs"].items()
            }
            self.answerer = self.find_answerer()
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, InputError):
                raise
            raise damaged(folder, EXPORT, f"{type(error).__name__}: {error}"[:200]) from None

    @property
    def task(self) -> str:
        """Its name."""
        return str(self.facts["task"])

    @property
    def kind(self) -> str:
        """Of its sources: text, two texts, words, numbers, image, image and question, series."""
        return str(self.facts["input"])

    def find_answerer(self) -> Any:
        """What turns sources into answers."""
        graphs, output = self.graphs, self.facts["output"]
        saved, most = self.codec.get("input", {}), self.codec.get("max_length")
        match output:
            case "forecast":
                return Forecasts(graphs["model"], self.codec, self.facts["point"], self.facts.get("conformal"))
            case "window":
                return WindowCoder(graphs, self.codec)
            case "completion" if "first" in graphs:
                steps = Steps(graphs["first"], graphs["step"])
                return Completer(steps, self.codec, recurrent=bool(self.facts["recurrent"]))
            case "completion":
                return MaskedScorer(graphs["model"], self.codec)
            case "neighbours":
                return Neighbours(graphs["vectors"], self.codec, self.facts["words"])
            case "tags":
                reader = WordReader(saved, most)
                return TagJudge(graphs["model"], reader, self.codec["output"]["tags"], self.facts.get("transitions"))
            case "text" if self.facts["to"] == "ct2":
                from atento.exporting.runtime.ctranslate2 import CTranslate2Writer

                reader_ = reader_of(self.kind, saved, most, writes=True)
                return CTranslate2Writer(self.folder, reader_, self.codec["output"], threads=self.threads)
            case "text":
                reader_ = reader_of(self.kind, saved, most, writes=True)
                return Writer(Steps(graphs["first"], graphs["step"]), reader_, self.codec["output"])
        reader_ = reader_of(self.kind, saved, most, writes=False)
        return LabelJudge(graphs["model"], reader_, self.codec["output"], self.facts.get("thresholds", ()))

    def with_settings(self, settings: Settings) -> DecodeRecipe:
        """How texts are written, with other decode keys."""
        values = parse_settings(settings)
        for key in values:
            if not key.startswith(("data.", "decode.")):
                raise InputError(
                    f"--set {key}: an exported model keeps it.", found=key, fix="only data.* and decode.* can be set"
                )
        asked = {key.removeprefix("decode."): value for key, value in values.items() if key.startswith("decode.")}
        try:
            return DecodeRecipe(**{**self.decode.model_dump(), **asked})
        except ValueError as error:
            raise InputError("a decode key cannot have this value.", found=str(error).split("\n")[0]) from None

    def answer(
        self, sources: Sequence[Any], *, decode: DecodeRecipe | None = None, emit: Emit | None = None
    ) -> list[ExportedAnswer]:
        """An answer for each source; `emit` receives the tokens of a single text while it is written."""
        if not len(sources):
            return []
        recipe = decode or self.decode
        if isinstance(self.answerer, Writer | Completer):
            return self.answerer(sources, recipe, emit)
        if isinstance(self.answerer, LabelJudge | TagJudge | WindowCoder | MaskedScorer | Neighbours):
            return self.answerer(sources)
        found: list[ExportedAnswer] = self.answerer(sources, recipe)
        return found


class Neighbours:
    """The words nearest to a word, a sum of words, or a text."""

    def __init__(self, graph: OnnxGraph, saved: Json, words: Sequence[str]) -> None:
        self.graph, self.words = graph, list(words)
        self.vocabulary, self.lower = load_vocabulary(saved.get("vocabulary")), bool(saved.get("lower"))

    @cached_property
    def space(self) -> WordSpace:
        """All words but the special tokens as points."""
        first = len(SPECIAL_TOKENS)
        numbers = np.arange(first, first + len(self.words), dtype=np.int64)[None]
        return WordSpace(self.words, self.graph({"tokens": numbers})["vectors"][0].astype(np.float64))

    def __call__(self, sources: Sequence[str]) -> list[ExportedAnswer]:
        """The nearest words of each source."""
        return [ExportedAnswer(", ".join(self.near(source)), None) for source in sources]

    def near(self, source: str) -> list[str]:
        """The nearest words; none where no word is known."""
        text = prepare(source, lower=self.lower)
        terms = parse_terms(text, self.space) if text.strip() else []
        known = [term for term in terms if term.word in self.space]
        if not known:
            numbers = [number for number in self.vocabulary.encode(text) if number >= len(SPECIAL_TOKENS)]
            names = dict.fromkeys(self.vocabulary.tokens(numbers))
            known = [Term(1.0, name) for name in names if name in self.space]
        return [one.word for one in self.space.nearest_to(known, NEIGHBOURS)] if known else []
