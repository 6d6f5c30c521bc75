"""The backward kernel of a walk: the same tiles of rows through their steps from the last to the first.

It writes the gradient of every product of a step. The gradients of all weights, biases and inputs are then one matrix
product each, over all rows and steps, by torch.
"""

import triton
import triton.language as tl

from atento.recurrent.gpu.products import my_rows, product_gradient, read_tile, wait_for_tile, write_tile

# Axes: B batch, T time, H hidden (SIZE), R rows and N units of a tile.


@triton.jit
def walk_backward(
    upstream, states, exact, kept, middles, d_products, d_content, d_hidden, d_exact, d_keep, weight, second_weight,
    order, lengths, arrived, batch, time, plugs,
):  # fmt: skip
    """Gradients of the outputs (B, T, H) and of the last state, in d_hidden and d_exact (B, H) -> d_products
    (B, T, gates·H), d_content (B, T, H), and the gradient of the first state in d_hidden and d_exact.
    """
    row, length, steps, mine = my_rows(order, lengths, batch, plugs)
    d_hidden_at, d_exact_at, d_keep_at = (
        d_hidden + row * plugs.size,
        d_exact + row * plugs.size,
        d_keep + row * plugs.size,
    )
    for back in range(0, steps):
        step = steps - 1 - back
        live = step < length  # the gradient of a row that has ended waits for its last step
        place, at = row * time + step, row * (time + 1) + step
        upstream_at, middle_at = upstream + place * plugs.size, middles + place * plugs.size
        kept_at = kept + place * plugs.kept * plugs.size
        state_at, exact_at = states + at * plugs.size, exact + at * plugs.size
        products_at = d_products + place * plugs.gates * plugs.size
        content_at = d_content + place * plugs.size
        for start in range(mine, plugs.size, plugs.units * plugs.splits):
            column = start + tl.arange(0, plugs.units)
            change = read_tile(d_hidden_at, column, live, plugs.size) + read_tile(upstream_at, column, live, plugs.size)
            if plugs.two:
                k0, k1, k2, _ = read_kept(kept_at, column, live, plugs)
                before = read_tile(exact_at, column, live, plugs.size)
                after = read_tile(exact_at + plugs.size, column, live, plugs.size)
                write_tile(
                    content_at, column, live, plugs.undo_second(change, k0, k1, k2, before, after, plugs), plugs.size
                )
            else:
                undo_step(
                    change, state_at, exact_at, kept_at, products_at, content_at, d_exact_at, d_keep_at, column, live,
                    plugs,
                )  # fmt: skip
        wait_for_tile(arrived, (2 * back if plugs.two else back) + 1, plugs)  # the next product reads whole rows
        if plugs.two:
            for start in range(mine, plugs.size, plugs.units * plugs.splits):
                column = start + tl.arange(0, plugs.units)
                change = read_tile(d_hidden_at, column, live, plugs.size)
                change += read_tile(upstream_at, column, live, plugs.size)
                undo_begin(
                    change, exact_at, kept_at, middle_at, products_at, content_at, d_keep_at, second_weight, column,
                    live, plugs,
                )  # fmt: skip
            wait_for_tile(arrived, 2 * back + 2, plugs)
        for start in range(mine, plugs.size, plugs.units * plugs.splits):
            column = start + tl.arange(0, plugs.units)
            change = product_gradient(products_at, live, weight, column, plugs, plugs.gates)
            keep = read_tile(d_keep_at, column, live, plugs.size)
            if plugs.has_carry:
                write_tile(d_exact_at, column, live, keep, plugs.size)
            else:
                change += keep
            write_tile(d_hidden_at, column, live, change, plugs.size)
        tl.debug_barrier()  # these units are read by this program alone


@triton.jit
def read_kept(at, column, live, plugs):
    """Up to four tensors kept by the forward pass."""
    v0 = tl.zeros((plugs.rows, plugs.units), tl.float32)
    v1, v2, v3 = v0, v0, v0
    if plugs.kept > 0:
        v0 = read_tile(at, column, live, plugs.size)
    if plugs.kept > 1:
        v1 = read_tile(at + plugs.size, column, live, plugs.size)
    if plugs.kept > 2:
        v2 = read_tile(at + 2 * plugs.size, column, live, plugs.size)
    if plugs.kept > 3:
        v3 = read_tile(at + 3 * plugs.size, column, live, plugs.size)
    return v0, v1, v2, v3


@triton.jit
def undo_step(
    change, state_at, exact_at, kept_at, products_at, content_at, d_exact_at, d_keep_at, column, live, plugs
):  # fmt: skip
    """The gradients of a step of one product."""
    k0, k1, k2, k3 = read_kept(kept_at, column, live, plugs)
    before = read_tile(exact_at, column, live, plugs.size)
    after = read_tile(exact_at + plugs.size, column, live, plugs.size)
    hidden, d_exact = after, change
    if plugs.has_carry:
        hidden = read_tile(state_at + plugs.size, column, live, plugs.size)
        d_exact = read_tile(d_exact_at, column, live, plugs.size)
    d0, d1, d2, d3, content, keep = plugs.undo_first(change, d_exact, k0, k1, k2, k3, before, after, hidden, plugs)
    write_tile(products_at, column, live, d0, plugs.size)
    if plugs.gates > 1:
        write_tile(products_at + plugs.size, column, live, d1, plugs.size)
    if plugs.gates > 2:
        write_tile(products_at + 2 * plugs.size, column, live, d2, plugs.size)
    if plugs.gates > 3:
        write_tile(products_at + 3 * plugs.size, column, live, d3, plugs.size)
    if plugs.has_content:
        write_tile(content_at, column, live, content, plugs.size)
    write_tile(d_keep_at, column, live, keep, plugs.size)


@triton.jit
def undo_begin(
    change, exact_at, kept_at, middle_at, products_at, content_at, d_keep_at, second_weight, column, live, plugs
):  # fmt: skip
    """The gradients of the first of two products, from that of the second."""
    d_middle = product_gradient(content_at, live, second_weight, column, plugs, 1)
    k0, k1, k2, _ = read_kept(kept_at, column, live, plugs)
    before = read_tile(exact_at, column, live, plugs.size)
    middle = read_tile(middle_at, column, live, plugs.size)
    d0, d1, keep = plugs.undo_first(change, d_middle, k0, k1, k2, before, middle, plugs)
    write_tile(products_at, column, live, d0, plugs.size)
    if plugs.gates > 1:
        write_tile(products_at + plugs.size, column, live, d1, plugs.size)
    write_tile(d_keep_at, column, live, keep, plugs.size)
