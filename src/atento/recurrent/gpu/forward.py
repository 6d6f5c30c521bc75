"""The forward kernel of a walk: one program takes a tile of rows through all their steps.

The state goes from a step to the next through memory, which stays in the cache: its product needs whole rows, cut into
blocks, and a program holds a block of units at a time. Weights come from the cache as well, once a step. A tile stops
at the length of its longest row; rows come sorted by length.
"""

import triton
import triton.language as tl

from atento.recurrent.gpu.products import gate_products, my_rows, read_tile, wait_for_tile, write_tile

# Axes: B batch, T time, H hidden (SIZE), G parts of the input's product side by side; R rows and N units of a tile.


@triton.jit
def walk_forward(
    reads, states, exact, kept, middles, weight, bias, second_weight, second_bias, order, lengths, arrived, batch, time,
    plugs,
):  # fmt: skip
    """reads (B, T, G) and the first state -> states, exact (B, T + 1, H), kept (B, T, kept·H), middles (B, T, H)."""
    row, length, steps, mine = my_rows(order, lengths, batch, plugs)
    for step in range(0, steps):
        live = step < length
        place, at = row * time + step, row * (time + 1) + step
        reads_at = reads + place * plugs.parts * plugs.size
        kept_at = kept + place * plugs.kept * plugs.size
        state_at, exact_at = states + at * plugs.size, exact + at * plugs.size
        middle_at = middles + place * plugs.size
        for start in range(mine, plugs.size, plugs.units * plugs.splits):
            column = start + tl.arange(0, plugs.units)
            if plugs.two:
                begin_step(reads_at, state_at, exact_at, kept_at, middle_at, weight, bias, column, live, plugs)
            else:
                whole_step(reads_at, state_at, exact_at, kept_at, weight, bias, column, live, plugs)
        wait_for_tile(arrived, (2 * step if plugs.two else step) + 1, plugs)  # the next product reads whole rows
        if plugs.two:
            for start in range(mine, plugs.size, plugs.units * plugs.splits):
                column = start + tl.arange(0, plugs.units)
                end_step(
                    reads_at, state_at, exact_at, kept_at, middle_at, second_weight, second_bias, column, live, plugs
                )
            wait_for_tile(arrived, 2 * step + 2, plugs)


@triton.jit
def read_gates(at, column, live, plugs):
    """Up to four parts of a row, side by side, at units `column`."""
    v0 = read_tile(at, column, live, plugs.size)
    v1, v2, v3 = v0, v0, v0
    if plugs.gates > 1:
        v1 = read_tile(at + plugs.size, column, live, plugs.size)
    if plugs.gates > 2:
        v2 = read_tile(at + 2 * plugs.size, column, live, plugs.size)
    if plugs.gates > 3:
        v3 = read_tile(at + 3 * plugs.size, column, live, plugs.size)
    return v0, v1, v2, v3


@triton.jit
def whole_step(reads_at, state_at, exact_at, kept_at, weight, bias, column, live, plugs):
    """A step of one product."""
    x0, x1, x2, x3 = read_gates(reads_at, column, live, plugs)
    before = read_tile(exact_at, column, live, plugs.size)
    p0, p1, p2, p3 = gate_products(state_at, live, weight, bias, column, plugs, plugs.gates)
    hidden, whole, k0, k1, k2, k3 = plugs.first(x0, x1, x2, x3, p0, p1, p2, p3, before, plugs)
    write_tile(state_at + plugs.size, column, live, hidden, plugs.size)
    write_tile(exact_at + plugs.size, column, live, whole, plugs.size)
    if plugs.kept > 0:
        write_tile(kept_at, column, live, k0, plugs.size)
        write_tile(kept_at + plugs.size, column, live, k1, plugs.size)
        write_tile(kept_at + 2 * plugs.size, column, live, k2, plugs.size)
        write_tile(kept_at + 3 * plugs.size, column, live, k3, plugs.size)


@triton.jit
def begin_step(reads_at, state_at, exact_at, kept_at, middle_at, weight, bias, column, live, plugs):
    """The first of two products, up to what the second one multiplies."""
    x0, x1, _, _ = read_gates(reads_at, column, live, plugs)
    before = read_tile(exact_at, column, live, plugs.size)
    p0, p1, _, _ = gate_products(state_at, live, weight, bias, column, plugs, plugs.gates)
    middle, k0, k1 = plugs.first(x0, x1, p0, p1, before, plugs)
    write_tile(middle_at, column, live, middle, plugs.size)
    if plugs.kept > 1:
        write_tile(kept_at, column, live, k0, plugs.size)
    if plugs.kept > 2:
        write_tile(kept_at + plugs.size, column, live, k1, plugs.size)


@triton.jit
def end_step(reads_at, state_at, exact_at, kept_at, middle_at, weight, bias, column, live, plugs):
    """The second of two products, and the state after the step."""
    before = read_tile(exact_at, column, live, plugs.size)
    x, k0, k1 = before, before, before
    if plugs.second_reads:
        x = read_tile(reads_at + plugs.gates * plugs.size, column, live, plugs.size)
    if plugs.kept > 1:
        k0 = read_tile(kept_at, column, live, plugs.size)
    if plugs.kept > 2:
        k1 = read_tile(kept_at + plugs.size, column, live, plugs.size)
    p, _, _, _ = gate_products(middle_at, live, weight, bias, column, plugs, 1)
    hidden, last = plugs.second(x, p, k0, k1, before, plugs)
    write_tile(state_at + plugs.size, column, live, hidden, plugs.size)
    write_tile(exact_at + plugs.size, column, live, hidden, plugs.size)
    if plugs.kept > 0:
        write_tile(kept_at + (plugs.kept - 1) * plugs.size, column, live, last, plugs.size)
