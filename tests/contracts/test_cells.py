"""Laws of every cell's walk: library kernel or step by step, ragged or one by one, whole or in chunks."""

import copy
import itertools
import math
from functools import partial

import pytest
import torch

from atento.layers import ACTIVATIONS
from atento.models.builders.recurrent import CELLS
from atento.recurrent import ElmanCell, JordanCell, unroll
from cases import all_pairs, in_case

BATCH, STEPS, INPUT, HIDDEN = 5, 7, 3, 11
SPREAD = 0.3  # of the weights: a state that no activation bounds then keeps its size

FORMS = {  # every cell as a name makes it, every activation, every cell with a product wider than its units
    **CELLS,
    **{f"rnn {name}": partial(ElmanCell, activation=ACTIVATIONS[name]) for name in ACTIVATIONS if name != "tanh"},
    **{f"{name} maxout": partial(kind, activation=ACTIVATIONS["maxout"]) for name, kind in CELLS.items()},
    "jordan narrow": partial(JordanCell, output_size=2, output_activation=ACTIVATIONS["sigmoid"]),
    "jordan wide": partial(JordanCell, output_size=13, output_activation=ACTIVATIONS["maxout"]),
}
every_cell = pytest.mark.parametrize("kind", FORMS.values(), ids=FORMS)

VALID = torch.tensor(
    [
        [1, 1, 1, 1, 1, 1, 1],
        [1, 1, 1, 0, 0, 0, 0],  # padding on the right
        [0, 0, 1, 1, 1, 1, 1],  # on the left
        [0, 1, 0, 1, 1, 0, 1],  # anywhere
        [0, 0, 0, 0, 0, 0, 0],  # nothing else
    ],
    dtype=torch.bool,
)


def every_way(**factors):
    """Every two of cell, direction and values of the law's own factors."""
    cases = all_pairs(FORMS, ["forward", "backward"], *factors.values())
    return pytest.mark.parametrize(["form", "direction", *factors], cases)


def make(kind):
    cell = kind(INPUT, HIDDEN)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.copy_(SPREAD * torch.randn_like(parameter))
    return cell


def unknown(cell):
    """The same cell as a kind that no kernel knows, so that it goes step by step."""
    twin = copy.deepcopy(cell)
    twin.__class__ = type("Unknown", (type(cell),), {})
    return twin


def some_start(cell, rows=BATCH):
    bare = cell.start(torch.zeros(rows, INPUT))
    return type(bare)(*(torch.randn_like(part) for part in bare))


@every_way(batch=["whole", "ragged"])
def test_kernels_equal_the_walk_step_by_step(form, direction, batch):
    cell, backward, valid = make(FORMS[form]), direction == "backward", VALID if batch == "ragged" else None
    inputs, start = torch.randn(BATCH, STEPS, INPUT, requires_grad=True), some_start(cell)
    start = type(start)(*(part.requires_grad_() for part in start))
    results = []
    for one in (cell, unknown(cell)):
        walk = unroll(one, inputs, start, valid=valid, backward=backward)
        chance = torch.Generator().manual_seed(3)
        total = sum((part * torch.randn(part.shape, generator=chance)).sum() for part in (walk.outputs, *walk.last))
        results.append([walk.outputs, *walk.last, *torch.autograd.grad(total, [inputs, *start, *one.parameters()])])
    for fast, slow in zip(*results, strict=True):
        torch.testing.assert_close(fast, slow, rtol=0, atol=1e-11)


@every_way(by=["kernel", "steps"])
def test_a_ragged_batch_is_its_rows_one_by_one(form, direction, by):
    cell, backward = make(FORMS[form]), direction == "backward"
    cell = cell if by == "kernel" else unknown(cell)
    inputs, start = torch.randn(BATCH, STEPS, INPUT), some_start(cell)
    together = unroll(cell, inputs, start, valid=VALID, backward=backward)
    for row in range(BATCH):
        state = type(start)(*(part[row : row + 1] for part in start))
        places = VALID[row].nonzero().squeeze(-1).tolist()
        expected = torch.zeros(STEPS, cell.output_size)
        for place in reversed(places) if backward else places:
            state = cell(inputs[row : row + 1, place], state)
            expected[place] = state.hidden[0]
        torch.testing.assert_close(together.outputs[row], expected, rtol=0, atol=1e-12)
        for part, alone in zip(together.last, state, strict=True):
            torch.testing.assert_close(part[row], alone[0], rtol=0, atol=1e-12)


