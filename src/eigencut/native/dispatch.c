/* The forms of the kernels that are made for the processor they run on. */

#define SUMS_ARGUMENTS                                                                        \
    const float *left, const float *right, const float *V, double *sums, long m, long n, long p, \
        long columns
#define PRODUCT_ARGUMENTS                                                                     \
    const double *tiles, const long *places, long n_tiles, long first, long step, long side,  \
        long size, const double *V, double *sums, long width

int weighted_sums_plain(SUMS_ARGUMENTS);

#if defined(__x86_64__)
int weighted_sums_avx2(SUMS_ARGUMENTS);
int weighted_sums_avx512(SUMS_ARGUMENTS);
void symmetric_product_avx2(PRODUCT_ARGUMENTS);
void symmetric_product_avx512(PRODUCT_ARGUMENTS);

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

/* Returns 0, or 1 if there is no form for this processor. */
int symmetric_product(PRODUCT_ARGUMENTS) {
#if defined(__x86_64__)
    if (has_avx512())
        symmetric_product_avx512(tiles, places, n_tiles, first, step, side, size, V, sums, width);
    else if (has_avx2())
        symmetric_product_avx2(tiles, places, n_tiles, first, step, side, size, V, sums, width);
    else
        return 1;
    return 0;
#else
    return 1;
#endif
}
