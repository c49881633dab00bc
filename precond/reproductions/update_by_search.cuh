// SPDX-License-Identifier: BSD-3-Clause
// Algorithm 4 of Freire, Dufrechou and Ezzatti (section IV-B, ILU_vect): the update of a row by a binary search. Each
// lane takes an entry of the row that is updated, a, and looks for its column in the row that is eliminated, b.
//
// Definitions: as in precond/general/factors/row.cuh; DOF is 1.

#include "precond/general/factors/eliminated_row.cuh"

namespace hyperplane {

/// X_ij -= w U_kj for the columns that [a, end_of_a) of the row x and [b, end_of_b) of row k share.
__device__ __forceinline__ void update_by_search(const Row& x, double w, long long a, long long end_of_a, long long b,
                                                 long long end_of_b) {
    const int* const columns = x.a.column;
    for (long long at = a + x.lane; at < end_of_a; at += LANES)
        if (const long long found = find(columns, b, end_of_b, __ldg(columns + at)); found >= 0)
            *x.element(at, 0) -= w * x.other_element(found, 0);
}

}  // namespace hyperplane
