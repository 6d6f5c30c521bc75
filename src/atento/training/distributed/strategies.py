"""How processes share the gradient of a batch: by DDP each has the whole model, by FSDP2 each has a part of it.

DDP (Li et al., 2020) averages the gradients of all processes; FSDP2 (`torch.distributed.fsdp.fully_shard`, after
Rajbhandari et al., 2020) holds weights, gradients and the state of the optimizer in shards, and has a layer's weights
whole only while it computes. Both act on the forward pass of a module, so the loss of a batch is made one.
"""

import copy
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from atento.blocks.transformer import TransformerEncoderLayer
from atento.errors import InputError
from atento.training.distributed.ranks import ALONE, Ranks

STRATEGIES = ("ddp", "fsdp")

Compute = Callable[[], Any]


class BatchLoss(nn.Module):
    """The loss of a batch as the forward pass of a module."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, compute: Compute) -> Any:
        """What the function computes with the module."""
        return compute()


class Together:
    """The processes that share each batch, and the module they teach.

    by_layer: whether FSDP2 may shard each Transformer layer by itself, which takes less memory: its weights are then
    whole while it computes, and not for a penalty or for scheduled sampling.
    """

    def __init__(
        self, ranks: Ranks = ALONE, module: nn.Module | None = None, *, strategy: str = "ddp", by_layer: bool = False
    ) -> None:
        self.ranks, self.sharded = ranks, ranks.joined and strategy == "fsdp"
        self.run: Callable[[Compute], Any] = lambda compute: compute()
        self.twin: nn.Module | None = None  # the module of the first process that has all weights, where it has shards
        if module is None or not ranks.joined:
            return
        self.device = next(module.parameters()).device
        if self.sharded:
            self.twin = copy.deepcopy(module).to("cpu") if ranks.first else None
            self.run = shard(module, ranks, self.device, by_layer=by_layer)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # broadcast_buffers has a new name in newer versions
                self.run = DistributedDataParallel(  # the first process's weights become everyone's
                    BatchLoss(module), find_unused_parameters=True, broadcast_buffers=False
                )

    def mean(self, total: Tensor, items: int, *, idle: bool = False) -> tuple[Tensor, Tensor]:
        """What this process back-propagates of the mean loss over the items of all processes, and that mean.

        The strategies average gradients over N processes, so its share is N Σ loss / items. idle: it has no example of
        this batch and took one that counts for nothing.
        """
        if not self.ranks.joined:
            mean = total / max(items, 1)
            return mean, mean.detach()
        if idle:
            total, items = 0.0 * total, 0
        both = torch.stack([total.detach().double(), torch.tensor(items, dtype=torch.float64, device=total.device)])
        summed, count = self.ranks.sum(both)
        count = count.clamp(min=1)
        share = total / (count / self.ranks.size).to(total.dtype)
        return share, (summed / count).to(total.dtype)

    def divisor(self, items: int, like: Tensor, *, idle: bool = False) -> Tensor | float:
        """What a sum of losses is divided by to be this process's share of the mean, where items are known before."""
        if not self.ranks.joined:
            return max(items, 1)
        count = self.ranks.sum(torch.tensor(0.0 if idle else items, dtype=torch.float64, device=like.device))
        return (count.clamp(min=1) / self.ranks.size).to(like) if not idle else math.inf

    def touched(self, module: nn.Module) -> Tensor | float:
        """Zero, as a function of all weights that learn: back-propagating it averages the gradients that they have."""
        if not self.ranks.joined:
            return 0.0
        return sum(((0.0 * weight).sum() for weight in module.parameters() if weight.requires_grad), 0.0)

    @contextmanager
    def whole(self, module: nn.Module) -> Iterator[nn.Module | None]:
        """Within it the first process has the module with all its weights, and the others have None."""
        if not self.sharded:
            yield module if self.ranks.first else None
            return
        weights = {name: full(tensor) for name, tensor in module.state_dict().items()}  # every process takes part
        if self.twin is None:
            yield None
            return
        self.twin.load_state_dict(weights)
        del weights
        yield self.twin.to(self.device)
        self.twin.to("cpu")


def shard(module: nn.Module, ranks: Ranks, device: torch.device, *, by_layer: bool) -> Callable[[Compute], Any]:
    """Shard a module over all processes by FSDP2, layer by layer where its layers allow."""
    for name, weight in module.named_parameters():
        if not weight.dim():
            raise InputError(
                "--strategy fsdp cannot shard a weight that is one number.", found=name, fix="--strategy ddp"
            )
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method  # takes a second to load

    warnings.filterwarnings("ignore", message="FSDP2-wrapped module")  # of views: no output is changed in place here
    mesh = init_device_mesh(device.type, (ranks.size,))
    if by_layer and not any(callable(getattr(part, "penalty", None)) for part in module.modules()):
        for part in module.modules():
            if isinstance(part, TransformerEncoderLayer):
                fully_shard(part, mesh=mesh)
                register_fsdp_forward_method(part, "extend")
    loss = BatchLoss(module)
    fully_shard(loss, mesh=mesh)
    return loss


def is_shard(tensor: Tensor) -> bool:
    """Whether a tensor is a shard, whose class is loaded with FSDP2 and not before."""
    loaded = sys.modules.get("torch.distributed.tensor")
    return loaded is not None and isinstance(tensor, loaded.DTensor)


def full(tensor: Tensor) -> Tensor:
    """A tensor whole, gathered from its shards where it has any."""
    whole: Tensor = tensor.full_tensor() if is_shard(tensor) else tensor  # type: ignore[attr-defined]
    return whole
