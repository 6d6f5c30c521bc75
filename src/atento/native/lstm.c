// An LSTM over a whole sequence: c_t = f c_{t−1} + i g, h_t = o tanh(c_t), gates in the order i, f, g, o.
//
// Axes as in gru.c: B rows of the batch, M items of all steps, H hidden; step t takes the first sizes[t] rows.
// A call computes the rows from `first` to before `last`.

#include "products.h"

INLINE void forward_rows(const int brief, const int rows, long hidden, const void *factors, float *reads,
                         const float *panel, long unit, const float *carries, float *carries_after, float *after) {
    vec sums[ROWS][4];
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int gate = 0; gate < 4; gate++) sums[i][gate] = load(reads + (4 * i + gate) * hidden + unit);
    tile(brief, rows, 4, hidden, factors, panel, sums);
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) {
        float *gates = reads + 4 * i * hidden + unit;
        vec write = sigmoid(sums[i][0]), keep = sigmoid(sums[i][1]), content = hyperbolic(sums[i][2]);
        vec output = sigmoid(sums[i][3]), carry = keep * load(carries + i * hidden + unit) + write * content;
        store(gates, write);
        store(gates + hidden, keep);
        store(gates + 2 * hidden, content);
        store(gates + 3 * hidden, output);
        store(carries_after + i * hidden + unit, carry);
        store(after + i * hidden + unit, output * hyperbolic(carry));
    }
}

// reads (M, 4H): W x + b + c -> the gates. weight (4H, H); scratch as in gru.c; states and carries (B + M, H), of which
// the first B are given.
EXPORT void lstm_forward(long first, long last, long brief, long steps, const long *sizes, long batch, long hidden,
                         const float *weight, float *states, float *carries, float *reads, float *scratch) {
    float *space = pack_gates(brief, scratch, weight, 4, hidden, hidden);
    const long width = hidden * (brief ? 2 : 4);  // bytes of a row
    long before = 0, after = batch * hidden;
    for (long t = 0; t < steps; t++) {
        long end = sizes[t] < last ? sizes[t] : last;
        const char *factors = factor(brief, states + before + first * hidden, (end - first) * hidden, space);
        for (long unit = 0; unit < hidden; unit += LANES) {
            const float *panel = scratch + panel_size(brief, 4, hidden) * (unit / LANES);
            long row = first;
#define FORWARD(brief, rows)                                                                                    \
    forward_rows(brief, rows, hidden, factors + (row - first) * width, reads + row * 4 * hidden, panel, unit,   \
                 carries + before + row * hidden, carries + after + row * hidden, states + after + row * hidden)
            for (; row + ROWS_OF_FOUR <= end; row += ROWS_OF_FOUR)
                brief ? FORWARD(1, ROWS_OF_FOUR) : FORWARD(0, ROWS_OF_FOUR);
            for (; row + 2 <= end; row += 2) brief ? FORWARD(1, 2) : FORWARD(0, 2);
            for (; row < end; row++) brief ? FORWARD(1, 1) : FORWARD(0, 1);
        }
        before = after;
        after += sizes[t] * hidden;
        reads += sizes[t] * 4 * hidden;
    }
}

// The gradients of a step's products, from those of its states.
INLINE void backward_gates(long rows, long hidden, const float *gates, const float *before, const float *after,
                           const float *d_after, float *d_carry, float *d_product) {
    for (long row = 0; row < rows; row++)
        for (long unit = 0; unit < hidden; unit += LANES) {
            const float *gate = gates + row * 4 * hidden + unit;
            float *slope = d_product + row * 4 * hidden + unit;
            long place = row * hidden + unit;
            vec write = load(gate), keep = load(gate + hidden), content = load(gate + 2 * hidden);
            vec output = load(gate + 3 * hidden), squashed = hyperbolic(load(after + place));
            vec d_state = load(d_after + place);
            vec d = load(d_carry + place) + d_state * output * (1.0f - squashed * squashed);
            store(slope, d * content * write * (1.0f - write));
            store(slope + hidden, d * load(before + place) * keep * (1.0f - keep));
            store(slope + 2 * hidden, d * write * (1.0f - content * content));
            store(slope + 3 * hidden, d_state * squashed * output * (1.0f - output));
            store(d_carry + place, d * keep);
        }
}

// gates (M, 4H) and carries (B + M, H) as the forward pass left them; d_states (B + M, H): gradients of all states, those
// of the first B are computed; d_carry (B, H): of the last carries -> of the first; d_product (M, 4H): of W x + U h.
EXPORT void lstm_backward(long first, long last, long brief, long steps, const long *sizes, long batch, long hidden,
                          const float *weight, const float *carries, const float *gates, float *d_states,
                          float *d_carry, float *d_product, float *scratch) {
    long items = total_of(steps, sizes);
    float *space = pack_columns(brief, scratch, weight, 4 * hidden, hidden);
    for (long t = steps - 1; t >= 0; t--) {
        items -= sizes[t];
        long rows = (sizes[t] < last ? sizes[t] : last) - first, item = items + first;
        long start = rows_before(t, sizes, batch, items) + first;
        backward_gates(rows, hidden, gates + item * 4 * hidden, carries + start * hidden,
                       carries + (batch + item) * hidden, d_states + (batch + item) * hidden, d_carry + first * hidden,
                       d_product + item * 4 * hidden);
        add_product(brief, rows, 4 * hidden, hidden, d_product + item * 4 * hidden, scratch,
                    d_states + start * hidden, space);
    }
}
