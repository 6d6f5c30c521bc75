// An Elman network over a whole sequence: h_t = g(a_t + U h_{t−1}) with g = tanh or ReLU.
//
// Axes as in gru.c: B rows of the batch, M items of all steps, H hidden; step t takes the first sizes[t] rows.
// A call computes the rows from `first` to before `last`.

#include "products.h"

// states (B + M, H): the first states, then W x + b + c of all items, which become their states.
EXPORT void elman_forward(long first, long last, long brief, long steps, const long *sizes, long batch, long hidden,
                          const float *weight, long is_relu, float *states, float *scratch) {
    float *space = pack_rows(brief, scratch, weight, hidden, hidden);
    float *before = states, *after = states + batch * hidden;
    for (long t = 0; t < steps; t++) {
        long rows = (sizes[t] < last ? sizes[t] : last) - first, start = first * hidden;
        add_product(brief, rows, hidden, hidden, before + start, scratch, after + start, space);
        for (long place = start; place < start + rows * hidden; place += LANES) {
            vec total = load(after + place);
            store(after + place, is_relu ? choose(total < 0.0f, all(0.0f), total) : hyperbolic(total));
        }
        before = after;
        after += sizes[t] * hidden;
    }
}

// d_states (B + M, H): gradients of all states, those of the first B are computed; slopes (M, H): g′ of each item,
// which become the gradients of its product.
EXPORT void elman_backward(long first, long last, long brief, long steps, const long *sizes, long batch, long hidden,
                           const float *weight, float *d_states, float *slopes, float *scratch) {
    long items = total_of(steps, sizes);
    float *space = pack_columns(brief, scratch, weight, hidden, hidden);
    for (long t = steps - 1; t >= 0; t--) {
        items -= sizes[t];
        long rows = (sizes[t] < last ? sizes[t] : last) - first, item = items + first;
        float *slope = slopes + item * hidden, *d_after = d_states + (batch + item) * hidden;
        for (long place = 0; place < rows * hidden; place += LANES)
            store(slope + place, load(slope + place) * load(d_after + place));
        float *d_before = d_states + (rows_before(t, sizes, batch, items) + first) * hidden;
        add_product(brief, rows, hidden, hidden, slope, scratch, d_before, space);
    }
}
