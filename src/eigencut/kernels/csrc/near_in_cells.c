/* The nearest points of rows, among the candidates of the cell of a grid that each row lies in. */
#include <math.h>
#include <string.h>

#include "kernels.h"

/* The cell of a row, or -1 if it lies outside of the grid. */
static long cell_of(const double *x, long d, const double *low, const double *scale,
                    const long *shape) {
    long cell = 0;
    for (long f = 0; f < d; f++) {
        const double place = floor((x[f] - low[f]) * scale[f]);
        if (!(place >= 0 && place < (double)shape[f])) return -1;
        cell = cell * shape[f] + (long)place;
    }
    return cell;
}

/* TIE: squared distances that differ by a smaller share count as equal. UNKNOWN: the squared
 * distance of an index out of range. */
#define TIE 1e-12
#define UNKNOWN 1e300

/* rows: m x d. points: n x d. candidates: indices of points for each cell, ascending. is_known:
 * whether the candidates of a cell are enough. told[i] becomes 1 if the r nearest points of row i
 * are certain, and 0 if rounding may decide. nearest: m x r, then has their indices, ascending. */
int near_in_cells(const double *rows, const double *low, const double *scale, const long *shape,
                  const int *candidates, const unsigned char *is_known, const double *points,
                  long *nearest, unsigned char *told, long m, long d, long r, long n) {
    for (long i = 0; i < m; i++) {
        const double *x = rows + i * d;
        const long cell = cell_of(x, d, low, scale, shape);
        told[i] = cell >= 0 && is_known[cell];
        if (!told[i]) continue;
        const int *mine = candidates + cell * CANDIDATES;
        double keys[CANDIDATES];
        for (int c = 0; c < CANDIDATES; c++) {
            const int is_point = mine[c] >= 0 && mine[c] < n;
            const double *y = points + (is_point ? mine[c] : 0) * d;
            double squared = is_point ? 0 : UNKNOWN;
            for (long f = 0; f < d; f++) squared += (y[f] - x[f]) * (y[f] - x[f]);
            /* The last bits of a distance are replaced by the index, so that no two are equal. */
            long long key;
            memcpy(&key, &squared, sizeof key);
            key = (key & ~(long long)POSITION_BITS) | c;
            memcpy(&keys[c], &key, sizeof key);
        }
        long found[CANDIDATES], n_found = 0;
        double last = 0, following = 2 * UNKNOWN;
        for (int c = 0; c < CANDIDATES; c++) {
            long n_nearer = 0;
            for (int other = 0; other < CANDIDATES; other++) n_nearer += keys[other] < keys[c];
            found[n_found] = mine[c];
            n_found += n_nearer < r;
            if (n_nearer < r && keys[c] > last) last = keys[c];
            if (n_nearer >= r && keys[c] < following) following = keys[c];
        }
        told[i] = last < UNKNOWN / 2 && following > last * (1 + TIE);
        memcpy(nearest + i * r, found, sizeof(long) * r);
    }
    return 0;
}
