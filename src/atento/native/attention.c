// Softmax attention of packed sequences: each query sees the keys of its own sequence, all of them or those up to its own
// place. Whole rows of weights are held, so that it is for short sequences.
//
// Axes: B sequences, M rows of all of them, one after another, N rows of all sources, H heads, D features of a head, a
// whole number of vectors. Sequence b has the rows bounds[b] … bounds[b + 1] − 1. Feature d of head h in row r stands at
// r * row + h * head + d of a tensor. A call computes the sequences from `first` to before `last`.

#include <math.h>

#include "products.h"

typedef struct {
    const float *values;
    long row, head;
} rows_of_heads;

// to[i][j] = Σ_k a[i][k] b[k][j] for some rows and some vectors; vector j of step k stands at b[k * step + j * next].
INLINE void write_tile(const int rows, const int wide, long depth, const float *a, long a_row, long a_step,
                       const float *b, long b_step, long b_next, float *to, long to_row) {
    vec sums[ROWS][4];
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int j = 0; j < wide; j++) sums[i][j] = all(0.0f);
    for (long k = 0; k < depth; k++)
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
            for (int j = 0; j < wide; j++)
                sums[i][j] += all(a[i * a_row + k * a_step]) * load(b + k * b_step + j * b_next);
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int j = 0; j < wide; j++) store(to + i * to_row + j * LANES, sums[i][j]);
}

// The same for any number of rows and of vectors.
static void write_product(long rows, long vectors, long depth, const float *a, long a_row, long a_step, const float *b,
                          long b_step, long b_next, float *to, long to_row) {
    while (vectors) {
        int wide = panel_width(vectors);
        long row = 0;
#define WRITE(rows, wide) \
    write_tile(rows, wide, depth, a + row * a_row, a_row, a_step, b, b_step, b_next, to + row * to_row, to_row)
#define WRITE_ROWS(rows) wide == 3 ? WRITE(rows, 3) : wide == 2 ? WRITE(rows, 2) : WRITE(rows, 1)
        for (; row + ROWS <= rows; row += ROWS) WRITE_ROWS(ROWS);
        for (; row + 2 <= rows; row += 2) WRITE_ROWS(2);
        for (; row < rows; row++) WRITE_ROWS(1);
        b += wide * b_next, to += wide * LANES, vectors -= wide;
    }
}

// Some rows as columns: for each vector of rows, for each feature, one lane a row; 0 after the last row.
static void pack_transposed(long rows, long features, const float *from, long row, float *to) {
    for (long start = 0; start < rows; start += LANES, to += features * LANES) {
        const long here = rows - start < LANES ? rows - start : LANES;
        if (here < LANES) memset(to, 0, features * LANES * sizeof(float));
        for (long lane = 0; lane < here; lane++)
            for (long feature = 0; feature < features; feature++)
                to[feature * LANES + lane] = from[(start + lane) * row + feature];
    }
}

// A vector that begins at place `start` of a row: where its places reach `count`, `other` takes the place of numbers.
INLINE vec kept(vec numbers, long start, long count, float other) {
    if (start + LANES <= count) return numbers;
    ivec lane;
    for (int one = 0; one < LANES; one++) lane[one] = one;
    return choose(lane < (int)(count - start), numbers, all(other));
}

// The largest of `count` numbers; a NaN is the largest.
INLINE float largest_of(const float *numbers, long count) {
    vec most = all(-INFINITY);
    for (long place = 0; place < count; place += LANES)
        most = larger(kept(load(numbers + place), place, count, -INFINITY), most);
    return largest(most);
}

// How many keys a query sees.
INLINE long seen(long causal, long query, long keys) { return causal && query + 1 < keys ? query + 1 : keys; }

INLINE const float *start_of(rows_of_heads part, long row, long head) {
    return part.values + row * part.row + head * part.head;
}

