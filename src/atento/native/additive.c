// Additive scores s = Σ_h v_h tanh(q_h + k_h) of all pairs of a query and a key, and their gradients.
//
// tanh(z) = 2σ(2z) − 1 and σ(2z) = 1 / (1 + e^(−2q) e^(−2k)): the exponentials are taken of each query and each key, not
// of each pair. The difference loses digits where all z of a pair are small, and where they are large the product is no
// number: such pairs take a tanh of each sum.
//
// Axes: B batch, Q queries, K keys, H hidden, a whole number of vectors. A call computes the rows of the batch from
// `first` to before `last`.

#include "vectors.h"

// The largest |value| of each of `rows` rows.
static void largest_sizes(long rows, long hidden, const float *values, float *found) {
    for (long row = 0; row < rows; row++) {
        vec most = all(0.0f);
        for (long unit = 0; unit < hidden; unit += LANES) most = larger(absolute(load(values + row * hidden + unit)), most);
        found[row] = largest(most);
    }
}

// e^(−2x), of which none is infinite or 0.
static void exponentials(long count, const float *values, float *found) {
    for (long place = 0; place < count; place += LANES) store(found + place, exponential(-2.0f * load(values + place)));
}

// Whether a pair takes a tanh of each sum, by the largest sizes of both rows.
INLINE int by_tanh(float of_query, float of_key, const float *limits) {
    float size = of_query + of_key;
    return size < limits[0] || !(size <= limits[1]);
}

// query (B, Q, H), key (B, K, H), weight (H,) -> scores (B, Q, K). limits: the sizes below and above which a pair takes
// a tanh. Kept for the backward pass: exponentials of queries (B, Q, H) and keys (B, K, H), and their largest sizes.
EXPORT void additive_forward(long first, long last, long queries, long keys, long hidden, const float *limits,
                             const float *query, const float *key, const float *weight, float *query_powers,
                             float *key_powers, float *query_sizes, float *key_sizes, float *scores) {
    long start = first * queries, end = last * queries, key_start = first * keys, key_count = (last - first) * keys;
    exponentials((end - start) * hidden, query + start * hidden, query_powers + start * hidden);
    exponentials(key_count * hidden, key + key_start * hidden, key_powers + key_start * hidden);
    largest_sizes(end - start, hidden, query + start * hidden, query_sizes + start);
    largest_sizes(key_count, hidden, key + key_start * hidden, key_sizes + key_start);
    float whole = 0;
    for (long unit = 0; unit < hidden; unit++) whole += weight[unit];
    for (long row = start; row < end; row++) {
        const float *q = query + row * hidden, *q_power = query_powers + row * hidden;
        for (long k = 0; k < keys; k++) {
            long place = row / queries * keys + k;
            const float *one = key + place * hidden, *power = key_powers + place * hidden;
            vec total = all(0.0f);
            long unit = 0;
            if (by_tanh(query_sizes[row], key_sizes[place], limits)) {
                for (; unit < hidden; unit += LANES)
                    total += load(weight + unit) * hyperbolic(load(q + unit) + load(one + unit));
                scores[row * keys + k] = sum(total);
                continue;
            }
            for (; unit + 2 * LANES <= hidden; unit += 2 * LANES) {  // v/a + w/b = (v b + w a) / (a b): one reciprocal
                vec a = 1.0f + load(q_power + unit) * load(power + unit);
                vec b = 1.0f + load(q_power + unit + LANES) * load(power + unit + LANES);
                total += (load(weight + unit) * b + load(weight + unit + LANES) * a) * reciprocal(a * b);
            }
            for (; unit < hidden; unit += LANES)
                total += load(weight + unit) * reciprocal(1.0f + load(q_power + unit) * load(power + unit));
            scores[row * keys + k] = 2.0f * sum(total) - whole;
        }
    }
}

// d_scores (B, Q, K) -> d_query (B, Q, H), and added to d_key (B, K, H) and d_weight (H,).
EXPORT void additive_backward(long first, long last, long queries, long keys, long hidden, const float *limits,
                              const float *query, const float *key, const float *weight, const float *query_powers,
                              const float *key_powers, const float *query_sizes, const float *key_sizes,
                              const float *d_scores, float *d_query, float *d_key, float *d_weight) {
    for (long row = first; row < last; row++)
        for (long unit = 0; unit < hidden; unit += LANES) {
            long key_start = row * keys * hidden + unit;
            vec to_weight = load(d_weight + unit), scale = load(weight + unit);
            for (long q = row * queries; q < (row + 1) * queries; q++) {
                vec q_value = load(query + q * hidden + unit), q_power = load(query_powers + q * hidden + unit);
                vec to_query = all(0.0f), of_query = to_query;
                for (long k = 0; k < keys; k++) {
                    long place = key_start + k * hidden;
                    vec upstream = all(d_scores[q * keys + k]), squashed;
                    if (by_tanh(query_sizes[q], key_sizes[row * keys + k], limits))
                        squashed = hyperbolic(q_value + load(key + place));
                    else
                        squashed = 2.0f * reciprocal(1.0f + q_power * load(key_powers + place)) - 1.0f;
                    vec slope = upstream - upstream * squashed * squashed;
                    of_query += upstream * squashed;
                    to_query += slope;
                    store(d_key + place, load(d_key + place) + scale * slope);
                }
                store(d_query + q * hidden + unit, scale * to_query);
                to_weight += of_query;
            }
            store(d_weight + unit, to_weight);
        }
}
