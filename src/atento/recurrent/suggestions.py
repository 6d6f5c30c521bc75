"""A gradient flow in words: what it means, and what to change.

A suggestion names recipe keys, so that it can be typed as it stands.
"""

from atento.recurrent.gradient_flow import PartFlow, Verdict, half_life, verdict_of

ATTENTION = "attention"  # the kind of a part that is not a cell
SATURATED = 0.5  # a gate of which a larger share is saturated is named

NO_CHANGE = "Nothing to change."
ADD_ATTENTION = "With attention every step is one step away: add a score to the name, e.g. model.name=lstm+additive."
HAS_ATTENTION = "What attention reads still arrives; what only the recurrence carries does not."

PLAIN_SUGGESTIONS: dict[Verdict, str] = {
    "vanishes": "Use gates: model.name=lstm or gru. Or start from a matrix that preserves norms: "
    "model.init=orthogonal, or model.init=identity with model.activation=relu.",
    "explodes": "Clip the gradient: train.clip=1 (by norm) or train.clip_value=0.1. Start from a matrix that preserves "
    "norms, model.init=orthogonal, use a bounded activation, model.activation=tanh, or gates: model.name=gru.",
}
GATED_SUGGESTIONS: dict[Verdict, str] = {
    "vanishes": "Recurrent matrices that preserve norms, model.init=orthogonal, lose less.",
    "explodes": "Clip the gradient: train.clip=1 (by norm) or train.clip_value=0.1; a smaller train.lr also helps.",
}
GATES_ALONE = (
    "The gates of this cell read the input alone, so that they cannot protect what the state holds; those of "
    "model.name=gru or lstm read the state too."
)
ATTENTION_SUGGESTIONS: dict[Verdict, str] = {
    "vanishes": "The attention reads near positions only: leave the extent out of model.name, or widen it with "
    "model.window.",
    "explodes": "Far positions weigh more than near ones; if the loss jumps, clip the gradient with train.clip=1.",
}


def describe_flow(flow: PartFlow) -> str:
    """The verdict of a flow in a sentence or two."""
    curve, found = flow.curve, verdict_of(flow.curve)
    steps, left = curve.lags[-1], curve.median[-1]
    arrives = f"a change {steps} step{'s' if steps > 1 else ''} back arrives {left:.3g} times as large"
    rate = f"slope {curve.slope:+.4f} per step".replace("-", "−")
    if found == "level":
        return f"The gradient keeps its size: {arrives} ({rate})."
    if found == "explodes":
        return f"The gradient explodes: it doubles every {half_life(curve):.3g} steps ({rate}); {arrives}."
    if curve.slope < 0:
        text = f"The gradient vanishes: it halves every {half_life(curve):.3g} steps ({rate}); {arrives}."
    else:
        text = f"The gradient vanishes: {arrives} ({rate})."
    stretching = {name: one for name, one in flow.matrices.items() if one.singular > 1 > one.radius}
    for name, one in stretching.items() if not flow.gates else ():
        text += (
            f" The {name} matrix stretches some vectors (largest singular value {one.singular:.2f}), "
            f"but its powers shrink them all (spectral radius {one.radius:.2f})."
        )
    return text


def suggest_fix(flow: PartFlow, *, attends: bool = False) -> str:
    """What to change, by recipe keys. `attends`: the model has attention already."""
    found = verdict_of(flow.curve)
    if found == "level":
        return NO_CHANGE
    if flow.kind == ATTENTION:
        return ATTENTION_SUGGESTIONS[found]
    suggestions = [(GATED_SUGGESTIONS if flow.gates else PLAIN_SUGGESTIONS)[found]]
    if flow.gates and not flow.matrices:  # no step can make a gradient larger, only its gates make it smaller
        suggestions = [GATES_ALONE]
    if found == "vanishes":
        suggestions.insert(0, HAS_ATTENTION if attends else ADD_ATTENTION)
    return " ".join([*saturated_gates(flow), *suggestions])


def saturated_gates(flow: PartFlow) -> list[str]:
    """A sentence for each gate that is saturated most of the time."""
    return [
        f"The {name} gate is {shut_or_open} in {share:.0%} of all cases, which blocks its gradient; lower train.lr."
        for name, gate in flow.gates.items()
        for shut_or_open, share in (("shut", gate.shut), ("open", gate.open))
        if share > SATURATED
    ]
