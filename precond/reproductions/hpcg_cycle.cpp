// SPDX-License-Identifier: BSD-3-Clause
#include "precond/reproductions/hpcg_cycle.hpp"

#include <string>

#include "core/device/for_each_point.hpp"
#include "core/error.hpp"
#include "core/matrix/coefficients.hpp"
#include "core/matrix/views.hpp"
#include "core/vector/blas1.hpp"

namespace hyperplane {
namespace {

struct FillRow {
    MatrixView a;
    Grid grid;
    const Int3* offsets;
    int diagonal;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        for (int e = 0; e < a.stored_entries; ++e)
            a.at(e, 0, 0, slot) = e == diagonal ? 26.0 : grid.contains(p + offsets[e]) ? -1.0 : 0.0;
    }
};

HYPERPLANE_HD Int3 on_finer(Int3 p) {
    return {2 * p.x, 2 * p.y, 2 * p.z};
}

/// coarse(p) = (b - A x)(2 p)
struct RestrictResidual {
    Coefficients a;
    ConstVectorView b, x;
    VectorView coarse;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        const Int3 own = on_finer(p);
        const Index at = a.layout.slot(own);
        double sum = b.at(at);
        for (int e = 0; e < a.entries; ++e) {
            Int3 q;
            if (!a.neighbour(own, e, q)) continue;
            const Index there = a.layout.slot(q);
            sum -= a(e, 0, 0, at, there) * x.at(there);
        }
        coarse.at(slot) = sum;
    }
};

/// x(2 p) += coarse(p)
struct AddCoarse {
    ConstVectorView coarse;
    VectorView x;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const { x(on_finer(p)) += coarse.at(slot); }
};

}  // namespace

void fill_hpcg(StructMatrix& a) {
    const Buffer<Int3> offsets = offsets_of(a, "HPCG: tables");
    for_each_point(a.context(), a.layout(), "HPCG's matrix",
                   FillRow{view(a), a.grid(), offsets.data(), a.stencil().diagonal()});
    a.context().synchronize();
}

SetupReport HpcgCycle::setup(const SystemMatrix& matrix) {
    a_ = &structured(matrix);
    levels_.clear();
    levels_.resize(grids);
    SetupReport all;
    Grid grid = a_->grid();
    for (int level = 0; level < grids; ++level) {
        Level& own = levels_[level];
        if (level > 0) {
            for (int* n : {&grid.nx, &grid.ny, &grid.nz}) {
                if (*n % 2 != 0)
                    throw UsageError("HPCG's four grids need extents that are multiples of eight, and these are " +
                                     std::to_string(a_->grid().nx) + " x " + std::to_string(a_->grid().ny) + " x " +
                                     std::to_string(a_->grid().nz));
                *n /= 2;
            }
            own.matrix =
                std::make_unique<StructMatrix>(a_->context(), Layout(a_->layout().kind(), grid, a_->layout().levels()),
                                               a_->stencil(), 1, a_->storage(), "HPCG: matrices");
            fill_hpcg(*own.matrix);
        }
        const StructMatrix& a = this->matrix(level);
        own.offsets = offsets_of(a, "HPCG: tables");
        const auto vector = [&] { return Vector(a.context(), a.layout(), 1, "HPCG: vectors"); };
        if (level > 0) own.b = vector(), own.x = vector();
        if (level + 1 < grids) own.r = vector(), own.t = vector();
        own.sweep = make_(a);
        const SetupReport report = own.sweep->setup(a);
        all.factor_bytes += report.factor_bytes + a.bytes();
    }
    return all;
}

void HpcgCycle::cycle(int grid, const Vector& b, Vector& x) const {
    Level& own = levels_[grid];
    own.sweep->apply(b, x);
    if (grid + 1 == grids) return;
    Level& next = levels_[grid + 1];
    const StructMatrix& a = matrix(grid);
    const Vector& x_now = x;
    for_each_point(b.context(), next.b.layout(), "restriction of the residual",
                   RestrictResidual{Coefficients(a, own.offsets.data()), view(b), view(x_now), view(next.b)});
    cycle(grid + 1, next.b, next.x);
    const Vector& correction = next.x;
    for_each_point(b.context(), correction.layout(), "correction", AddCoarse{view(correction), view(x)});
    a.subtract_product(b, x, own.r);
    own.sweep->apply(own.r, own.t);
    axpy(1.0, own.t, x);
}

Index HpcgCycle::bytes_per_apply() const {
    Index sum = 0;
    for (int grid = 0; grid < grids; ++grid) {
        const Index sweep = levels_[grid].sweep->bytes_per_apply();
        sum += grid + 1 == grids ? sweep : 2 * (sweep + matrix(grid).bytes_per_apply());
    }
    return sum;
}

}  // namespace hyperplane
