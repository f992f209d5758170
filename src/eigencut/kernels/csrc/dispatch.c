/* The forms of the kernels that are made for the processor they run on. */

#define SUMS_ARGUMENTS                                                                        \
    const float *left, const float *right, const float *V, double *sums, long m, long n, long p, \
        long columns
#define PRODUCT_ARGUMENTS                                                                     \
    const double *tiles, const long *places, long n_tiles, long first, long step, long side,  \
        long size, const double *V, double *sums, long width
#define NEAR_ARGUMENTS                                                                        \
    const float *left, const float *right, const int *visits, const float *slack, long m,     \
        long n_visits, long p, long k, long room, int *numbers, int *counts
#define NEAR_GIVEN left, right, visits, slack, m, n_visits, p, k, room, numbers, counts

enum { NO_FORM = 2 }; /* returned where a kernel was not made for the processor */

int weighted_sums_plain(SUMS_ARGUMENTS);

#if defined(__x86_64__)
int weighted_sums_avx2(SUMS_ARGUMENTS);
int weighted_sums_avx512(SUMS_ARGUMENTS);
void symmetric_product_avx2(PRODUCT_ARGUMENTS);
void symmetric_product_avx512(PRODUCT_ARGUMENTS);
int near_points_avx2(NEAR_ARGUMENTS);
int near_points_avx512(NEAR_ARGUMENTS);

static int has_avx512(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f");
}

static int has_avx2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

int weighted_sums(SUMS_ARGUMENTS) {
#if defined(__x86_64__)
    if (has_avx512()) return weighted_sums_avx512(left, right, V, sums, m, n, p, columns);
    if (has_avx2()) return weighted_sums_avx2(left, right, V, sums, m, n, p, columns);
#endif
    return weighted_sums_plain(left, right, V, sums, m, n, p, columns);
}

int symmetric_product(PRODUCT_ARGUMENTS) {
#if defined(__x86_64__)
    if (has_avx512())
        symmetric_product_avx512(tiles, places, n_tiles, first, step, side, size, V, sums, width);
    else if (has_avx2())
        symmetric_product_avx2(tiles, places, n_tiles, first, step, side, size, V, sums, width);
    else
        return NO_FORM;
    return 0;
#else
    return NO_FORM;
#endif
}

int near_points(NEAR_ARGUMENTS) {
#if defined(__x86_64__)
    if (has_avx512()) return near_points_avx512(NEAR_GIVEN);
    if (has_avx2()) return near_points_avx2(NEAR_GIVEN);
#endif
    return NO_FORM;
}
