// The product of the few rows of a step with a matrix, which is packed once for all steps.
//
// A tile is some rows times some vectors: its sums stay in registers. Where both factors are rounded to bfloat16 (`brief`),
// one instruction multiplies two numbers a lane and adds both products in float32.

#pragma once
#include <stdint.h>

#include "vectors.h"

#if defined(__AVX512F__)
#define ROWS 8          // of a tile of up to three vectors
#define ROWS_OF_FOUR 6  // of a tile of four
#elif defined(__AVX__)
#define ROWS 4
#define ROWS_OF_FOUR 2
#else
#define ROWS 6
#define ROWS_OF_FOUR 4
#endif

#if defined(__AVX512BF16__)
#define HAS_BF16 1
INLINE vec add_pairs(vec sums, uint32_t left, const void *right) {
    __m512i pairs = _mm512_loadu_si512(right), both = _mm512_set1_epi32((int)left);
    return (vec)_mm512_dpbf16_ps((__m512)sums, (__m512bh)both, (__m512bh)pairs);
}

INLINE void store_rounded(uint16_t *to, vec values) {
    _mm256_storeu_si256((void *)to, (__m256i)_mm512_cvtneps_pbh((__m512)values));
}
#else
#define HAS_BF16 0
INLINE vec add_pairs(vec sums, uint32_t left, const void *right) {
    (void)left, (void)right;
    return sums;
}

INLINE void store_rounded(uint16_t *to, vec values) { (void)to, (void)values; }
#endif

// The nearest bfloat16 of a float, a tie to the even one; a NaN stays one.
INLINE uint16_t rounded(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    if (value != value) return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// The rows of a factor as a tile reads them: as they are, or rounded to bfloat16 in `space`.
INLINE const void *factor(int brief, const float *values, long count, void *space) {
    if (!brief) return values;
    uint16_t *to = space;
    for (long place = 0; place < count; place += LANES) store_rounded(to + place, load(values + place));
    return space;
}

// A panel of a matrix as a tile reads it: at each step of the depth, or at each second one both together, `wide` vectors.
// Lane l of vector j stands at from[j * next_vector + l * next_lane]. Returns where the next panel begins.
INLINE float *pack(int brief, float *to, const float *from, int wide, long depth, long next_vector, long next_lane,
                   long next_depth) {
    if (!brief) {
        for (long k = 0; k < depth; k++)
            for (int j = 0; j < wide; j++)
                for (int lane = 0; lane < LANES; lane++)
                    *to++ = from[k * next_depth + j * next_vector + lane * next_lane];
        return to;
    }
    uint16_t *pairs = (uint16_t *)to;
    for (long k = 0; k < depth; k += 2)
        for (int j = 0; j < wide; j++)
            for (int lane = 0; lane < LANES; lane++)
                for (int half = 0; half < 2; half++)
                    *pairs++ = rounded(from[(k + half) * next_depth + j * next_vector + lane * next_lane]);
    return (float *)pairs;
}

// How many floats a packed panel takes.
INLINE long panel_size(int brief, int wide, long depth) { return wide * LANES * depth / (brief ? 2 : 1); }

// Vectors of the next panel of a row with so many left: three where no single one is left over.
INLINE int panel_width(long left) { return left == 2 || left == 4 ? 2 : left < 3 ? 1 : 3; }

// sums[i][j] += Σ_k a[i][k] b[k][j] for `rows` rows of a, of which each has `depth` numbers, and a panel b.
INLINE void tile(const int brief, const int rows, const int wide, long depth, const void *a, const float *b,
                 vec sums[ROWS][4]) {
    const long count = brief ? depth / 2 : depth;
    for (long k = 0; k < count; k++) {
        const float *right = b + k * wide * LANES;
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
            for (int j = 0; j < wide; j++)
                if (brief)
                    sums[i][j] = add_pairs(sums[i][j], ((const uint32_t *)a)[i * count + k], right + j * LANES);
                else
                    sums[i][j] += all(((const float *)a)[i * depth + k]) * load(right + j * LANES);
    }
}

// A matrix (gates × units, depth) in panels of the lanes of every gate, for a (·, depth) times its transpose.
INLINE float *pack_gates(int brief, float *to, const float *matrix, int gates, long units, long depth) {
    for (long unit = 0; unit < units; unit += LANES)
        to = pack(brief, to, matrix + unit * depth, gates, depth, units * depth, depth, 1);
    return to;
}

// A matrix (depth, columns) in panels of columns, for a (·, depth) times it; returns where the room after it begins.
float *pack_columns(int brief, float *to, const float *matrix, long depth, long columns);

// A matrix (columns, depth) likewise, for a (·, depth) times its transpose.
float *pack_rows(int brief, float *to, const float *matrix, long depth, long columns);

// to (rows, columns) += a (rows, depth) times a packed matrix; `space` has room for the factor.
void add_product(int brief, long rows, long depth, long columns, const float *a, const float *packed, float *to,
                 void *space);

// How many items all steps take.
INLINE long total_of(long steps, const long *sizes) {
    long total = 0;
    for (long t = 0; t < steps; t++) total += sizes[t];
    return total;
}

// The first row of the states before step t, among the first B states and those of all items; `items` are those before t.
INLINE long rows_before(long t, const long *sizes, long batch, long items) {
    return t ? batch + items - sizes[t - 1] : 0;
}
