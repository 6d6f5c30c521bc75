"""Views of a trained model as such: its graph, positions, learning rate, and gradients over training."""

from collections.abc import Sequence

from atento.api.explain.answers import batches_of
from atento.bundle import EVENTS
from atento.errors import InputError
from atento.models.diagnostics.model_graph import trace_model
from atento.predictor import Predictor
from atento.spec import ModelRecipe, Recipe, TrainRecipe
from atento.tasks.baselines import is_baseline, no_network
from atento.training.events import Event, read_events
from atento.training.recorder import bin_edges
from atento.training.schedules import DECAYS, FINAL_SHARE, WARM_UPS, learning_rate, rectification
from atento.views.model.graph import ModelGraphView
from atento.views.model.histograms import HistogramsView, histograms_view
from atento.views.model.positions import PositionsView, positions_of
from atento.views.model.schedules import ScheduleChart, ScheduleCurve, SchedulesView

STEPS, EVERY = 2000, 10  # of the curves of schedules without a run
WARMUP, HIDDEN = 200, 512
BETAS = (0.9, 0.98, 0.999)
DECAY_FORMULAS = {
    "linear": "1 − progress",
    "cosine": "(1 + cos π progress) / 2",
    "exponential": f"{FINAL_SHARE:g} to the power of progress",
    "inverse-sqrt": "√(τ / max(τ, t))",
    "constant": "1",
    "plateau": "f^k after k validations without improvement, here none",
    "noam": f"d^−½ min(t^−½, t τ^−1.5), here d = {HIDDEN}, as a share of its peak (d τ)^−½",
}
WARM_UP_FORMULAS = {
    "linear": "min(1, t / τ)",
    "exponential": "1 − exp(−t / τ)",
    "untuned-linear": "linear with τ = 2 / (1 − β₂)",
    "untuned-exponential": "exponential with τ = 1 / (1 − β₂)",
    "none": "1",
}


def look_at_model(predictor: Predictor, text: str = "") -> ModelGraphView:
    """The model as a graph, with the shapes of a text or of the longest source of the test part."""
    name, module = predictor.bundle.recipe.model.name, predictor.module
    if is_baseline(module):
        raise no_network(module, "parts to draw")
    (batch, *_) = batches_of(predictor, text)
    return ModelGraphView(model=name, source=text, graph=trace_model(module, batch))


def look_at_positions(predictor: Predictor) -> PositionsView:
    """The position encodings of a trained model."""
    if is_baseline(predictor.module):
        raise no_network(predictor.module, "positions")
    return positions_of(predictor.module, model=predictor.bundle.recipe.model.name)


def scheduled(name: str, formula: str, recipe: Recipe, *, share: float, last: int = STEPS) -> ScheduleCurve:
    """The learning rates of a recipe over so many steps, times `share`."""
    steps = sorted({1, last, *range(EVERY, last + 1, max(1, last * EVERY // STEPS))})
    rates = [share * learning_rate(recipe, step, (step - 1) / last) for step in steps]
    return ScheduleCurve(name=name, formula=formula, steps=steps, values=rates)


def all_schedules() -> SchedulesView:
    """Every schedule as a share of its peak, and RAdam's rectification."""
    model = ModelRecipe(hidden=HIDDEN)

    def recipe(**train: object) -> Recipe:
        return Recipe(model=model, train=TrainRecipe.model_validate({"lr": 1.0, "warmup": WARMUP, **train}))

    peak = (HIDDEN * WARMUP) ** 0.5  # of Noam's schedule, inverted
    decays = [
        scheduled(name, DECAY_FORMULAS[name], recipe(decay=name), share=peak if name == "noam" else 1.0)
        for name in (*DECAYS, "noam")
    ]
    warm_ups = [
        scheduled(name, WARM_UP_FORMULAS[name], recipe(warmup_shape=name, decay="constant"), share=1.0)
        for name in WARM_UPS
    ]
    share = "share of the peak learning rate"
    return SchedulesView(
        charts=[
            ScheduleChart(
                title="How it falls (train.decay)",
                measure=share,
                text=f"{STEPS:,} steps, the first τ = {WARMUP} of them a linear warm-up.",
                curves=decays,
            ),
            ScheduleChart(
                title="How it rises (train.warmup_shape)",
                measure=share,
                text=f"Warm-ups with τ = {WARMUP} and β₂ = 0.98, without decay.",
                curves=warm_ups,
            ),
            rectification_chart(BETAS),
        ]
    )


def rectification_chart(betas: Sequence[float], last: int = STEPS) -> ScheduleChart:
    """RAdam's factor for each β₂; 0 while it does not adapt."""
    steps = sorted({*range(1, min(last, 50) + 1), *range(1, last + 1, max(1, last // 400)), last})
    curves = [
        ScheduleCurve(
            name=f"β₂ = {beta:g}",
            formula="",
            steps=steps,
            values=[rectification(step, beta) or 0.0 for step in steps],
        )
        for beta in betas
    ]
    return ScheduleChart(
        title="RAdam's rectification (train.optimizer=radam)",
        measure="factor of the adaptive step",
        text="r = √((ρ − 4)(ρ − 2)ρ∞ / ((ρ∞ − 4)(ρ∞ − 2)ρ)), where ρ∞ = 2 / (1 − β₂) − 1 and "
        "ρ = ρ∞ − 2 t β₂ᵗ / (1 − β₂ᵗ). While ρ ≤ 5 there is no factor: the step is plain momentum, drawn as 0.",
        curves=curves,
    )


def look_at_schedule(predictor: Predictor) -> SchedulesView:
    """The learning rate that each event of a run recorded, and with RAdam its factor."""
    bundle = predictor.bundle
    if is_baseline(predictor.module):
        raise no_network(predictor.module, "learning rate")
    recipe, events = bundle.recipe, step_events(predictor)
    steps = [event["step"] for event in events]
    rates = [
        event.get("learning_rate", learning_rate(recipe, event["step"], event.get("progress", 0.0))) for event in events
    ]
    train = recipe.train
    text = f"warm-up {train.warmup_shape} over {train.warmup:,} steps, decay {train.decay}, optimizer {train.optimizer}"
    curve = ScheduleCurve(name="learning rate", formula="", steps=steps, values=rates)
    chart = ScheduleChart(title="Learning rate", measure="learning rate", text=f"As recorded: {text}.", curves=[curve])
    extra = [rectification_chart([train.beta2], max(steps[-1], 2))] if train.optimizer == "radam" else []
    return SchedulesView(model=recipe.model.name, charts=[chart, *extra])


def step_events(predictor: Predictor) -> list[Event]:
    """The events of a run's steps, one at least."""
    folder, members = predictor.bundle.folder, predictor.bundle.recipe.model.members
    events = [event for event in read_events(folder / EVENTS) if event.get("event") == "step"]
    if not events:
        fix = "train it again" if members == 1 else f"look at one of the {members} networks that it is the mean of"
        raise InputError("this run has no log of its steps.", found=str(folder / EVENTS), fix=fix)
    return events


def look_at_histograms(predictor: Predictor) -> HistogramsView:
    """The histograms of gradients and updates that a run recorded."""
    if is_baseline(predictor.module):
        raise no_network(predictor.module, "gradients")
    records = {event["step"]: event["histograms"] for event in step_events(predictor) if event.get("histograms")}
    if not records:
        raise InputError(
            "this run recorded no histograms.",
            found="train.histograms=0",
            fix="train it with --set train.histograms=20, every how many steps",
        )
    return histograms_view(records, bin_edges(), model=predictor.bundle.recipe.model.name)
