/* Moves and merges that raise the information of a partition (solvers/discrete_cut.py):
 *
 *     sum_c f(A_c, M_c) + g(B, Q),    f(a, m) = a log(a / m^2),    g(b, q) = b log(b / q),
 *
 * with A_c the weight inside cluster c, M_c its mass, B the weight between clusters and
 * Q = (sum_c M_c)^2 - sum_c M_c^2. Graphs are symmetric rows of edges without a diagonal. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

#define NOTHING 1e-12 /* weights and masses below this count as 0 */
#define TINY 1e-300

static double inside_term(double a, double m) {
    return a <= NOTHING || m <= NOTHING ? 0.0 : a * (log(a) - 2.0 * log(m));
}

static double ratio(double b, double q) { return fmax(b, TINY) / fmax(q, TINY); }

static double between_term(double b, double q) { return b * log(ratio(b, q)); }

typedef struct {
    double *inside, *mass, *link, *per_link, *per_mass, *term; /* term: f(A_c, M_c) */
    long *size, *touched;
    double between, pairs; /* B, Q */
} clusters;

static void free_clusters(clusters *c) {
    free(c->inside), free(c->mass), free(c->link), free(c->per_link), free(c->per_mass);
    free(c->term), free(c->size), free(c->touched);
}

/* Computes the sums over each cluster; returns 0 if there is not enough memory. */
static int sum_clusters(clusters *c, const long *starts, const int *ends, const float *weights,
                        const double *mass, const long *labels, long n, long k, double outside) {
    memset(c, 0, sizeof(clusters));
    c->inside = calloc(k, sizeof(double)), c->mass = calloc(k, sizeof(double));
    c->link = calloc(k, sizeof(double)), c->per_link = calloc(k, sizeof(double));
    c->per_mass = calloc(k, sizeof(double)), c->term = calloc(k, sizeof(double));
    c->size = calloc(k, sizeof(long)), c->touched = calloc(k, sizeof(long));
    if (!c->inside || !c->mass || !c->link || !c->per_link || !c->per_mass || !c->term ||
        !c->size || !c->touched)
        return 0;
    double total = outside, all = 0, squares = 0, own = 0;
    for (long i = 0; i < n; i++) {
        const long l = labels[i];
        c->mass[l] += mass[i], c->size[l]++;
        for (long e = starts[i]; e < starts[i + 1]; e++) {
            total += weights[e];
            if (labels[ends[e]] == l) c->inside[l] += weights[e];
        }
    }
    for (long l = 0; l < k; l++) {
        all += c->mass[l], squares += c->mass[l] * c->mass[l], own += c->inside[l];
        c->term[l] = inside_term(c->inside[l], c->mass[l]);
    }
    c->between = total - own, c->pairs = all * all - squares;
    return 1;
}

/* Sets the first-order gain of a move to cluster l, per weight of links and per mass. */
static void set_rates(clusters *c, long l, double rate, double log_rate) {
    const double a = c->inside[l], m = c->mass[l];
    c->per_link[l] = -log_rate - log(fmax(m, TINY)), c->per_mass[l] = 0.0;
    if (c->size[l] && a > NOTHING)
        c->per_link[l] = log(a) - 2.0 * log(m) - log_rate, c->per_mass[l] = a / m - rate * m;
}

/* Puts the clusters that vertex i has edges to into touched, and the weight of these edges into
 * link; returns the number of clusters. */
static long links_of(clusters *c, const long *starts, const int *ends, const float *weights,
                     const long *labels, long i) {
    long count = 0;
    for (long e = starts[i]; e < starts[i + 1]; e++) {
        const long l = labels[ends[e]];
        if (!(weights[e] > 0)) continue; /* a link of 0 would add the cluster twice */
        if (c->link[l] == 0.0) c->touched[count++] = l;
        c->link[l] += weights[e];
    }
    return count;
}

/* Moves single vertices, in the given order, while that raises the objective, which becomes *score.
 * With keeps, vertices of clusters of one or two stay. outside: the weight between clusters that
 * the graph does not contain. */
