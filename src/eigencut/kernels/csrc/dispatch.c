/* Chooses, at run time, the compiled form of each kernel that fits the vectors of the processor,
 * and holds the checksum that Python compares when it loads the library. */
#if defined(__x86_64__)
#include <cpuid.h>
#endif

const unsigned eigencut_abi = ABI; /* the checksum of the sources: see abi_of in compiling.py */

#define SUMS_ARGUMENTS                                                                           \
    const float *left, const float *right, const float *V, double *sums, long m, long p, long n, \
        long columns
#define SUMS_GIVEN left, right, V, sums, m, p, n, columns
#define PRODUCT_ARGUMENTS                                                                        \
    const double *tiles, const long *places, const double *V, double *sums, long n_tiles,        \
        long side, long size, long width, long first, long step
#define PRODUCT_GIVEN tiles, places, V, sums, n_tiles, side, size, width, first, step
#define NEAR_ARGUMENTS                                                                           \
    const float *left, const float *right, const int *visits, const float *slack, int *numbers,  \
        int *counts, long m, long p, long n_visits, long room, long k
#define NEAR_GIVEN left, right, visits, slack, numbers, counts, m, p, n_visits, room, k
#define GRAPH_ARGUMENTS                                                                          \
    const float *rows, const float *points, const int *graph, const int *starts, int *found,     \
        long m, long d, long n, long g, long s, long k, long expanded, long rounds
#define GRAPH_GIVEN rows, points, graph, starts, found, m, d, n, g, s, k, expanded, rounds

int weighted_sums_128(SUMS_ARGUMENTS);
int near_in_graph_128(GRAPH_ARGUMENTS);

#if defined(__x86_64__)
int weighted_sums_256(SUMS_ARGUMENTS);
int weighted_sums_512(SUMS_ARGUMENTS);
int symmetric_product_256(PRODUCT_ARGUMENTS);
int symmetric_product_512(PRODUCT_ARGUMENTS);
int near_points_256(NEAR_ARGUMENTS);
int near_points_512(NEAR_ARGUMENTS);
int near_in_graph_256(GRAPH_ARGUMENTS);
int near_in_graph_512(GRAPH_ARGUMENTS);

#if defined(ANY_VECTOR_BITS) /* the sanitizers set the width of vectors: see compiling.py */
int vector_bits = 512;

static int has_avx512(void) { return vector_bits >= 512; }

static int has_avx2(void) { return vector_bits >= 256; }
#else
/* Whether the processor has AVX and FMA, and the system saves the wanted registers. This does not
 * use __builtin_cpu_supports, which some compilers' libraries lack. */
static int has_registers(unsigned wanted) {
    unsigned a, b, c, d, kept, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_FMA)) return 0;
    __asm__("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
    return (kept & wanted) == wanted;
}

static int has_instructions(unsigned wanted) {
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & wanted);
}

static int has_avx512(void) { return has_registers(0xe6) && has_instructions(bit_AVX512F); }

static int has_avx2(void) { return has_registers(0x6) && has_instructions(bit_AVX2); }
#endif

int weighted_sums(SUMS_ARGUMENTS) {
    if (has_avx512()) return weighted_sums_512(SUMS_GIVEN);
    if (has_avx2()) return weighted_sums_256(SUMS_GIVEN);
    return weighted_sums_128(SUMS_GIVEN);
}

int near_in_graph(GRAPH_ARGUMENTS) {
    if (has_avx512()) return near_in_graph_512(GRAPH_GIVEN);
    if (has_avx2()) return near_in_graph_256(GRAPH_GIVEN);
    return near_in_graph_128(GRAPH_GIVEN);
}

/* Whether symmetric_product and near_points can be called, which have no plain form. */
int has_wide_vectors(void) { return has_avx512() || has_avx2(); }

int symmetric_product(PRODUCT_ARGUMENTS) {
    return has_avx512() ? symmetric_product_512(PRODUCT_GIVEN)
                        : symmetric_product_256(PRODUCT_GIVEN);
}

int near_points(NEAR_ARGUMENTS) {
    return has_avx512() ? near_points_512(NEAR_GIVEN) : near_points_256(NEAR_GIVEN);
}
#else
int weighted_sums(SUMS_ARGUMENTS) { return weighted_sums_128(SUMS_GIVEN); }

int near_in_graph(GRAPH_ARGUMENTS) { return near_in_graph_128(GRAPH_GIVEN); }

int has_wide_vectors(void) { return 0; }
#endif
