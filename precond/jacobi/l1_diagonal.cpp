// SPDX-License-Identifier: BSD-3-Clause
#include "precond/jacobi/l1_diagonal.hpp"

#include <cmath>

#include "core/device/for_each_point.hpp"
#include "core/grid/neighbour_slot.hpp"
#include "core/matrix/coefficients.hpp"
#include "precond/factors/pattern.hpp"

namespace hyperplane {
namespace {

struct L1Block {
    Coefficients a;
    int diagonal;
    MatrixView d;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        const int dof = d.dof;
        for (int row = 0; row < dof; ++row)
            for (int col = 0; col < dof; ++col) d.at(0, row, col, slot) = a(diagonal, row, col, slot, slot);
        for (int entry = 0; entry < a.entries; ++entry) {
            Int3 q;
            if (entry == diagonal || !a.neighbour(p, entry, q)) continue;
            const Index there = slot_of_neighbour(a.layout, q);
            for (int row = 0; row < dof; ++row) {
                double sum = 0.0;
                for (int col = 0; col < dof; ++col) sum += fabs(a(entry, row, col, slot, there));
                d.at(0, row, row, slot) += copysign(sum, a(diagonal, row, row, slot, slot));
            }
        }
    }
};

/// One block row of a general matrix.
struct L1BlockRow {
    using few_points = void;
    const double* a;
    const Index* row_begin;
    const Index* places;
    double* d;
    Index rows;
    int dof;

    HYPERPLANE_HD void operator()(Int3, Index row) const {
        if (row >= rows) return;
        const int size = dof * dof;
        const double* const own = places[row] < 0 ? nullptr : a + places[row] * size;
        double* const block = d + row * size;
        for (int at = 0; at < size; ++at) block[at] = own ? own[at] : 0.0;
        for (Index at = row_begin[row]; at < row_begin[row + 1]; ++at)
            for (int r = 0; r < dof && at != places[row]; ++r) {
                double sum = 0.0;
                for (int c = 0; c < dof; ++c) sum += fabs(a[at * size + r * dof + c]);
                block[r * dof + r] += copysign(sum, own ? own[r * dof + r] : 1.0);
            }
    }
};

}  // namespace

StructMatrix l1_diagonal(const StructMatrix& a, const std::string& label) {
    const Context& context = a.context();
    StructMatrix d(context, a.layout(), point_stencil(), a.dof(), MatrixStorage::full, label);
    const Buffer<Int3> offsets = offsets_of(a, label);
    for_each_point(context, a.layout(), "l1 diagonal",
                   L1Block{Coefficients(a, offsets.data()), a.stencil().diagonal(), view(d)});
    return d;
}

void l1_diagonal(const BsrMatrix& a, const Buffer<Index>& places, BsrMatrix& d) {
    const Index rows = a.pattern()->rows();
    for_each_point(a.context(), Layout(LayoutKind::natural, Grid::of_rows(rows), {}), "l1 diagonal",
                   L1BlockRow{a.values(), a.here().row_begin(), places.data(), d.values(), rows, a.dof()});
}

}  // namespace hyperplane
