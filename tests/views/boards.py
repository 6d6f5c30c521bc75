"""A board as a comparison leaves it, made up but plausible, for all tests of views."""

import math
import random

from atento.models.diagnostics import GradientFlow
from atento.recurrent.gradient_flow import GateSaturation, GradientCurve, PartFlow, Spectrum
from atento.views import AlignmentView, Comparison, GradientFlowView, Row

THIRDS = ((3, 35), (36, 48), (49, 66))
EXAMPLES = (
    ("dreiundvierzig", "forty - three"),
    ("siebenhunderttausendzwölf", "seven hundred thousand twelve"),
    ("sechsundachtzigtausendfünfhundertdreiundsechzig", "eighty - six thousand five hundred sixty - three"),
    (
        "vierhundertachtunddreißigtausendfünfhundertzweiundfünfzig",
        "four hundred thirty - eight thousand five hundred fifty - two",
    ),
)
# model: value on short, middle and long sources, parameters, layers and heads of its attention (none: 0)
MODELS = {
    "lstm+additive": ((1.0, 0.995, 0.966), 325_923, (1, 1)),
    "lstm+dot": ((0.999, 0.991, 0.962), 309_411, (1, 1)),
    "transformer": ((0.993, 0.962, 0.871), 412_675, (2, 4)),
    "gru+general": ((0.991, 0.941, 0.848), 271_107, (1, 1)),
    "lstm": ((0.948, 0.652, 0.214), 293_187, (0, 0)),
    "gru": ((0.921, 0.541, 0.139), 246_531, (0, 0)),
    "nearest": ((0.071, 0.012, 0.004), 0, (0, 0)),
}


def make_board(models=tuple(MODELS), *, with_failure=True, examples=EXAMPLES):
    """A board of the known models, in no particular order."""
    rows = [row_facts(model) for model in models]
    random.Random(3).shuffle(rows)
    if with_failure:
        rows.insert(1, make_failure())
    winner = models[0]
    ties = ["lstm+dot"] if "lstm+dot" in models[1:] else []
    return Comparison.from_json(
        {
            "title": "numbers",
            "task": "translate",
            "writes": True,
            "created": "2026-11-15 09:00",
            "command": "atento compare numbers --seed 0",
            "seed": 0,
            "budget": 480.0,
            "share": 60.0,
            "device": "cpu",
            "versions": {"atento": "0.1.0", "torch": "2.11.0", "python": "3.11.2"},
            "data": {
                "name": "numbers",
                "parts": {"train": 20_000, "valid": 2_000, "test": 2_000},
                "notes": ["source: characters (mostly single words)", "target: words (41 distinct)"],
                "fingerprint": "3f2a90c1d5e7",
            },
            "metric": "exact",
            "metrics": {
                "exact": "share of outputs equal to a reference",
                "chrf": "overlap of characters, sacrebleu chrF2|nrefs:1|case:mixed",
                "bleu": "overlap of words, sacrebleu BLEU|nrefs:1|tok:13a",
            },
            "rows": rows,
            "winner": winner,
            "ties": ties,
            "verdict": [
                f"{winner} won: exact {value_of(winner):.3f} (0.980–0.991).",
                "lstm+dot is tied with it: on these 2,000 examples the difference may well be chance.",
                "On the longest third of the sources attention bought 0.752: "
                "lstm+additive kept 0.966, lstm without attention 0.214.",
            ],
            "alignments": [
                make_alignment(model, source, output, kind=kind).to_json()
                for model in models
                if MODELS[model][2][0]
                for kind, (source, output) in zip(("chosen", "chosen", "chosen", "worst"), examples, strict=False)
            ],
        }
    )


def value_of(model):
    return sum(MODELS[model][0]) / 3


def make_row(known, **changes):
    return Row.from_json({**row_facts(known), **changes})


