// SPDX-License-Identifier: BSD-3-Clause
// The residual of a BsrMatrix on a CPU, summed in twice the working precision (Ogita, Rump and Oishi, Accurate sum and
// dot product, SIAM J. Sci. Comput. 26, 2005, algorithm 5.3). Compiled without contraction of a * b + c
// (-ffp-contract=off), which would change the error terms below.
#include <cmath>

#include "core/matrix/bsr_matrix.hpp"

namespace hyperplane::bsr {

void subtract_exactly(const BlockPattern& pattern, int dof, const double* values, const double* b, const double* x,
                      double* r, Index first, Index last) {
    for (Index row = first; row < last; ++row)
        for (int i = 0; i < dof; ++i) {
            double high = b[row * dof + i], low = 0.0;
            for (Index at = pattern.row_begin()[row]; at < pattern.row_begin()[row + 1]; ++at) {
                const double *line = values + (at * dof + i) * dof, *v = x + Index(pattern.column()[at]) * dof;
                for (int c = 0; c < dof; ++c) {
                    const double product = -line[c] * v[c];
                    const double product_error = std::fma(-line[c], v[c], -product);
                    const double sum = high + product, part = sum - high;
                    const double sum_error = (high - (sum - part)) + (product - part);
                    high = sum;
                    low += sum_error + product_error;
                }
            }
            r[row * dof + i] = high + low;
        }
}

}  // namespace hyperplane::bsr
