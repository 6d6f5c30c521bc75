// A GRU over a whole sequence: h_t = n + z (h_{t−1} − n), n = tanh(x_n + r (U h_{t−1} + c)).
//
// Axes: B rows of the batch, M items of all steps, H hidden. Step t takes the first sizes[t] rows; states hold the first
// state of all rows, then those of all items. A call computes the rows from `first` to before `last`.

#include "products.h"

EXPORT long lanes(void) { return LANES; }

EXPORT long has_bf16(void) { return HAS_BF16; }

INLINE void forward_rows(const int brief, const int rows, long hidden, const void *factors, const float *before,
                         float *reads, const float *panel, const float *bias, long unit, float *candidates,
                         float *after) {
    vec sums[ROWS][4];
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) {
        sums[i][0] = load(reads + i * 3 * hidden + unit);
        sums[i][1] = load(reads + i * 3 * hidden + hidden + unit);
        sums[i][2] = load(bias + unit);
    }
    tile(brief, rows, 3, hidden, factors, panel, sums);
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) {
        float *read = reads + i * 3 * hidden + unit;
        vec reset = sigmoid(sums[i][0]), update = sigmoid(sums[i][1]), from_state = sums[i][2];
        vec candidate = hyperbolic(load(read + 2 * hidden) + reset * from_state);
        vec earlier = load(before + i * hidden + unit);
        store(read, reset);
        store(read + hidden, update);
        store(read + 2 * hidden, from_state);
        store(candidates + i * hidden + unit, candidate);
        store(after + i * hidden + unit, candidate + update * (earlier - candidate));
    }
}

// reads (M, 3H): W x + b of r, z, n, with U's bias in r and z -> r, z, U h + c. weight (3H, H), bias (H,) of the
// candidate; states (B + M, H), of which the first B are given; candidates (M, H); scratch: room for the weight and for
// the rows of a step times 3H.
EXPORT void gru_forward(long first, long last, long brief, long steps, const long *sizes, long batch, long hidden,
                        const float *weight, float *states, float *reads, float *candidates, const float *bias,
                        float *scratch) {
    float *space = pack_gates(brief, scratch, weight, 3, hidden, hidden);
    const long width = hidden * (brief ? 2 : 4);  // bytes of a row
    float *before = states, *after = states + batch * hidden;
    for (long t = 0; t < steps; t++) {
        long end = sizes[t] < last ? sizes[t] : last;
        const char *factors = factor(brief, before + first * hidden, (end - first) * hidden, space);
        for (long unit = 0; unit < hidden; unit += LANES) {
            const float *panel = scratch + panel_size(brief, 3, hidden) * (unit / LANES);
            long row = first;
#define FORWARD(brief, rows)                                                                                   \
    forward_rows(brief, rows, hidden, factors + (row - first) * width, before + row * hidden,                  \
                 reads + row * 3 * hidden, panel, bias, unit, candidates + row * hidden, after + row * hidden)
            for (; row + ROWS <= end; row += ROWS) brief ? FORWARD(1, ROWS) : FORWARD(0, ROWS);
            for (; row + 2 <= end; row += 2) brief ? FORWARD(1, 2) : FORWARD(0, 2);
            for (; row < end; row++) brief ? FORWARD(1, 1) : FORWARD(0, 1);
        }
        before = after;
        after += sizes[t] * hidden;
        reads += sizes[t] * 3 * hidden;
        candidates += sizes[t] * hidden;
    }
}

// The gradients of a step's products, from those of its states.
INLINE void backward_gates(long rows, long hidden, const float *gates, const float *candidates, const float *before,
                           const float *d_after, float *d_before, float *d_product, float *d_content) {
    for (long row = 0; row < rows; row++)
        for (long unit = 0; unit < hidden; unit += LANES) {
            const float *gate = gates + row * 3 * hidden + unit;
            float *slope = d_product + row * 3 * hidden + unit;
            long place = row * hidden + unit;
            vec reset = load(gate), update = load(gate + hidden), from_state = load(gate + 2 * hidden);
            vec candidate = load(candidates + place), d = load(d_after + place);
            vec content = d * (1.0f - update) * (1.0f - candidate * candidate);
            store(slope, content * from_state * reset * (1.0f - reset));
            store(slope + hidden, d * (load(before + place) - candidate) * update * (1.0f - update));
            store(slope + 2 * hidden, content * reset);
            store(d_content + place, content);
            store(d_before + place, load(d_before + place) + d * update);
        }
}

// gates (M, 3H), candidates (M, H), states (B + M, H) as the forward pass left them; d_states (B + M, H): gradients of
// all states, those of the first B are computed; d_product (M, 3H): of U h + c; d_content (M, H): of x_n.
EXPORT void gru_backward(long first, long last, long brief, long steps, const long *sizes, long batch, long hidden,
                         const float *weight, const float *states, const float *gates, const float *candidates,
                         float *d_states, float *d_product, float *d_content, float *scratch) {
    long items = total_of(steps, sizes);
    float *space = pack_columns(brief, scratch, weight, 3 * hidden, hidden);
    for (long t = steps - 1; t >= 0; t--) {
        items -= sizes[t];
        long rows = (sizes[t] < last ? sizes[t] : last) - first, item = items + first;
        long before = rows_before(t, sizes, batch, items) + first;
        backward_gates(rows, hidden, gates + item * 3 * hidden, candidates + item * hidden, states + before * hidden,
                       d_states + (batch + item) * hidden, d_states + before * hidden, d_product + item * 3 * hidden,
                       d_content + item * hidden);
        add_product(brief, rows, 3 * hidden, hidden, d_product + item * 3 * hidden, scratch, d_states + before * hidden,
                    space);
    }
}
