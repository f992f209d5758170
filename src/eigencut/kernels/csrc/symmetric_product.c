/* Multiplies a symmetric matrix, stored as the tiles of its upper half, by a block of vectors.
 *
 * Each tile is read from memory once and used twice: for its own rows, and mirrored for its
 * columns. Compiled for AVX-512 and AVX2, with -DVECTOR_BITS=512 or 256 and -DNAME=...; elsewhere
 * BLAS is as fast.
 */
#include "kernels.h"

/* Sums in registers: GROUP rows of up to two panels; 32 registers (AVX-512) or 16. */
#if VECTOR_BITS == 512
enum { VECTOR_BYTES = 64, GROUP = 8 };
#else
enum { VECTOR_BYTES = 32, GROUP = 3 };
#endif
enum {
    LANES = VECTOR_BYTES / sizeof(double),
    PANEL = COLUMNS_MULTIPLE,
    BLOCK = 192 /* side of blocks that stay in the level-2 cache while they are used twice */
};

typedef double vector __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));

/* sums(i, :) += sum_j a(i, j) V(j, :) for `group` rows i and `vectors` vectors of columns, which
 * are compile-time constants; a(i, j) is at a[i * down + j * across]. */
INLINE void multiply_some(const double *a, long down, long across, long length, const double *V,
                          double *sums, long width, const int group, const int vectors) {
    vector sum[GROUP][2 * PANEL / LANES];
    for (int i = 0; i < group; i++)
        for (int v = 0; v < vectors; v++) sum[i][v] = (vector){0};
    for (long j = 0; j < length; j++)
        for (int i = 0; i < group; i++)
            for (int v = 0; v < vectors; v++)
                sum[i][v] += a[i * down + j * across] * ((const vector *)(V + j * width))[v];
    for (int i = 0; i < group; i++)
        for (int v = 0; v < vectors; v++) ((vector *)(sums + i * width))[v] += sum[i][v];
}

/* The same for any number of rows, and `vectors` vectors of columns. */
INLINE void multiply_rows(const double *a, long down, long across, long rows, long length,
                          const double *V, double *sums, long width, const int vectors) {
    long i = 0;
    for (; i + GROUP <= rows; i += GROUP)
        multiply_some(a + i * down, down, across, length, V, sums + i * width, width, GROUP, vectors);
    for (; i < rows; i++)
        multiply_some(a + i * down, down, across, length, V, sums + i * width, width, 1, vectors);
}

static void multiply(const double *a, long down, long across, long rows, long length,
                     const double *V, double *sums, long width) {
    long c = 0;
    for (; c + 2 * PANEL <= width; c += 2 * PANEL)
        multiply_rows(a, down, across, rows, length, V + c, sums + c, width, 2 * PANEL / LANES);
    if (c < width)
        multiply_rows(a, down, across, rows, length, V + c, sums + c, width, PANEL / LANES);
}

/* Adds the products with the tiles first, first + step, ... to sums. sums and V are size x width,
 * and width is a multiple of COLUMNS_MULTIPLE. tiles: n_tiles squares of `side`. places: the strip
 * of rows and the strip of columns of each tile. */
int NAME(const double *tiles, const long *places, const double *V, double *sums, long n_tiles,
         long side, long size, long width, long first, long step) {
    for (long t = first; t < n_tiles; t += step) {
        const long top = places[2 * t] * side, left = places[2 * t + 1] * side;
        const long rows = size - top < side ? size - top : side;
        const long columns = size - left < side ? size - left : side;
        for (long i = 0; i < rows; i += BLOCK)
            for (long j = 0; j < columns; j += BLOCK) {
                const double *block = tiles + (t * side + i) * side + j;
                const long m = rows - i < BLOCK ? rows - i : BLOCK;
                const long n = columns - j < BLOCK ? columns - j : BLOCK;
                const long row = (top + i) * width, column = (left + j) * width;
                multiply(block, side, 1, m, n, V + column, sums + row, width);
                if (top != left) multiply(block, 1, side, n, m, V + row, sums + column, width);
            }
    }
    return 0;
}
