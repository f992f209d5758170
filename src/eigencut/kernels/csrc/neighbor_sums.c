/* Weighted sums over the neighbours of new rows in a graph of nearest neighbours.
 *
 * A row has edges to its k nearest vertices, and to vertices that would have the row among their
 * neighbours; those are sought among the reverse neighbours of the row's nearest vertex. The weight
 * of row x and vertex y is  share exp(-|x - y|^2 / (2 sigma(x) sigma(y))),  as EdgeWeight in
 * numpy_kernels.py computes it. Sums are divided by the largest exponential of the row, whose
 * logarithm is returned.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

typedef struct {
    long n, d, k, columns, n_edges;
    const double *vertices, *radii, *weighted; /* n x d, n, n x columns */
    const int *starts, *ends, *reverse;        /* the reverse neighbours of each vertex */
    double slack, scale, least, most;          /* scale 0: all exponentials are 1 */
    int is_mutual;
} graph;

typedef struct {
    long vertex;
    double share, exponent;
} edge;

static double width(const graph *g, double radius) {
    return g->scale * (radius < g->least ? g->least : radius > g->most ? g->most : radius);
}

static edge edge_to(const graph *g, long y, double distance, double r_x) {
    const int in_x = distance <= r_x * g->slack, in_y = distance <= g->radii[y] * g->slack;
    edge e = {y, g->is_mutual ? in_x && in_y : 0.5 * (in_x + in_y), 0.0};
    if (g->scale > 0)
        e.exponent = -(distance * distance) / (2 * width(g, r_x) * width(g, g->radii[y]));
    return e;
}

/* Indices out of range stand for unknown vertices. */
static int is_vertex(const graph *g, long y) { return y >= 0 && y < g->n; }

/* Whether a vertex at this distance is among the k nearest, which are up to r_x away. A distance
 * below r_x does not tell: an approximate search can miss near vertices. */
static int is_near(const graph *g, const long *near, long y, double distance, double r_x) {
    if (distance > r_x * g->slack) return 0;
    for (long j = 0; j < g->k; j++)
        if (near[j] == y) return 1;
    return 0;
}

/* Finds the edges of a row with a positive share; returns their number. */
static long edges_of(const graph *g, const double *x, const double *distances, const long *near,
                     edge *edges) {
    const double r_x = distances[g->k - 1];
    long count = 0;
    for (long j = 0; j < g->k; j++) {
        if (!is_vertex(g, near[j])) continue;
        edges[count] = edge_to(g, near[j], distances[j], r_x);
        count += edges[count].share > 0;
    }
    if (!is_vertex(g, near[0])) return count;
    const long start = g->starts[near[0]], end = g->ends[near[0]];
    for (long e = start < 0 ? 0 : start; e < end && e < g->n_edges; e++) {
        if (!is_vertex(g, g->reverse[e])) continue;
        const double *y = g->vertices + g->reverse[e] * g->d;
        double squared = 0;
        for (long f = 0; f < g->d; f++) squared += (x[f] - y[f]) * (x[f] - y[f]);
        const double distance = sqrt(squared);
        if (is_near(g, near, g->reverse[e], distance, r_x)) continue;
        edges[count] = edge_to(g, g->reverse[e], distance, r_x);
        count += edges[count].share > 0;
    }
    return count;
}

/* rows: m x d. distances, numbers: m x k, the nearest first. most_edges: the largest number of
 * edges of a row. product: m x columns. largest: m. If all weights of a row are 0, largest is minus
 * infinity and the product has the values of its nearest vertex, or 0 if that is unknown. */
int neighbor_sums(const double *rows, const double *distances, const long *numbers,
                      const double *vertices, const double *radii, const int *starts,
                      const int *ends, const int *reverse, const double *weighted, double *product,
                      double *largest, long m, long d, long k, long columns, long n, long n_edges,
                      double slack, double scale, double least, double most, int is_mutual,
                      long most_edges) {
    const graph g = {n,      d,    k,       columns, n_edges, vertices, radii, weighted,
                     starts, ends, reverse, slack,   scale,   least,    most,  is_mutual};
    edge *edges = malloc(sizeof(edge) * (most_edges + 1));
    if (!edges) return NO_MEMORY;
    for (long i = 0; i < m; i++) {
        const long *near = numbers + i * k;
        const long count = edges_of(&g, rows + i * d, distances + i * k, near, edges);
        double *sums = product + i * columns;
        largest[i] = -INFINITY;
        for (long e = 0; e < count; e++)
            if (edges[e].exponent > largest[i]) largest[i] = edges[e].exponent;
        memset(sums, 0, sizeof(double) * columns);
        if (largest[i] == -INFINITY) {
            if (is_vertex(&g, near[0]))
                memcpy(sums, weighted + near[0] * columns, sizeof(double) * columns);
            continue;
        }
        for (long e = 0; e < count; e++) {
            const double weight = edges[e].share * exp(edges[e].exponent - largest[i]);
            const double *values = weighted + edges[e].vertex * columns;
            for (long c = 0; c < columns; c++) sums[c] += weight * values[c];
        }
    }
    free(edges);
    return 0;
}
