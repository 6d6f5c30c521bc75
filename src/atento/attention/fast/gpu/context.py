"""The autograd function of the template."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from atento.attention.fast.gpu.additive import AdditiveLaunch
from atento.attention.fast.gpu.launch import Call, Launch, PluggedParts
from atento.attention.fast.gpu.opposed import OpposedLaunch

# Axes: B batch, H heads, Q queries, D width, V value_width.

LAUNCHES: dict[str, type[Launch]] = {"additive": AdditiveLaunch, "opposed": OpposedLaunch}


def template(composition: PluggedParts, fields: dict[str, Any], tensors: tuple[Tensor | None, ...]) -> Tensor:
    """The context (B, H, Q, V) of a call, recorded for its gradient only where one is needed."""
    if torch.is_grad_enabled() and any(part is not None and part.requires_grad for part in tensors):
        found: Tensor = TemplateContext.apply(composition, fields, *tensors)
        return found
    return computed(composition, fields, tensors, recorded=False)[1]


def computed(
    composition: PluggedParts, fields: dict[str, Any], tensors: tuple[Tensor | None, ...], *, recorded: bool
) -> tuple[Launch, Tensor, Tensor, Tensor]:
    """The launched call with its context, laid out with the heads of an item side by side, centre and statistic."""
    call = Call(*tensors, **fields)  # type: ignore[arg-type]
    launch = LAUNCHES.get(composition.score, Launch)(composition, call, recorded=recorded)
    batch, heads, queries, _ = call.query.shape
    output = call.value.new_empty(batch, queries, heads, launch.value_width).transpose(1, 2)
    statistic = torch.empty(launch.leads, queries, dtype=torch.float32, device=output.device)
    centre = output
    if composition.distribution.kind in ("threshold", "drawn"):
        centre = torch.empty(batch, heads, queries, launch.value_width, dtype=torch.float32, device=output.device)
    if isinstance(launch, OpposedLaunch):
        launch.prepare()
    if isinstance(launch, AdditiveLaunch):
        launch.prepare()
        for facts in launch.parts():
            launch.forward(output, centre, statistic, facts)
    else:
        launch.forward(output, centre, statistic, launch.facts())
    launch.distances = None  # computed again for the backward pass
    return launch, output, centre, statistic


class TemplateContext(torch.autograd.Function):
    """The context of a call by the template."""

    @staticmethod
    def forward(context: Any, composition: PluggedParts, fields: dict[str, Any], *tensors: Tensor | None) -> Tensor:
        """Queries (B, H, Q, D) -> (B, H, Q, V)."""
        context.launch, output, centre, statistic = computed(composition, fields, tensors, recorded=True)
        context.save_for_backward(output, centre, statistic, *tensors)  # inputs too: a change of them is noticed
        return output

    @staticmethod
    @once_differentiable
    def backward(context: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        """The gradients, with weights computed again."""
        _, centre, statistic, *_ = context.saved_tensors
        upstream = upstream if upstream.stride(-1) == 1 else upstream.contiguous()
        *gradients, entropy, to_centres, to_far_query, to_far_key = context.launch.backward(upstream, centre, statistic)
        to_orders = None if entropy is None else order_gradient(context, upstream, entropy)
        return None, None, *gradients, to_orders, to_centres, to_far_query, to_far_key


def order_gradient(context: Any, upstream: Tensor, entropy: Tensor) -> Tensor:
    """Σ dp ∂p / ∂α = (do · o − δ) / (α − 1)² − Σ p ln p (dp − δ) / (α − 1)  (Correia et al., 2019, prop. 1)."""
    output, centre, _, *_, orders, _, _, _ = context.saved_tensors
    moved = (upstream.float() * (output.float() - centre)).sum(dim=(0, 2, 3))
    return moved / orders.square() - entropy / orders
