/* Weighted sums over training rows:  sums(i, c) = sum_j 2^(left_i . right_j) V(j, c).
 *
 * If left_i . right_j are the exponents of a Gaussian, times log2(e), these are the sums that
 * extend eigenvectors to new rows. Compiled once for each width of vectors and precision, with
 * -DVECTOR_BITS=128, 256 or 512, -DREAL=float or double, -DREAL_BITS=32 or 64 and -DNAME=...; it
 * needs no other headers, not even Python's.
 *
 * Nothing of size m x n is stored. For a strip of new rows (one per lane) and a batch of training
 * rows, registers hold the exponents and then the weights, which go to a buffer in the level-1
 * cache. The buffer is then multiplied by V, again in registers. Vectors are explicit, so that
 * speed does not depend on the compiler's vectorizer.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

/* Tiles in registers: accumulators, operands and constants must fit 32 (AVX-512) or 16
 * registers. */
#if VECTOR_BITS == 512
enum { VECTOR_BYTES = 64, VECTORS = 2, BATCH = 6, COLUMNS = 12 };
#elif VECTOR_BITS == 256
enum { VECTOR_BYTES = 32, VECTORS = 2, BATCH = 4, COLUMNS = 6 };
#else
enum { VECTOR_BYTES = 16, VECTORS = 2, BATCH = 4, COLUMNS = 6 };
#endif
enum {
    LANES = VECTOR_BYTES / sizeof(REAL),
    WIDTH = VECTORS * LANES, /* new rows in a strip */
    DEPTH = ROWS_MULTIPLE    /* training rows in the buffer: a multiple of every BATCH */
};

typedef REAL vector __attribute__((vector_size(VECTOR_BYTES)));

/* 2^t for t up to about 0 (0 if it underflows), from t = n + f with |f| <= 1/2. Adding ROUND leaves
 * n in the low bits; they are shifted to the exponent bits and added to the polynomial in f. Bits
 * that are shifted out, and the carry of a negative n, are lost, as with all unsigned numbers.
 * -ffast-math would remove the addition of ROUND. The polynomials interpolate at Chebyshev
 * nodes. */
#if REAL_BITS == 64
typedef unsigned long long bits __attribute__((vector_size(VECTOR_BYTES)));
enum { MANTISSA = 52, DEGREE = 10 };
#define LOWEST (-1022.0)
#define ROUND 0x1.8p52
static const double POLYNOMIAL[] = { /* relative error 2e-15 */
    1.0000000000000007, 0.6931471805599483, 0.24022650695901254, 0.055504108664544756,
    0.00961812911053657, 0.0013333558214738293, 0.00015403526882354606, 1.525266622014565e-05,
    1.3217210256367588e-06, 1.0206977921453389e-07, 6.767963482574983e-09};
#else
typedef unsigned bits __attribute__((vector_size(VECTOR_BYTES)));
enum { MANTISSA = 23, DEGREE = 5 };
#define LOWEST (-126.0f)
#define ROUND 0x1.8p23f
static const float POLYNOMIAL[] = { /* relative error 1e-7 */
    1.0000000754548972f, 0.6931471880262273f, 0.2402210748530968f,
    0.05550357114222094f, 0.009676031918255982f, 0.001339086336353527f};
#endif

INLINE vector exp2_of(vector t) {
    const vector shifted = t + ROUND;
    const vector f = t - (shifted - ROUND);
    vector p = (vector){0} + POLYNOMIAL[DEGREE];
#pragma GCC unroll 16
    for (int i = DEGREE - 1; i >= 0; i--) p = p * f + POLYNOMIAL[i];
    return (vector)(((bits)p + ((bits)shifted << MANTISSA)) & (bits)(t > LOWEST));
}

