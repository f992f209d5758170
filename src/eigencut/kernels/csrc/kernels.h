/* The constants that the kernels share with Python, which reads this file (layout.py): one number
 * to a line. */
#ifndef EIGENCUT_KERNELS_H
#define EIGENCUT_KERNELS_H

#define ROWS_MULTIPLE 60    /* weighted sums: training rows are padded to a multiple of it */
#define PANEL_ROWS 480      /* training rows summed in float32 before they are added in double */
#define MOST_PANEL_ROWS 512 /* the same in any build, at most: what the error bound counts on */
#define COLUMNS_MULTIPLE 8  /* symmetric products: columns of V are padded to a multiple of it */
#define STRIP 32            /* near points: points that a query meets at a time */
#define STRIP_BYTES 64      /* to a multiple of which the first strip is aligned */
#define CANDIDATES 12       /* near in cells: points that a cell of the grid knows */
#define COORDINATES 16      /* near in graph: columns of points are padded to a multiple of it */
#define POSITION_BITS 15    /* of a distance, which hold the position among the candidates */

#define INLINE static inline __attribute__((always_inline))

_Static_assert(PANEL_ROWS % ROWS_MULTIPLE == 0 && PANEL_ROWS <= MOST_PANEL_ROWS, "panels");
_Static_assert(CANDIDATES <= POSITION_BITS + 1, "candidates");

enum { NO_MEMORY = 1 }; /* what a kernel returns instead of 0 */

#endif
