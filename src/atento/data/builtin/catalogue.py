"""Built-in sets by name: plain entries, generated anew from a seed."""

from pathlib import Path

from atento.data.builtin.builtin import Builtin, BuiltinParts, refuse_keys, series_builtin
from atento.data.builtin.dynamics import film, lorenz_series, paths, rossler_series
from atento.data.builtin.language import evidence, grammar, meaning
from atento.data.builtin.numbers import LANGUAGES, number_pairs
from atento.data.builtin.probes import adding, alignment, cook, copy, recall
from atento.data.builtin.scenes import scene_kinds, scene_questions, scenes
from atento.data.builtin.signals import heartbeats, tones
from atento.data.builtin.texts import dna, opinions, stories
from atento.errors import unknown_name
from atento.spec import DataRecipe

LANGUAGE_NAMES = {"de": "German", "en": "English", "es": "Spanish", "eu": "Basque"}


def numbers(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Number words from one language to another, split by number."""
    refuse_keys(recipe, "length")
    source, target = recipe.source or "de", recipe.target or "en"
    for key, language in (("data.source", source), ("data.target", target)):
        if language not in LANGUAGES:
            raise unknown_name("language", language, LANGUAGES, where=key)
    parts = number_pairs(source, target, seed=seed)
    note = (
        f"number words, {LANGUAGE_NAMES[source]} to {LANGUAGE_NAMES[target]}, 0 to 999 999: "
        f"{len(parts.train)} to train, {len(parts.valid)} to validate, {len(parts.test)} to test; no number is in two"
    )
    return BuiltinParts(parts.train, parts.valid, parts.test, (note,))


BUILTIN: dict[str, Builtin] = {
    "numbers": Builtin(
        "translate",
        "German number words to English, 0 to 999 999; --set data.source=, data.target= de, en, es, eu",
        numbers,
        passes=("exact", 0.95),
    ),
    "cook": Builtin(
        "translate",
        "the cook: the next dish when it rains, the same one in the sun; tested on longer weeks",
        cook,
        model="rnn+dot+local",
        models=("rnn", "lstm", "lstm+additive", "transformer", "rnn+dot+local", "gru+dot+local"),
        passes=("exact", 0.95),
    ),
    "copy": Builtin(
        "translate",
        "write again what was read, 1 to 30 letters; --set data.length=",
        copy,
        model="lstm+dot+local",
        models=("rnn", "gru", "lstm", "lstm+dot", "lstm+additive", "lstm+dot+local", "transformer"),
        passes=("exact", 0.95),
    ),
    "recall": Builtin(
        "translate",
        "a key and its value, among 1 to 8 pairs; --set data.length=, at most 64",
        recall,
        model="gru+dot",
        models=("rnn", "gru", "lstm", "gru+dot", "lstm+dot", "transformer"),
        passes=("exact", 0.95),
    ),
    "alignment": Builtin(
        "translate",
        "translate words and turn blocks of three round: where to look is known",
        alignment,
        model="gru+dot",
        models=("rnn", "gru", "lstm", "gru+dot", "lstm+additive", "transformer"),
        passes=("exact", 0.9),
    ),
    "grammar": Builtin(
        "tag",
        "words of a small grammar, many of them nouns here and verbs there; some known by their letters alone",
        grammar,
        model="lstm+crf",
        passes=("accuracy", 0.98),
    ),
    "evidence": Builtin(
        "match",
        "a passage of facts and a question: yes, no or not told; which sentence decides is known; --set data.length=",
        evidence,
        model="lstm+dot+sparsemax+co",
        models=(
            "gru",
            "lstm",
            "lstm+additive",
            "lstm+dot+co",
            "lstm+dot+sparsemax+co",
            "transformer",
            "transformer+co",
        ),
        passes=("accuracy", 0.97),
    ),
    "meaning": Builtin(
        "embed",
        "short sentences in which words of a kind are used alike; apple means two things",
        meaning,
        passes=("preferred", 0.9),
    ),
    "opinions": Builtin(
        "classify",
        "for or against a film, by the order of the words alone; --set data.source= es, en",
        opinions,
        model="gru",
        passes=("accuracy", 0.97),
    ),
    "dna": Builtin(
        "classify",
        "strings of A, C, G, T: does the motif stand anywhere, on either strand? --set data.length=",
        dna,
        model="gru",
        passes=("accuracy", 0.95),
    ),
    "stories": Builtin(
        "generate",
        "small stories with verbs and pronouns that agree, quotations and brackets to close; the entropy is known",
        stories,
        model="lstm",
        passes=("nats_per_char", 0.14),
    ),
    "scenes": Builtin(
        "caption",
        "drawn scenes of 1 to 3 shapes and what is said of them, decided by the picture alone; --set data.length=",
        scenes,
        passes=("exact", 0.95),
    ),
    "scenes-kinds": Builtin(
        "classify-pictures",
        "drawn scenes and the kind of their largest shape; which shape decides is known; --set data.length=",
        scene_kinds,
        passes=("accuracy", 0.95),
    ),
    "scenes-questions": Builtin(
        "match-pictures",
        "drawn scenes with a question each, yes or no; the question alone says nothing; --set data.length=",
        scene_questions,
        passes=("accuracy", 0.8),
    ),
    "rossler": series_builtin(
        "forecast",
        "Rössler's attractor, 50 000 steps of 0.1; --set data.target=x for one coordinate, data.length= for the steps",
        rossler_series,
        model="rnn",
        passes=("mse", 0.05),
    ),
    "lorenz": series_builtin(
        "forecast",
        "Lorenz's attractor, 10 000 steps of 0.02; --set data.target=x for one coordinate, data.length= for the steps",
        lorenz_series,
        model="rnn",
        passes=("mse", 0.05),
    ),
    "paths": series_builtin(
        "forecast",
        "40 boats seen from above, which sail straight on, turn or wait: where will each be? --set data.length=",
        paths,
        model="gru",
        models=("linear", "gru", "gru+additive", "transformer"),
        passes=("displacement", 1.25),
    ),
    "film": series_builtin(
        "autoencode",
        "6 000 frames of two spots of light that move as Rössler's x, y and z do",
        film,
        model="mlp",
        models=("linear", "mlp", "conv"),
        passes=("r2", 0.97),
    ),
    "heartbeats": Builtin(
        "classify-series",
        "strips of heartbeats, steady or with an odd one; --set data.length=, data.source= how many leads, 1 to 3",
        heartbeats,
        passes=("accuracy", 0.9),
    ),
    "tones": Builtin(
        "transcribe",
        "a tune as frames of band energies, and its notes; each note in its turn; --set data.length=",
        tones,
        passes=("exact", 0.9),
    ),
    "adding": Builtin(
        "estimate",
        "the sum of the two marked numbers among 45 to 50; --set data.length=",
        adding,
        passes=("mse", 0.01),
    ),
}


def is_builtin(name: str) -> bool:
    """An existing file beats a built-in name."""
    return name in BUILTIN and not Path(name).exists()
