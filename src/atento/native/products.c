// The product of a step's rows with a whole matrix.

#include "products.h"

// to (rows, columns) += a (rows, depth) times a panel.
INLINE void add_tile(const int brief, const int rows, const int wide, long depth, const void *a, const float *panel,
                     float *to, long columns) {
    vec sums[ROWS][4];
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int j = 0; j < wide; j++) sums[i][j] = load(to + i * columns + j * LANES);
    tile(brief, rows, wide, depth, a, panel, sums);
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int j = 0; j < wide; j++) store(to + i * columns + j * LANES, sums[i][j]);
}

INLINE void add_panel(const int brief, const int wide, long rows, long depth, const void *a, const float *panel,
                      float *to, long columns) {
    const char *from = a;
    const long width = depth * (brief ? 2 : 4);  // bytes of a row
    long row = 0;
    for (; row + ROWS <= rows; row += ROWS)
        add_tile(brief, ROWS, wide, depth, from + row * width, panel, to + row * columns, columns);
    for (; row + 2 <= rows; row += 2)
        add_tile(brief, 2, wide, depth, from + row * width, panel, to + row * columns, columns);
    for (; row < rows; row++)
        add_tile(brief, 1, wide, depth, from + row * width, panel, to + row * columns, columns);
}

float *pack_columns(int brief, float *to, const float *matrix, long depth, long columns) {
    for (long first = 0, left = columns / LANES; left;) {
        int wide = panel_width(left);
        to = pack(brief, to, matrix + first, wide, depth, LANES, 1, columns);
        first += wide * LANES, left -= wide;
    }
    return to;
}

float *pack_rows(int brief, float *to, const float *matrix, long depth, long columns) {
    for (long first = 0, left = columns / LANES; left;) {
        int wide = panel_width(left);
        to = pack(brief, to, matrix + first * depth, wide, depth, LANES * depth, depth, 1);
        first += wide * LANES, left -= wide;
    }
    return to;
}

void add_product(int brief, long rows, long depth, long columns, const float *a, const float *packed, float *to,
                        void *space) {
    const void *from = factor(brief, a, rows * depth, space);
    for (long left = columns / LANES; left;) {
        int wide = panel_width(left);
#define ADD(brief, wide) add_panel(brief, wide, rows, depth, from, packed, to, columns)
        if (wide == 3) brief ? ADD(1, 3) : ADD(0, 3);
        else if (wide == 2) brief ? ADD(1, 2) : ADD(0, 2);
        else brief ? ADD(1, 1) : ADD(0, 1);
        packed += panel_size(brief, wide, depth), to += wide * LANES, left -= wide;
    }
}