@every_way(by=["kernel", "steps"], nothing=[math.nan, math.inf])
def test_what_padding_holds_never_matters(form, direction, by, nothing):
    cell, backward = make(FORMS[form]), direction == "backward"
    cell = cell if by == "kernel" else unknown(cell)
    inputs, results = torch.randn(BATCH, STEPS, INPUT), []
    for filling in (0.0, nothing):
        filled = inputs.masked_fill(~VALID.unsqueeze(-1), filling).requires_grad_()
        walk = unroll(cell, filled, valid=VALID, backward=backward)
        total = walk.outputs.square().sum() + sum(part.square().sum() for part in walk.last)
        results.append([walk.outputs, *walk.last, *torch.autograd.grad(total, [filled, *cell.parameters()])])
    for plain, odd in zip(*results, strict=True):
        assert torch.equal(plain, odd)
    outputs, into_inputs = results[1][0], results[1][1 + len(walk.last)]
    assert (outputs[~VALID] == 0).all()
    assert (into_inputs[~VALID] == 0).all()
    assert (into_inputs[VALID] != 0).any()


@pytest.mark.spec("R17")
@every_cell
def test_a_state_carried_from_chunk_to_chunk_equals_the_whole(kind):
    cell, inputs = make(kind), torch.randn(BATCH, STEPS, INPUT)
    for chunk, valid in itertools.product([1, 2, 3, STEPS], [None, VALID]):
        whole, state, outputs = unroll(cell, inputs, valid=valid), None, []
        for first in range(0, STEPS, chunk):
            place = slice(first, first + chunk)
            walk = unroll(cell, inputs[:, place], state, valid=None if valid is None else valid[:, place])
            state = walk.last
            outputs.append(walk.outputs)
        with in_case(chunk, "whole" if valid is None else "ragged"):
            torch.testing.assert_close(torch.cat(outputs, dim=1), whole.outputs, rtol=0, atol=1e-13)
            torch.testing.assert_close(tuple(state), tuple(whole.last), rtol=0, atol=1e-13)


@every_cell
def test_backward_is_forward_over_the_reversed_sequence(kind):
    cell, inputs = make(kind), torch.randn(BATCH, STEPS, INPUT)
    for valid in (None, VALID):
        there = unroll(cell, inputs, valid=valid, backward=True)
        mirrored = unroll(cell, inputs.flip(1), valid=None if valid is None else valid.flip(1))
        torch.testing.assert_close(there.outputs, mirrored.outputs.flip(1), rtol=0, atol=1e-14)
        torch.testing.assert_close(tuple(there.last), tuple(mirrored.last), rtol=0, atol=1e-14)


@every_cell
def test_the_future_never_matters_exactly(kind):
    cell, inputs = make(kind), torch.randn(BATCH, STEPS, INPUT)
    expected = unroll(cell, inputs).outputs
    for now in range(STEPS - 1):
        changed = inputs.clone()
        changed[:, now + 1 :] = 1e3 * torch.randn_like(changed[:, now + 1 :])
        assert torch.equal(unroll(cell, changed).outputs[:, : now + 1], expected[:, : now + 1])


@every_cell
def test_gradients_with_padding(kind):
    cell = kind(2, 3)
    inputs = torch.randn(2, 3, 2, requires_grad=True)
    valid = torch.tensor([[True, False, True], [False, True, False]])

    def walked(inputs, *_):
        walk = unroll(cell, inputs, valid=valid)
        return (walk.outputs, *walk.last)

    assert torch.autograd.gradcheck(walked, [inputs, *cell.parameters()], fast_mode=True)


@every_cell
def test_products_in_bfloat16_on_a_processor(kind):
    """Not every processor has the kernels in bfloat16; the walk must do without."""
    cell = make(kind).float()
    inputs = torch.randn(BATCH, STEPS, INPUT, dtype=torch.float32, requires_grad=True)
    expected = unroll(cell, inputs, valid=VALID).outputs
    with torch.autocast("cpu", torch.bfloat16):
        outputs = unroll(cell, inputs.bfloat16(), valid=VALID).outputs
    torch.testing.assert_close(outputs.float(), expected, rtol=0, atol=0.2)
    (gradient,) = torch.autograd.grad(outputs.float().square().sum(), inputs)
    assert gradient.isfinite().all()
