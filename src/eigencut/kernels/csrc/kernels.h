/* Constants that the kernels share with Python, where numpy_kernels.py reads this file: one number
 * to a line. */
#ifndef EIGENCUT_KERNELS_H
#define EIGENCUT_KERNELS_H

#define ROWS_MULTIPLE 60    /* weighted sums: training rows are padded to a multiple of it */
#define PANEL_ROWS 480      /* weighted sums: rows summed in float32, then added in double */
#define MOST_PANEL_ROWS 512 /* the most such rows in C and numpy; the error bound relies on it */
#define COLUMNS_MULTIPLE 8  /* symmetric products: columns of V are padded to a multiple of it */
#define STRIP 32            /* near points: points that a query is compared with at a time */
#define STRIP_BYTES 64      /* near points: alignment of the first strip */
#define CANDIDATES 12       /* near in cells: points that a cell of the grid lists */
#define COORDINATES 16      /* near in graph: columns of points are padded to a multiple of it */
#define POSITION_BITS 15    /* near in cells: mask of a distance's last bits, for an index */

#define INLINE static inline __attribute__((always_inline))

_Static_assert(PANEL_ROWS % ROWS_MULTIPLE == 0 && PANEL_ROWS <= MOST_PANEL_ROWS, "panels");
_Static_assert(CANDIDATES <= POSITION_BITS + 1, "candidates");

enum { NO_MEMORY = 1 }; /* kernels return this instead of 0 if memory is short */

#endif
