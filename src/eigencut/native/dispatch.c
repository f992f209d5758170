/* The form of weighted_sums that is made for the processor it runs on. */

#define ARGUMENTS                                                                             \
    const float *left, const float *right, const float *V, double *sums, long m, long n, long p, \
        long columns

int weighted_sums_plain(ARGUMENTS);

#if defined(__x86_64__)
int weighted_sums_avx2(ARGUMENTS);
int weighted_sums_avx512(ARGUMENTS);
#endif

int weighted_sums(ARGUMENTS) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f"))
        return weighted_sums_avx512(left, right, V, sums, m, n, p, columns);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return weighted_sums_avx2(left, right, V, sums, m, n, p, columns);
#endif
    return weighted_sums_plain(left, right, V, sums, m, n, p, columns);
}
