/* Searches the nearest points of queries along a graph of points: neighbours of near points are
 * near.
 *
 * A query keeps the k nearest of the points that it has looked at, by distance and then index. In
 * each round it looks at the neighbours of the nearest ones, until there are no new ones. Compiled
 * for each width of vectors, with -DNAME=...; the order of summation is the same in all of them. */
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

typedef float vector __attribute__((vector_size(4 * COORDINATES), aligned(4)));

typedef struct {
    float *distances; /* squared, ascending */
    int *numbers;
    unsigned char *is_expanded;
    long count, room;
} kept;

static float squared(const float *x, const float *y, long d) {
    vector sums[2] = {{0}, {0}};
    long f = 0;
    for (; f + COORDINATES < d; f += 2 * COORDINATES)
        for (int part = 0; part < 2; part++) {
            const vector a = *(const vector *)(x + f + part * COORDINATES);
            const vector b = *(const vector *)(y + f + part * COORDINATES);
            sums[part] += (a - b) * (a - b);
        }
    if (f < d) {
        const vector difference = *(const vector *)(x + f) - *(const vector *)(y + f);
        sums[0] += difference * difference;
    }
    sums[0] += sums[1];
    for (int width = COORDINATES / 2; width; width /= 2)
        for (int lane = 0; lane < width; lane++) sums[0][lane] += sums[0][lane + width];
    return sums[0][0];
}

static void keep(kept *all, float distance, int number) {
    long place = all->count;
    if (place == all->room) {
        const float last = all->distances[place - 1];
        if (!(distance < last || (distance == last && number < all->numbers[place - 1]))) return;
        place--;
    } else
        all->count++;
    for (; place > 0; place--) {
        const float before = all->distances[place - 1];
        if (before < distance || (before == distance && all->numbers[place - 1] < number)) break;
        all->distances[place] = before;
        all->numbers[place] = all->numbers[place - 1];
        all->is_expanded[place] = all->is_expanded[place - 1];
    }
    all->distances[place] = distance, all->numbers[place] = number, all->is_expanded[place] = 0;
}

/* Looks at the points with valid indices that the query has not looked at before. */
static void meet(kept *all, const float *x, const float *points, const int *numbers, long count,
                 int *met, int query, int *new, long n, long d) {
    long n_new = 0;
    for (long i = 0; i < count; i++) {
        const int number = numbers[i];
        if (number < 0 || number >= n || met[number] == query) continue;
        met[number] = query, new[n_new++] = number;
        for (long f = 0; f < d && f < 8 * COORDINATES; f += COORDINATES)
            __builtin_prefetch(points + number * d + f);
    }
    for (long i = 0; i < n_new; i++) keep(all, squared(x, points + new[i] * d, d), new[i]);
}

/* rows: m x d. points: n x d; d is a multiple of COORDINATES. graph: n x g and starts: m x s,
 * indices of points; those out of range are ignored. found: m x k, filled up with -1. */
int NAME(const float *rows, const float *points, const int *graph, const int *starts, int *found,
         long m, long d, long n, long g, long s, long k, long expanded, long rounds) {
    if (expanded > k) expanded = k;
    const long most = g > s ? g : s;
    int *met = malloc(sizeof(int) * (n + most + k + expanded + 1));
    float *distances = malloc(sizeof(float) * (k + 1));
    unsigned char *is_expanded = malloc(k + 1);
    if (!met || !distances || !is_expanded) {
        free(met), free(distances), free(is_expanded);
        return NO_MEMORY;
    }
    int *new = met + n, *numbers = new + most, *next = numbers + k;
    for (long i = 0; i < n; i++) met[i] = -1;
    for (long i = 0; i < m; i++) {
        kept all = {distances, numbers, is_expanded, 0, k};
        const float *x = rows + i * d;
        meet(&all, x, points, starts + i * s, s, met, (int)i, new, n, d);
        for (long round = 0; round < rounds; round++) {
            long n_next = 0;
            for (long p = 0; p < all.count && p < expanded; p++)
                if (!is_expanded[p]) next[n_next++] = numbers[p], is_expanded[p] = 1;
            if (!n_next) break;
            for (long p = 0; p < n_next; p++)
                meet(&all, x, points, graph + next[p] * g, g, met, (int)i, new, n, d);
        }
        memcpy(found + i * k, numbers, sizeof(int) * all.count);
        for (long p = all.count; p < k; p++) found[i * k + p] = -1;
    }
    free(met), free(distances), free(is_expanded);
    return 0;
}
