"""What a gradient's way through time means, in words: a verdict and, where something is wrong, what to change.

A remedy names recipe keys, so that it can be typed as it stands."""

from atento.recurrent.gradient_flow import Flow, Verdict, half_life, verdict_of

ATTENTION = "attention"  # the kind of a part that is no cell
STUCK = 0.5  # a gate with a larger share of values that are nearly 0 or 1 is named
GATED = ("LSTM", "GRU", "GRUBefore")


def words_for(flow: Flow) -> str:
    """The verdict in a sentence or two."""
    curve, found = flow.curve, verdict_of(flow.curve)
    steps, left = curve.lags[-1], curve.median[-1]
    arrives = f"a change {steps} step{'s' if steps > 1 else ''} back arrives {times(left)} as large"
    rate = f"slope {curve.slope:+.4f} a step".replace("-", "−")
    if found == "level":
        return f"The gradient keeps its size: {arrives} ({rate})."
    if found == "explodes":
        return f"The gradient explodes: it doubles every {half_life(curve):.3g} steps ({rate}); {arrives}."
    if curve.slope < 0:
        said = f"The gradient vanishes: it halves every {half_life(curve):.3g} steps ({rate}); {arrives}."
    else:
        said = f"The gradient vanishes: {arrives} ({rate})."
    stretched = {name: one for name, one in flow.matrices.items() if one.singular > 1 > one.radius}
    for name, one in stretched.items() if flow.kind not in GATED else ():
        said += (
            f" The {name} matrix stretches some vectors (largest singular value {one.singular:.2f}), "
            f"but its powers shrink them all (spectral radius {one.radius:.2f})."
        )
    return said


def times(factor: float) -> str:
    """How many times: `0.55 times`."""
    return f"{factor:.3g} times"


def remedy_for(flow: Flow, *, attends: bool = False) -> str:
    """What to change, by recipe keys; nothing where nothing is wrong. `attends`: the model has attention already."""
    found = verdict_of(flow.curve)
    if found == "level":
        return "Nothing to mend."
    if flow.kind == ATTENTION:
        return ATTENTION_REMEDIES[found]
    remedies = [(GATED_REMEDIES if flow.kind in GATED else PLAIN_REMEDIES)[found]]
    if found == "vanishes":
        remedies.insert(0, HAS_ATTENTION if attends else TAKE_ATTENTION)
    return " ".join([*stuck_gates(flow), *remedies])


def stuck_gates(flow: Flow) -> list[str]:
    """Gates of which most values hardly learn any more."""
    return [
        f"The {name} gate is {shut_or_open} in {share:.0%} of all cases; a smaller train.lr lets it move."
        for name, gate in flow.gates.items()
        for shut_or_open, share in (("shut", gate.shut), ("open", gate.open))
        if share > STUCK
    ]


TAKE_ATTENTION = "Attention makes every step one step away: add a score to the name, e.g. model.name=lstm+additive."
HAS_ATTENTION = "What attention reads arrives all the same; what only the recurrence carries does not."

PLAIN_REMEDIES: dict[Verdict, str] = {
    "vanishes": "Gates keep a way open: model.name=lstm or gru. Or start from a matrix that keeps lengths: "
    "model.init=orthogonal, or model.init=identity with model.activation=relu.",
    "explodes": "Bound each step: train.clip=1 (by norm) or train.clip_value=0.1. Start from a matrix that keeps "
    "lengths, model.init=orthogonal, squash with model.activation=tanh, or take gates: model.name=gru.",
}
GATED_REMEDIES: dict[Verdict, str] = {
    "vanishes": "Recurrent matrices that keep lengths, model.init=orthogonal, lose less.",
    "explodes": "Bound each step: train.clip=1 (by norm) or train.clip_value=0.1; a smaller train.lr also helps.",
}
ATTENTION_REMEDIES: dict[Verdict, str] = {
    "vanishes": "Something keeps attention near: leave the extent out of model.name, or widen it with model.reach.",
    "explodes": "Far positions weigh more than near ones; if the loss jumps, bound each step with train.clip=1.",
}
