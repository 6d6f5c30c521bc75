// Vectors as wide as the processor's registers, and exp, sigmoid and tanh of them.
// Compiled for the processor at hand, with the vector extensions that GCC and Clang share.

#pragma once
#include <string.h>

#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif
#define INLINE static inline __attribute__((always_inline))
#define EXPORT __attribute__((visibility("default")))

typedef float vec __attribute__((vector_size(LANES * 4)));
typedef int ivec __attribute__((vector_size(LANES * 4)));

INLINE vec load(const float *from) {
    vec found;
    memcpy(&found, from, sizeof(vec));
    return found;
}

INLINE void store(float *to, vec values) { memcpy(to, &values, sizeof(vec)); }

INLINE vec all(float value) { return value - (vec){0}; }

INLINE vec choose(ivec chosen, vec yes, vec no) { return (vec)((chosen & (ivec)yes) | (~chosen & (ivec)no)); }

INLINE vec absolute(vec x) { return (vec)((ivec)x & 0x7fffffff); }

// The larger of each pair of numbers; a NaN is the largest.
INLINE vec larger(vec x, vec y) { return choose((x <= y) | (y != y), y, x); }

INLINE float sum(vec x) {
    float parts[LANES];
    memcpy(parts, &x, sizeof(vec));
    for (int half = LANES / 2; half; half /= 2)
        for (int lane = 0; lane < half; lane++) parts[lane] += parts[lane + half];
    return parts[0];
}

INLINE float largest(vec x) {
    float parts[LANES];
    memcpy(parts, &x, sizeof(vec));
    for (int half = LANES / 2; half; half /= 2)
        for (int lane = 0; lane < half; lane++)
            parts[lane] = parts[lane] <= parts[lane + half] || parts[lane + half] != parts[lane + half]
                              ? parts[lane + half] : parts[lane];
    return parts[0];
}

// e^x by 2^n e^r with |r| ≤ ln 2 / 2 and a polynomial for e^r (Cephes); a NaN stays one.
INLINE vec exponential(vec x) {
    x = choose(x < -87.0f, all(-87.0f), choose(x > 88.0f, all(88.0f), x));
    const vec shifter = all(12582912.0f);  // 1.5 · 2^23: adding it rounds to a whole number
    vec n = (x * 1.44269504088896341f + shifter) - shifter;
    vec r = x - n * 0.693359375f + n * 2.12194440e-4f;
    vec p = ((((1.9875691500e-4f * r + 1.3981999507e-3f) * r + 8.3334519073e-3f) * r + 4.1665795894e-2f) * r +
             1.6666665459e-1f) * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    ivec exponent = __builtin_convertvector(n, ivec) << 23;
    return (vec)((ivec)p + exponent);
}

// 1 / x for numbers of ordinary size: an estimate, and one step of Newton's method.
#if defined(__AVX512F__)
#include <immintrin.h>
INLINE vec reciprocal(vec x) {
    vec estimate = (vec)_mm512_rcp14_ps((__m512)x);
    return estimate * (2.0f - x * estimate);
}
#else
INLINE vec reciprocal(vec x) { return 1.0f / x; }
#endif

INLINE vec sigmoid(vec x) { return reciprocal(1.0f + exponential(-x)); }

// tanh x = x P(x²) / Q(x²), the rational approximation of Eigen and XLA: a few units in the last place at any size.
INLINE vec hyperbolic(vec x) {
    x = choose(x < -7.9053111f, all(-7.9053111f), choose(x > 7.9053111f, all(7.9053111f), x));
    vec square = x * x;
    vec p = ((((((-2.76076847742355e-16f * square + 2.00018790482477e-13f) * square - 8.60467152213735e-11f) * square +
                5.12229709037114e-08f) * square + 1.48572235717979e-05f) * square + 6.37261928875436e-04f) * square +
             4.89352455891786e-03f) * x;
    vec q = ((1.19825839466702e-06f * square + 1.18534705686654e-04f) * square + 2.26843463243900e-03f) * square +
            4.89352518554385e-03f;
    return p * reciprocal(q);
}
