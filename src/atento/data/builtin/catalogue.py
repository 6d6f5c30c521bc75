"""The catalogue of built-in data sets: name, task, summary, generator, models and the score to reach."""

from pathlib import Path

from atento.data.builtin.builtin import Builtin, series_builtin
from atento.data.builtin.dynamics import film, lorenz_series, paths, rossler_series
from atento.data.builtin.language import evidence, grammar, meaning
from atento.data.builtin.numbers import count_digits, numbers
from atento.data.builtin.probes import adding, alignment, cook, copy, recall
from atento.data.builtin.scenes import scene_kinds, scene_questions, scenes
from atento.data.builtin.signals import heartbeats, tones
from atento.data.builtin.texts import dna, opinions, stories

BUILTIN: dict[str, Builtin] = {
    "numbers": Builtin(
        "translate",
        "German number words to English, 0 to 999 999",
        numbers,
        passes=("exact", 0.95),
        size=count_digits,
        unit="digits",
        settings="data.source=, data.target= de, en, es, eu",
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
        "copy 1 to 30 letters",
        copy,
        model="lstm+dot+local",
        models=("rnn", "gru", "lstm", "lstm+dot", "lstm+additive", "lstm+dot+local", "transformer"),
        passes=("exact", 0.95),
        settings="data.length=",
    ),
    "recall": Builtin(
        "translate",
        "the value of a key among 1 to 8 pairs",
        recall,
        model="gru+dot",
        models=("rnn", "gru", "lstm", "gru+dot", "lstm+dot", "transformer"),
        passes=("exact", 0.95),
        settings="data.length=, at most 64",
    ),
    "alignment": Builtin(
        "translate",
        "translate words and reverse blocks of three; the alignment is known",
        alignment,
        model="gru+dot",
        models=("rnn", "gru", "lstm", "gru+dot", "lstm+additive", "transformer"),
        passes=("exact", 0.9),
    ),
    "grammar": Builtin(
        "tag",
        "words of a small grammar, many of them nouns or verbs by context; some recognised by their letters alone",
        grammar,
        model="lstm+crf",
        passes=("accuracy", 0.98),
    ),
    "evidence": Builtin(
        "match",
        "a passage of facts and a question: yes, no or not told; which sentence decides is known",
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
        settings="data.length=",
    ),
    "meaning": Builtin(
        "embed",
        "short sentences in which words of a kind have the same contexts; apple has two meanings",
        meaning,
        passes=("preferred", 0.9),
    ),
    "opinions": Builtin(
        "classify",
        "opinions for or against a film, decided by the order of the words alone",
        opinions,
        model="gru",
        passes=("accuracy", 0.97),
        settings="data.source= es, en",
    ),
    "dna": Builtin(
        "classify",
        "strings of A, C, G, T: does the motif occur, on either strand?",
        dna,
        model="gru",
        passes=("accuracy", 0.95),
        settings="data.length=",
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
        "drawn scenes of 1 to 3 shapes with captions that follow from the image",
        scenes,
        passes=("exact", 0.95),
        settings="data.length=",
    ),
    "scenes-kinds": Builtin(
        "classify-images",
        "drawn scenes and the kind of their largest shape; which shape decides is known",
        scene_kinds,
        passes=("accuracy", 0.95),
        settings="data.length=",
    ),
    "scenes-questions": Builtin(
        "match-images",
        "drawn scenes with a question each, yes or no; the question alone does not give the answer",
        scene_questions,
        passes=("accuracy", 0.8),
        settings="data.length=",
    ),
    "rossler": series_builtin(
        "forecast",
        "Rössler's attractor, 50 000 steps of 0.1",
        rossler_series,
        model="rnn",
        passes=("mse", 0.05),
        settings="data.target=x for one coordinate, data.length= for the steps",
    ),
    "lorenz": series_builtin(
        "forecast",
        "Lorenz's attractor, 10 000 steps of 0.02",
        lorenz_series,
        model="rnn",
        passes=("mse", 0.05),
        settings="data.target=x for one coordinate, data.length= for the steps",
    ),
    "paths": series_builtin(
        "forecast",
        "40 boats seen from above, which sail straight on, turn or wait: where will each be?",
        paths,
        model="gru",
        models=("linear", "gru", "gru+additive", "transformer"),
        passes=("displacement", 1.25),
        settings="data.length=",
    ),
    "film": series_builtin(
        "autoencode",
        "a video of 6 000 frames: two spots of light that move as Rössler's x, y and z do",
        film,
        model="mlp",
        models=("linear", "mlp", "conv"),
        passes=("r2", 0.97),
    ),
    "heartbeats": Builtin(
        "classify-series",
        "electrocardiograms, steady or with an abnormal beat",
        heartbeats,
        passes=("accuracy", 0.9),
        settings="data.length=, data.source= how many leads, 1 to 3",
    ),
    "tones": Builtin(
        "transcribe",
        "a tune as frames of band energies, and its notes; the alignment is monotonic",
        tones,
        passes=("exact", 0.9),
        settings="data.length=",
    ),
    "adding": Builtin(
        "estimate",
        "the sum of the two marked numbers among 45 to 50",
        adding,
        passes=("mse", 0.01),
        settings="data.length=",
    ),
}

OF_RUNS = ("recipe.toml", "recipes")  # what the folder of a run or a comparison holds, as --out lorenz makes one


def is_builtin(name: str) -> bool:
    """Whether a name is that of a built-in set; a file of that name takes precedence, the folder of a run does not."""
    return name in BUILTIN and (not Path(name).exists() or any((Path(name) / inside).exists() for inside in OF_RUNS))
