// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/constants.hpp"

#include <cmath>

#include "core/device/for_each_point.hpp"
#include "core/grid/neighbour_slot.hpp"
#include "core/matrix/coefficients.hpp"
#include "core/ranks/cuts.hpp"
#include "core/vector/scalars.hpp"

namespace hyperplane::multigrid {
namespace {

constexpr double rounding_of_rows = 1e-14;

/// *found = 1 where the coefficients of unknown `col` in a row of a point do not add up to zero. Whichever points
/// write, they write the same value.
struct SumsOfRows {
    Coefficients a;
    int col;
    double* found;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        for (int row = 0; row < a.a.dof; ++row) {
            double sum = 0.0, magnitude = 0.0;
            for (int e = 0; e < a.entries; ++e) {
                Int3 q;
                if (!a.neighbour(p, e, q)) continue;
                const double value = a(e, row, col, slot, slot_of_neighbour(a.layout, q));
                sum += value;
                magnitude += std::abs(value);
            }
            if (std::abs(sum) <= rounding_of_rows * magnitude) continue;
#ifndef __CUDA_ARCH__
#pragma omp atomic write
#endif
            *found = 1.0;
        }
    }
};

}  // namespace

std::vector<int> without_constants(const StructMatrix& a, const std::vector<int>& unknowns) {
    std::vector<int> lacking;
    if (unknowns.empty()) return lacking;
    const Buffer<Int3> offsets = offsets_of(a, "multigrid: tables");
    for (const int c : unknowns) {
        Scalars found(a.context(), "multigrid: tables", 1);
        for_each_point(a.context(), a.layout(), "sums of rows",
                       SumsOfRows{Coefficients(a, offsets.data()), c, found.data()});
        const bool mine = found.get(0, 1).front() != 0.0;
        if (!(a.layout().is_part() ? any_rank(a.context(), mine) : mine)) lacking.push_back(c);
    }
    return lacking;
}

}  // namespace hyperplane::multigrid
