"""The wide part of a text classifier: solved from the training part, weighed by the validation part, and explained.

Models with one are named FAMILY+wide. How they learn stands in docs/decisions/0034-wide-and-deep.md.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from atento.baselines.explanation import Explanation, largest
from atento.baselines.log_count_ratios import solve_best
from atento.data.records import counted
from atento.models.classifier import Classifier, LabelledBatch
from atento.models.ensemble import JudgeEnsemble
from atento.models.wide import NO_KEY, WideNGrams
from atento.tasks.inputs.input import on_device
from atento.tasks.inputs.text import Text

# Axes: N texts, B batch, C labels, F n-grams, G n-grams of a text.

Numbers = NDArray[np.int64]


def wides_of(module: nn.Module) -> list[WideNGrams]:
    """The wide parts of a text classifier, or of each of an ensemble; none where they have none."""
    parts = module.each() if isinstance(module, JudgeEnsemble) else [module]
    return [wide for part in parts if (wide := wide_of(part)) is not None]


def wide_of(module: nn.Module) -> WideNGrams | None:
    """The wide part of a text classifier, where it has one."""
    return module.wide if isinstance(module, Classifier) else None


def solve_wide(
    module: nn.Module, input: object, sources: Sequence[str], truth: NDArray[np.bool_], *, several: bool
) -> str:
    """Fill the wide part with the linear model of the n-grams of these texts; a note of it, empty without a wide part.

    Of very many n-grams those that most texts have are kept.
    """
    wide = wide_of(module)
    if wide is None or not isinstance(input, Text):
        return ""
    distinct = [np.unique(keys_of(wide, input.encode(source))) for source in sources]
    keys, texts = np.unique(np.concatenate(distinct), return_counts=True)
    keys = np.sort(keys[np.lexsort((keys, -texts))[: wide.table.capacity]])
    solution, chosen = solve_best(presence_of(distinct, keys), truth, several=several)
    wide.fill(torch.from_numpy(keys), *(torch.from_numpy(part) for part in solution))
    held = f"{counted(len(keys), 'n-gram')} of up to {counted(wide.longest, 'token')}"
    return f"beside the network stands a linear model of {held}, {chosen}; answers begin as its own"


def keys_of(wide: WideNGrams, tokens: Sequence[int]) -> Numbers:
    """The key of every n-gram of one text."""
    row = torch.tensor([tokens])
    found = np.asarray(wide.keys(row, torch.ones_like(row, dtype=torch.bool))[0].numpy())
    return found[found < NO_KEY]


def presence_of(texts: Sequence[Numbers], keys: Numbers) -> object:
    """Which of the sorted keys (F,) each text has: (N, F), sparse."""
    from scipy.sparse import csr_matrix  # slow to load

    places = [np.minimum(np.searchsorted(keys, own), len(keys) - 1) for own in texts]
    held = [place[keys[place] == own] for place, own in zip(places, texts, strict=True)]
    ends = np.cumsum([0, *map(len, held)])
    columns = np.concatenate(held)
    numbers = np.ones(len(columns))
    return csr_matrix((numbers, columns.astype(np.int32), ends.astype(np.int32)), shape=(len(texts), len(keys)))


@torch.no_grad()
def weigh_both(module: nn.Module, input: object, sources: Sequence[str], loss: Callable[[Tensor], Tensor]) -> None:
    """Choose the weights of linear model and network by the mean loss of outputs (N, C) for these sources, in order."""
    wide = wide_of(module)
    if wide is None or not isinstance(module, Classifier) or not isinstance(input, Text) or not sources:
        return
    width = module.width
    linear, network = (torch.zeros(len(sources), width, dtype=torch.float64) for _ in range(2))
    for places, encoded in input.groups(sources):
        batch: LabelledBatch = on_device(input.batch(encoded, torch.zeros(len(encoded))), module)
        linear[places] = wide(batch.source, batch.valid).double().cpu()
        network[places] = module.network_outputs(batch).double().cpu()
    wide.weigh(lambda a, b: loss(a * linear + b * network), examples=len(sources))


@torch.no_grad()
def explain_terms(module: nn.Module, input: object, source: str, labels: Sequence[str]) -> str:
    """The n-grams of a text that count most for its most probable label, beyond what they count for the mean one."""
    wides = wides_of(module)
    if not wides or not isinstance(input, Text):
        return ""
    batch = on_device(input.batch([input.encode(source)], torch.zeros(1)), module)
    label = int(module(batch)[0].argmax())
    counts: dict[str, float] = {}  # an n-gram -> what it counts, in the mean of the wide parts
    for wide in wides:
        for ngram, worth in terms_of(wide, batch, label).items():
            name = " ".join(input.vocabulary.tokens(ngram))
            counts[name] = counts.get(name, 0.0) + worth / len(wides)
    if not counts:
        return ""
    found = largest(list(counts), np.array(list(counts.values())))
    return Explanation(f"what adds to the linear score of {labels[label]}, and what takes away", found).text()


def terms_of(wide: WideNGrams, batch: LabelledBatch, label: int) -> dict[tuple[int, ...], float]:
    """What each n-gram of one text adds to the linear score of a label, beyond what it adds to the mean one."""
    rows = wide.found(batch.source, batch.valid)[0]
    rows = rows[rows < wide.table.capacity]
    if not len(rows):
        return {}
    held = wide.table.rows[rows].double()  # (G, C + 1)
    scores = wide.weights_of_both[0] * held[:, :-1] / held[:, -1].sum().sqrt()
    others = scores.mean(dim=1) if scores.size(1) > 1 else 0.0
    worth = (scores[:, label] - others).tolist()
    return {tuple(wide.tokens_of(row)): one for row, one in zip(rows.tolist(), worth, strict=True)}