int move_vertices(const long *starts, const int *ends, const float *weights, const double *mass,
                  const long *order, long *labels, double *score, long n, long n_starts,
                  long n_edges, long k, long sweeps, int keeps, double outside) {
    clusters c;
    char *active = malloc(n > 0 ? n : 1);
    if (!active ||
        !sum_clusters(&c, starts, ends, weights, mass, labels, n, k, outside)) {
        if (active) free_clusters(&c);
        free(active);
        return NO_MEMORY;
    }
    memset(active, 1, n);
    for (long sweep = 0; sweep < sweeps; sweep++) {
        double rate = ratio(c.between, c.pairs), now = between_term(c.between, c.pairs);
        const double log_rate = log(rate);
        long moved = 0;
        for (long l = 0; l < k; l++) set_rates(&c, l, rate, log_rate);
        for (long q = 0; q < n; q++) {
            const long i = order[q], from = labels[i];
            if (!active[i]) continue;
            active[i] = 0;
            if (keeps && c.size[from] <= 2) continue;
            const long count = links_of(&c, starts, ends, weights, labels, i);
            const double m = mass[i], old = c.link[from];
            double best = -INFINITY;
            long to = -1;
            for (long t = 0; t < count; t++) {
                const long l = c.touched[t];
                const double rough = c.per_link[l] * c.link[l] - m * c.per_mass[l];
                if (l != from && (rough > best || (rough == best && l < to))) best = rough, to = l;
            }
            if (to >= 0) {
                const double new = c.link[to], mf = c.mass[from], mt = c.mass[to];
                const double left = c.inside[from] - 2 * old, joined = c.inside[to] + 2 * new;
                const double between = c.between + 2 * old - 2 * new;
                const double pairs =
                    c.pairs + mf * mf - (mf - m) * (mf - m) + mt * mt - (mt + m) * (mt + m);
                const double of_to = inside_term(joined, mt + m), of_from = inside_term(left, mf - m);
                const double after = between_term(between, pairs);
                const double gain = of_to - c.term[to] + of_from - c.term[from] + after - now;
                if (gain > 1e-9 * m) {
                    c.inside[from] = left, c.mass[from] = mf - m, c.size[from]--;
                    c.term[from] = of_from, c.term[to] = of_to, now = after;
                    if (!c.size[from]) c.inside[from] = c.mass[from] = c.term[from] = 0.0;
                    c.inside[to] = joined, c.mass[to] = mt + m, c.size[to]++;
                    c.between = between, c.pairs = pairs, labels[i] = to, moved++;
                    rate = ratio(between, pairs);
                    set_rates(&c, from, rate, log_rate), set_rates(&c, to, rate, log_rate);
                    for (long e = starts[i]; e < starts[i + 1]; e++)
                        if (weights[e] > 0 && labels[ends[e]] != to) active[ends[e]] = 1;
                }
            }
            for (long t = 0; t < count; t++) c.link[c.touched[t]] = 0.0;
        }
        if (moved * 1000 < n) break;
    }
    *score = between_term(c.between, c.pairs);
    for (long l = 0; l < k; l++) *score += c.term[l];
    free_clusters(&c), free(active);
    return 0;
}

/* Finds for each cluster the one whose merge with it changes the objective best, or -1 if it has no
 * edges to other clusters, and the change. */
int best_merges(const long *starts, const int *ends, const float *weights, const double *mass,
                const long *labels, const long *members, long *partners, double *changes, long n,
                long n_starts, long n_edges, long k) {
    clusters c;
    if (!sum_clusters(&c, starts, ends, weights, mass, labels, n, k, 0.0)) {
        free_clusters(&c);
        return NO_MEMORY;
    }
    const double before = between_term(c.between, c.pairs);
    long place = 0; /* index in members, the vertices sorted by label */
    for (long l = 0; l < k; l++) {
        long count = 0;
        partners[l] = -1, changes[l] = -INFINITY;
        for (long end = place + c.size[l]; place < end; place++) {
            const long i = members[place];
            for (long e = starts[i]; e < starts[i + 1]; e++) {
                const long other = labels[ends[e]];
                if (other == l || !(weights[e] > 0)) continue;
                if (c.link[other] == 0.0) c.touched[count++] = other;
                c.link[other] += weights[e];
            }
        }
        for (long t = 0; t < count; t++) {
            const long o = c.touched[t];
            const double link = 2 * c.link[o], m = c.mass[l], mo = c.mass[o];
            const double change = inside_term(c.inside[l] + c.inside[o] + link, m + mo) -
                                  c.term[l] - c.term[o] +
                                  between_term(c.between - link, c.pairs - 2 * m * mo) - before;
            if (change > changes[l] || (change == changes[l] && o < partners[l]))
                changes[l] = change, partners[l] = o;
            c.link[o] = 0.0;
        }
    }
    free_clusters(&c);
    return 0;
}
