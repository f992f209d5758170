/* Adds Z^T Z for rows with r memberships each, in units of a quantum: each pair of landmarks of a
 * row is added once, either above or below the diagonal.
 *
 * nearest: m x r indices of landmarks; indices out of range add nothing. weights: m x r. units: p x
 * p, to which the sums are added. */
#include <math.h>

int membership_sums(const long *nearest, const double *weights, long long *units, long m, long r,
                    long p, double per_unit) {
    for (long i = 0; i < m; i++) {
        const long *landmark = nearest + i * r;
        const double *weight = weights + i * r;
        for (long a = 0; a < r; a++) {
            if (landmark[a] < 0 || landmark[a] >= p) continue;
            for (long b = 0; b <= a; b++) {
                if (landmark[b] < 0 || landmark[b] >= p) continue;
                /* A product that is NaN or too large for an integer adds nothing; sums can wrap. */
                const double product = rint(weight[a] * weight[b] * per_unit);
                if (!(fabs(product) < 9e18)) continue;
                long long *sum = units + landmark[a] * p + landmark[b];
                *sum = (long long)((unsigned long long)*sum + (unsigned long long)(long long)product);
            }
        }
    }
    return 0;
}
