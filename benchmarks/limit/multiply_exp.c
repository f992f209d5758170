/* The hardware limit of a Gaussian out-of-sample step:  P(i, c) = sum_j 2^-|x_i - y_j|^2 V(j, c).
 *
 * The caller centres the rows and divides them by sigma sqrt(2 / log2(e)), which makes this the
 * Gaussian of the affinity. Compiled with -DREAL=float or -DREAL=double.
 *
 * Nothing of size m x n is stored. A strip of new rows, one row per lane, meets a batch of training
 * rows in registers: exponents by multiply-adds, then the exponential, into a buffer that stays in
 * the first-level cache; the buffer meets V in registers again. Vectors are written out, so that
 * nothing depends on what the compiler finds to vectorize.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Register tiles: accumulators, operands and constants must fit 32 (AVX-512) or 16 registers. */
#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64, VECTORS = 2, BATCH = 6, COLUMNS = 12 };
#elif defined(__AVX__)
enum { VECTOR_BYTES = 32, VECTORS = 2, BATCH = 4, COLUMNS = 6 };
#else
enum { VECTOR_BYTES = 16, VECTORS = 2, BATCH = 4, COLUMNS = 6 };
#endif
enum { LANES = VECTOR_BYTES / sizeof(REAL), WIDTH = VECTORS * LANES, DEPTH = 10 * BATCH };

typedef REAL vector __attribute__((vector_size(VECTOR_BYTES)));

/* 2^t for t <= 0 (0 where that underflows), by t = n + f with |f| <= 1/2. Adding ROUND leaves n in the low bits, from where
 * it is shifted into the exponent of the polynomial in f. -ffast-math would remove that addition. */
#if REAL_BITS == 64
typedef long long bits __attribute__((vector_size(VECTOR_BYTES)));
enum { MANTISSA = 52, DEGREE = 10 };
#define LOWEST (-1022.0)
#define ROUND 0x1.8p52
static const double POLYNOMIAL[] = { /* interpolates at Chebyshev nodes; relative error 2e-15 */
    1.0000000000000007, 0.6931471805599483, 0.24022650695901254, 0.055504108664544756,
    0.00961812911053657, 0.0013333558214738293, 0.00015403526882354606, 1.525266622014565e-05,
    1.3217210256367588e-06, 1.0206977921453389e-07, 6.767963482574983e-09};
#else
typedef int bits __attribute__((vector_size(VECTOR_BYTES)));
enum { MANTISSA = 23, DEGREE = 5 };
#define LOWEST (-126.0f)
#define ROUND 0x1.8p23f
static const float POLYNOMIAL[] = { /* interpolates at Chebyshev nodes; relative error 1e-7 */
    1.0000000754548972f, 0.6931471880262273f, 0.2402210748530968f,
    0.05550357114222094f, 0.009676031918255982f, 0.001339086336353527f};
#endif

#define INLINE static inline __attribute__((always_inline))

INLINE vector exp2_of(vector t) {
    const vector shifted = t + ROUND;
    const vector f = t - (shifted - ROUND);
    vector p = (vector){} + POLYNOMIAL[DEGREE];
#pragma GCC unroll 16
    for (int i = DEGREE - 1; i >= 0; i--) p = p * f + POLYNOMIAL[i];
    return (vector)(((bits)p + ((bits)shifted << MANTISSA)) & (t > LOWEST));
}

/* 2^-|x - y|^2 for a strip of new rows and a batch of training rows [-|y|^2, 2y]. */
INLINE void weights_of(const vector *strip, const REAL *train, long d, vector *weights) {
    vector t[BATCH][VECTORS];
    for (int b = 0; b < BATCH; b++)
        for (int v = 0; v < VECTORS; v++) t[b][v] = strip[v] + train[b * (d + 1)];
    for (long k = 1; k <= d; k++)
        for (int b = 0; b < BATCH; b++)
            for (int v = 0; v < VECTORS; v++)
                t[b][v] += strip[k * VECTORS + v] * train[b * (d + 1) + k];
    for (int b = 0; b < BATCH; b++)
        for (int v = 0; v < VECTORS; v++) weights[b * VECTORS + v] = exp2_of(t[b][v]);
}

/* product[c] += sum_j weights[j] V(j, c) for `columns` columns, a number the compiler knows. */
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
#if defined(__AVX512F__)
        REST(6) REST(7) REST(8) REST(9) REST(10) REST(11)
#endif
    }
#undef REST
}

typedef struct {
    const REAL *X, *train, *V; /* m x d; padded n x (1 + d); padded n x columns */
    REAL *P;                   /* m x columns */
    long m, padded_n, d, columns;
    atomic_long *next; /* the first row that no thread has taken */
} job;

static void strip_of(const job *work, long first, long rows, REAL *strip) {
    memset(strip, 0, sizeof(REAL) * WIDTH * (work->d + 1));
    for (long i = 0; i < rows; i++) {
        const REAL *x = work->X + (first + i) * work->d;
        for (long k = 0; k < work->d; k++) {
            strip[(k + 1) * WIDTH + i] = x[k];
            strip[i] -= x[k] * x[k];
        }
    }
}

static void *run(void *argument) {
    const job *work = argument;
    const long d = work->d, columns = work->columns;
    REAL *strip = aligned_alloc(64, sizeof(REAL) * WIDTH * (d + 1));
    REAL *product = aligned_alloc(64, sizeof(REAL) * WIDTH * columns);
    vector weights[DEPTH * VECTORS];
    for (;;) {
        const long first = atomic_fetch_add(work->next, WIDTH);
        if (first >= work->m) break;
        const long rows = work->m - first < WIDTH ? work->m - first : WIDTH;
        strip_of(work, first, rows, strip);
        memset(product, 0, sizeof(REAL) * WIDTH * columns);
        for (long j = 0; j < work->padded_n; j += DEPTH) {
            for (int b = 0; b < DEPTH; b += BATCH)
                weights_of((vector *)strip, work->train + (j + b) * (d + 1), d,
                           weights + b * VECTORS);
            multiply(weights, work->V + j * columns, columns, (vector *)product);
        }
        for (long i = 0; i < rows; i++)
            for (long c = 0; c < columns; c++)
                work->P[(first + i) * columns + c] = product[c * WIDTH + i];
    }
    free(strip);
    free(product);
    return NULL;
}

/* How many training rows the arrays must be padded to a multiple of. */
long padding(void) { return DEPTH; }

/* P = 2^-|X - Y|^2 V in `threads` threads. Padded training rows are [-huge, 0 ...] with V = 0. */
void multiply_exp(const REAL *X, const REAL *train, const REAL *V, REAL *P, long m, long padded_n,
                  long d, long columns, int threads) {
    atomic_long next = 0;
    job work = {X, train, V, P, m, padded_n, d, columns, &next};
    pthread_t others[64];
    if (threads > 64) threads = 64;
    for (int i = 1; i < threads; i++) pthread_create(&others[i], NULL, run, &work);
    run(&work);
    for (int i = 1; i < threads; i++) pthread_join(others[i], NULL);
}
