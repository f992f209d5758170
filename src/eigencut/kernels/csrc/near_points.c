/* Finds points that can be among the k nearest of a query.
 *
 * The score  left_i . right_j  orders the points j as their distance to query i does, up to an
 * error. A query keeps the points with scores up to the k-th smallest so far plus `slack`, sorted
 * by score. With points in random order, few are ever kept. Compiled for AVX-512 and AVX2, with
 * -DVECTOR_BITS=512 or 256 and -DNAME=...
 */
#include <immintrin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

/* Scores in registers: QUERIES queries by VECTORS vectors of points; 32 registers or 16. */
#if VECTOR_BITS == 512
typedef __m512 vector;
enum { QUERIES = 6 };
#if defined(__AVX512F__)
#define SPREAD(x) _mm512_set1_ps(x)
#define NOT_ABOVE(a, b) _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ)
#else /* for sanitizers on a processor without these instructions */
#define SPREAD(x) ((vector){0} + (x))
INLINE unsigned not_above(const vector *a, const vector *b) {
    unsigned lanes = 0;
    for (int lane = 0; lane < 16; lane++) lanes |= (unsigned)((*a)[lane] <= (*b)[lane]) << lane;
    return lanes;
}
#define NOT_ABOVE(a, b) not_above(&(a), &(b))
#endif
#else
typedef __m256 vector;
enum { QUERIES = 2 };
#define SPREAD(x) _mm256_set1_ps(x)
#define NOT_ABOVE(a, b) (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LE_OQ))
#endif
enum {
    LANES = sizeof(vector) / sizeof(float),
    VECTORS = STRIP / LANES,
    BLOCK_BYTES = 1 << 19 /* points for all queries at a time, which fit into the level-2 cache */
};

typedef struct {
    long k, room;
    float *scores, *limits; /* queries x room, queries */
    const float *slack;
    int *numbers, *counts;
} kept;

/* A query that runs out of room keeps nothing from then on. */
static void keep(kept *all, long query, float score, int number) {
    float *scores = all->scores + query * all->room;
    int *numbers = all->numbers + query * all->room, count = all->counts[query];
    int place = count++;
    for (; place > 0 && scores[place - 1] > score; place--) {
        scores[place] = scores[place - 1];
        numbers[place] = numbers[place - 1];
    }
    scores[place] = score;
    numbers[place] = number;
    if (count >= all->k) {
        const float limit = scores[all->k - 1] + all->slack[query];
        while (scores[count - 1] > limit) count--;
        all->limits[query] = count < all->room ? limit : -INFINITY;
    }
    all->counts[query] = count < all->room ? count : 0;
}

/* Compares `queries` queries (a compile-time constant) with a strip of points. */
INLINE void meet(kept *all, const float *left, const float *right, long p, long query, long first,
                 const int queries) {
    vector score[QUERIES][VECTORS];
    for (int q = 0; q < queries; q++)
        for (int v = 0; v < VECTORS; v++) score[q][v] = SPREAD(0.0f);
    for (long f = 0; f < p; f++)
        for (int q = 0; q < queries; q++)
            for (int v = 0; v < VECTORS; v++)
                score[q][v] += left[q * p + f] * ((const vector *)(right + f * STRIP))[v];
    for (int q = 0; q < queries; q++) {
        const vector limit = SPREAD(all->limits[query + q]);
        for (int v = 0; v < VECTORS; v++) {
            const unsigned lanes = NOT_ABOVE(score[q][v], limit);
            if (__builtin_expect(lanes != 0, 0)) {
                float scores[LANES];
                memcpy(scores, &score[q][v], sizeof scores);
                for (unsigned rest = lanes; rest; rest &= rest - 1) {
                    const int lane = __builtin_ctz(rest);
                    if (scores[lane] <= all->limits[query + q]) /* keep() may have lowered it */
                        keep(all, query + q, scores[lane], (int)(first + v * LANES + lane));
                }
            }
        }
    }
}

/* left: m x p. right: strips of STRIP points, p x STRIP each, aligned to STRIP_BYTES; padding has
 * an infinite score. visits: the strips to look at, in this order. slack: m. numbers: m x room, of
 * which the first counts[i] are set, to lane + STRIP * strip; counts[i] is 0 if `room` (> k) is too
 * small. */
int NAME(const float *left, const float *right, const int *visits, const float *slack, int *numbers,
         int *counts, long m, long p, long n_visits, long room, long k) {
    float *memory = malloc(sizeof(float) * (m * room + m));
    if (!memory) return NO_MEMORY;
    kept all = {k, room, memory, memory + m * room, slack, numbers, counts};
    for (long i = 0; i < m; i++) {
        all.limits[i] = 3e38f;
        counts[i] = 0;
    }
    const long strip_size = p * STRIP;
    long block = BLOCK_BYTES / (long)(strip_size * sizeof(float));
    if (block < 1) block = 1;
    for (long start = 0; start < n_visits; start += block) {
        const long end = n_visits - start < block ? n_visits : start + block;
        long i = 0;
        for (; i + QUERIES <= m; i += QUERIES)
            for (long v = start; v < end; v++)
                meet(&all, left + i * p, right + visits[v] * strip_size, p, i, visits[v] * STRIP,
                     QUERIES);
        for (; i < m; i++)
            for (long v = start; v < end; v++)
                meet(&all, left + i * p, right + visits[v] * strip_size, p, i, visits[v] * STRIP, 1);
    }
    free(memory);
    return 0;
}