/* Computes the weights of a strip of new rows and a batch of training rows, from p factors each. */
INLINE void weights_of(const vector *strip, const REAL *right, long p, vector *weights) {
    vector t[BATCH][VECTORS];
    for (int b = 0; b < BATCH; b++)
        for (int v = 0; v < VECTORS; v++) t[b][v] = strip[v] * right[b * p];
    for (long k = 1; k < p; k++)
        for (int b = 0; b < BATCH; b++)
            for (int v = 0; v < VECTORS; v++)
                t[b][v] += strip[k * VECTORS + v] * right[b * p + k];
    for (int b = 0; b < BATCH; b++)
        for (int v = 0; v < VECTORS; v++) weights[b * VECTORS + v] = exp2_of(t[b][v]);
}

/* product[c] += sum_j weights[j] V(j, c) for `columns` columns, a compile-time constant. */
INLINE void multiply_some(const vector *weights, const REAL *V, long stride, const int columns,
                          vector *product) {
    vector sum[COLUMNS][VECTORS];
    for (int c = 0; c < columns; c++)
        for (int v = 0; v < VECTORS; v++) sum[c][v] = product[c * VECTORS + v];
    for (int j = 0; j < DEPTH; j++)
        for (int c = 0; c < columns; c++)
            for (int v = 0; v < VECTORS; v++)
                sum[c][v] += weights[j * VECTORS + v] * V[j * stride + c];
    for (int c = 0; c < columns; c++)
        for (int v = 0; v < VECTORS; v++) product[c * VECTORS + v] = sum[c][v];
}

static void multiply(const vector *weights, const REAL *V, long stride, vector *product) {
    long c = 0;
    for (; c + COLUMNS <= stride; c += COLUMNS)
        multiply_some(weights, V + c, stride, COLUMNS, product + c * VECTORS);
#define REST(r) case r: multiply_some(weights, V + c, stride, r, product + c * VECTORS); break;
    switch (stride - c) {
        REST(1) REST(2) REST(3) REST(4) REST(5)
#if VECTOR_BITS == 512
        REST(6) REST(7) REST(8) REST(9) REST(10) REST(11)
#endif
    }
#undef REST
}

/* Copies the factors of up to WIDTH new rows, one row per lane; other lanes become zero. */
static void fill_strip(const REAL *left, long rows, long p, REAL *strip) {
    if (rows < WIDTH) memset(strip, 0, sizeof(REAL) * WIDTH * p);
    for (long i = 0; i < rows; i++)
        for (long k = 0; k < p; k++) strip[k * WIDTH + i] = left[i * p + k];
}

/* left: m x p. right: n x p, V: n x columns, with n a multiple of ROWS_MULTIPLE (pad both with
 * zeros). sums: m x columns. */
int NAME(const REAL *left, const REAL *right, const REAL *V, double *sums, long m, long p, long n,
         long columns) {
    /* Some systems refuse sizes that are not a multiple of the alignment; these are. */
    REAL *strip = aligned_alloc(VECTOR_BYTES, sizeof(REAL) * WIDTH * p);
    REAL *product = aligned_alloc(VECTOR_BYTES, sizeof(REAL) * WIDTH * columns);
    vector weights[DEPTH * VECTORS];
    if (strip && product) {
        memset(sums, 0, sizeof(double) * m * columns);
        for (long first = 0; first < m; first += WIDTH) {
            const long rows = m - first < WIDTH ? m - first : WIDTH;
            fill_strip(left + first * p, rows, p, strip);
            for (long panel = 0; panel < n; panel += PANEL_ROWS) {
                const long end = n - panel < PANEL_ROWS ? n : panel + PANEL_ROWS;
                memset(product, 0, sizeof(REAL) * WIDTH * columns);
                for (long j = panel; j < end; j += DEPTH) {
                    for (int b = 0; b < DEPTH; b += BATCH)
                        weights_of((vector *)strip, right + (j + b) * p, p, weights + b * VECTORS);
                    multiply(weights, V + j * columns, columns, (vector *)product);
                }
                for (long i = 0; i < rows; i++)
                    for (long c = 0; c < columns; c++)
                        sums[(first + i) * columns + c] += product[c * WIDTH + i];
            }
        }
    }
    const int status = strip && product ? 0 : NO_MEMORY;
    free(strip);
    free(product);
    return status;
}
