// SPDX-License-Identifier: BSD-3-Clause
// Algorithm 3 of Freire, Dufrechou and Ezzatti (section IV-A, ILU_shared): the update of a row by the intersection of
// two rows' columns, LANES entries of each at a time. Those of the row that is updated, a, are in registers; those of
// the row that is eliminated, b, in shared memory. So rows of any length fit.
//
// Definitions: as in precond/general/factors/row.cuh; DOF is 1.

#include "precond/general/factors/eliminated_row.cuh"

namespace hyperplane {

/// The entries of b that are compared, in shared memory that the lanes of a row share.
struct ReferenceBatch {
    double value[LANES];
    int column[LANES];  // -1: the row has ended
};

/// X_ij -= w U_kj for the columns that [a, end_of_a) of the row x and [b, end_of_b) of row k share.
__device__ __forceinline__ void update_by_intersection(const Row& x, double w, long long a, long long end_of_a,
                                                       long long b, long long end_of_b, ReferenceBatch& batch) {
    const int* const columns = x.a.column;
    while (a < end_of_a && b < end_of_b) {
        const int mine = a + x.lane < end_of_a ? __ldg(columns + a + x.lane) : -1;
        const bool has = b + x.lane < end_of_b;
        batch.column[x.lane] = has ? __ldg(columns + b + x.lane) : -1;
        batch.value[x.lane] = has ? x.other_element(b + x.lane, 0) : 0.0;
        __syncwarp(x.mask);
        for (int j = 0; j < LANES && mine >= 0; ++j)
            if (mine == batch.column[j]) {
                *x.element(a + x.lane, 0) -= w * batch.value[j];
                break;
            }
        const int last_of_a = __shfl_sync(x.mask, mine, LANES - 1, LANES), last_of_b = batch.column[LANES - 1];
        __syncwarp(x.mask);
        if (last_of_b < 0 || (last_of_a >= 0 && last_of_a <= last_of_b)) a += LANES;
        if (last_of_a < 0 || (last_of_b >= 0 && last_of_a >= last_of_b)) b += LANES;
    }
}

}  // namespace hyperplane