def row_facts(model):
    thirds, parameters, _ = MODELS[model]
    value = value_of(model)
    noise = random.Random(model)
    trained = parameters > 0
    return {
        "model": model,
        "baseline": not trained,
        "failed": "",
        "value": value,
        **ends(value, 2000),
        "scores": {
            "exact": [value, *ends(value, 2000).values()],
            "chrf": [value**0.4, *ends(value**0.4, 2000).values()],
            "bleu": [value**0.6, *ends(value**0.6, 2000).values()],
        },
        "tied": model in ("lstm+additive", "lstm+dot"),
        "parameters": parameters,
        "seconds": 60.0 + noise.random() if trained else 0.4,
        "examples_per_second": noise.uniform(300, 1500) if trained else None,
        "predictions_per_second": noise.uniform(500, 2000),
        "peak_mb": noise.uniform(500, 900) if trained else 88.0,
        "steps": 1200 if trained else 0,
        "epochs": 2.1 if trained else 0.0,
        "folder": model,
        "recipe": f'task = "translate"\n\n[model]\nname = "{model}"\nhidden = 128\n\n[training]\nseconds = 60.0\n',
        "command": f"atento train numbers/{model}/recipe.toml --out again/{model}",
        "lengths": [
            {"label": f"{low}–{high}", "from": low, "to": high, "count": 667, "value": third, **ends(third, 667)}
            for (low, high), third in zip(THIRDS, thirds, strict=True)
        ],
        "curve": make_curve(value, noise) if trained else [],
        "worst": [
            {"source": source, "output": output, "reference": reference, "score": -score}
            for source, output, reference, score in (
                ("neunundneunzigtausendneun", "ninety thousand nine", "ninety-nine thousand nine", 3.2),
                ("elf", "eleven", "eleven", 0.9),
                ("siebzehntausendachtzig", "seventeen thousand eighteen", "seventeen thousand eighty", 2.4),
            )
        ],
    }


def ends(value, count):
    """A symmetric interval of the usual width."""
    half = 2 * math.sqrt(max(value * (1 - value), 1e-6) / count)
    return {"low": max(value - half, 0.0), "high": min(value + half, 1.0)}


def make_curve(value, noise):
    start = noise.uniform(8, 30)
    return [
        {
            "elapsed": 5.0 * step,
            "step": 100 * step,
            "loss": 3.0 / step,
            "value": max(0.0, value * (1 - math.exp(-(5.0 * step - start) / 8))) if 5.0 * step > start else 0.0,
            "chrf": 0.3,
        }
        for step in range(1, 13)
    ]


def make_failure():
    return {
        "model": "transformer-deep",
        "baseline": False,
        "failed": "the loss became NaN at step 40; a smaller learning rate would help",
        "value": None,
        "low": None,
        "high": None,
        "scores": {},
        "tied": False,
        "parameters": 2_100_000,
        "seconds": 11.0,
        "curve": [],
        "lengths": [],
        "worst": [],
        "recipe": 'task = "translate"\n',
        "command": "atento train numbers/transformer-deep/recipe.toml",
    }


def make_alignment(model, source, output, *, kind="chosen"):
    """Weights that walk along the diagonal, each head with its own blur and shift."""
    tokens, words = list(source), [*output.split(), "<end>"]
    layers, heads = MODELS[model][2]
    wrong = kind == "worst"
    return AlignmentView(
        model=model,
        kind=kind,
        source=tokens,
        output=["five", *words[1:]] if wrong else words,
        reference=output.replace(" - ", "-"),
        correct=not wrong,
        weights=[
            [
                [
                    walking_row(row / len(words), len(tokens), blur=1.2 + 1.5 * head + layer, shift=2 * head)
                    for row in range(len(words))
                ]
                for head in range(heads)
            ]
            for layer in range(layers)
        ],
    )


def walking_row(progress, length, *, blur, shift):
    centre = (progress * length + shift) % length
    raw = [math.exp(-(((place - centre) / blur) ** 2) / 2) + 1e-4 for place in range(length)]
    return [weight / sum(raw) for weight in raw]


def one_hot_alignment(columns, *, source, output, **others):
    """One head that looks with all its weight at one column a row."""
    weights = [[1.0 if column == wanted else 0.0 for column in range(len(source))] for wanted in columns]
    return AlignmentView(source=source, output=output, weights=[[weights]], **others)


def make_flow_part(slope=0.5, *, name="encoder, forward", kind="GRUCell", lags=21):
    """The gradient flow of one part, whose norm is multiplied by `slope` at each step."""
    norms = [slope**lag for lag in range(lags)]
    return PartFlow(
        part=name,
        kind=kind,
        curve=GradientCurve(
            lags=list(range(lags)),
            median=norms,
            low=[norm / 2 for norm in norms],
            high=[norm * 2 for norm in norms],
            slope=math.log(slope),
            error=0.0,
        ),
        matrices={"content": Spectrum(1.25, 0.5)},
        step=Spectrum(0.9, 0.4),
        gates={"update": GateSaturation(0.25, 0.031)},
    )


def make_flow(model="gru"):
    """A gradient that vanishes in one part of two."""
    parts = (make_flow_part(0.999, name="decoder", kind="LSTMCell"), make_flow_part())
    return GradientFlowView(model=model, flow=GradientFlow(parts, attends=False))