// context (M, H, D); peaks (M, H, 2): of each row of scores the largest, and 1 / Σ e^(s − largest).
// scratch: (keys + queries) of the longest sequences times the features, or the keys, in whole vectors.
EXPORT void attention_forward(long first, long last, long heads, long width, long causal, const float *scale,
                              const int *bounds, const int *key_bounds, const float *query, long query_row,
                              long query_head, const float *key, long key_row, long key_head, const float *value,
                              long value_row, long value_head, float *context, float *peaks, float *scratch) {
    rows_of_heads q_all = {query, query_row, query_head}, k_all = {key, key_row, key_head};
    rows_of_heads v_all = {value, value_row, value_head};
    for (long b = first; b < last; b++) {
        long queries = bounds[b + 1] - bounds[b], keys = key_bounds[b + 1] - key_bounds[b];
        long vectors = (keys + LANES - 1) / LANES, stride = vectors * LANES;
        float *weights = scratch + stride * width;
        for (long h = 0; h < heads; h++) {
            pack_transposed(keys, width, start_of(k_all, key_bounds[b], h), key_row, scratch);
            for (long q = 0; q < queries; q += ROWS) {  // the rows of a tile see almost the same keys
                long rows = queries - q < ROWS ? queries - q : ROWS, most = seen(causal, q + rows - 1, keys);
                write_product(rows, (most + LANES - 1) / LANES, width, start_of(q_all, bounds[b] + q, h), query_row, 1,
                              scratch, LANES, width * LANES, weights, stride);
                float *to = context + ((bounds[b] + q) * heads + h) * width;
                for (long i = 0; i < rows; i++) {
                    long count = seen(causal, q + i, keys);
                    float *row = weights + i * stride, most_of_row = largest_of(row, count);
                    vec total = all(0.0f);
                    for (long k = 0; k < most; k += LANES) {
                        vec one = kept(exponential((load(row + k) - most_of_row) * *scale), k, count, 0.0f);
                        store(row + k, one);
                        total += one;
                    }
                    float *peak = peaks + ((bounds[b] + q + i) * heads + h) * 2;
                    peak[0] = most_of_row, peak[1] = 1.0f / sum(total);
                    for (long k = 0; k < most; k += LANES) store(row + k, load(row + k) * peak[1]);
                }
                write_product(rows, width / LANES, most, weights, stride, 1, start_of(v_all, key_bounds[b], h),
                              value_row, LANES, to, heads * width);
            }
        }
    }
}

// d_context (M, H, D) -> d_query (M, H, D), d_key and d_value (N, H, D).
EXPORT void attention_backward(long first, long last, long heads, long width, long causal, const float *scale,
                               const int *bounds, const int *key_bounds, const float *query, long query_row,
                               long query_head, const float *key, long key_row, long key_head, const float *value,
                               long value_row, long value_head, const float *context, const float *peaks,
                               const float *d_context, float *d_query, float *d_key, float *d_value, float *scratch) {
    rows_of_heads q_all = {query, query_row, query_head}, k_all = {key, key_row, key_head};
    rows_of_heads v_all = {value, value_row, value_head};
    const long row_of_all = heads * width;
    for (long b = first; b < last; b++) {
        long queries = bounds[b + 1] - bounds[b], keys = key_bounds[b + 1] - key_bounds[b];
        long vectors = (keys + LANES - 1) / LANES, stride = vectors * LANES;
        float *columns = scratch, *weights = columns + stride * width, *slopes = weights + queries * stride;
        for (long h = 0; h < heads; h++) {
            const float *q = start_of(q_all, bounds[b], h), *k = start_of(k_all, key_bounds[b], h);
            const float *v = start_of(v_all, key_bounds[b], h);
            const long here = (bounds[b] * heads + h) * width, there = (key_bounds[b] * heads + h) * width;
            pack_transposed(keys, width, k, key_row, columns);
            write_product(queries, vectors, width, q, query_row, 1, columns, LANES, width * LANES, weights, stride);
            pack_transposed(keys, width, v, value_row, columns);
            write_product(queries, vectors, width, d_context + here, row_of_all, 1, columns, LANES, width * LANES,
                          slopes, stride);
            for (long i = 0; i < queries; i++) {
                const float *peak = peaks + ((bounds[b] + i) * heads + h) * 2;
                const float *out = context + here + i * row_of_all, *d_out = d_context + here + i * row_of_all;
                float *row = weights + i * stride, *slope = slopes + i * stride;
                vec products = all(0.0f);
                for (long d = 0; d < width; d += LANES) products += load(out + d) * load(d_out + d);
                float mean = sum(products);  // Σ p dp
                long count = seen(causal, i, keys);
                for (long place = 0; place < stride; place += LANES) {
                    vec weight = kept(exponential((load(row + place) - peak[0]) * *scale) * peak[1], place, count, 0.0f);
                    store(row + place, weight);
                    store(slope + place, kept((load(slope + place) - mean) * weight * *scale, place, count, 0.0f));
                }
            }
            write_product(queries, width / LANES, keys, slopes, stride, 1, k, key_row, LANES, d_query + here, row_of_all);
            write_product(keys, width / LANES, queries, slopes, 1, stride, q, query_row, LANES, d_key + there, row_of_all);
            write_product(keys, width / LANES, queries, weights, 1, stride, d_context + here, row_of_all, LANES,
                          d_value + there, row_of_all);
        }
    }
}
