// SPDX-License-Identifier: BSD-3-Clause
#include "precond/walks/random_vector.hpp"

#include "core/device/for_each_point.hpp"
#include "core/matrix/views.hpp"
#include "core/random.hpp"

namespace hyperplane {
namespace {

struct RandomPoint {
    VectorView x;
    int dof;
    std::uint64_t seed;
    double low;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        const std::uint64_t first = std::uint64_t(x.layout.grid().row(p)) * dof;
        for (int c = 0; c < dof; ++c) x.at(slot, c) = low + (1.0 - low) * random_uniform(seed, first + c);
    }
};

/// A plain row, of which `before` precede this rank's.
struct RandomRow {
    double* x;
    Index before;
    int dof;
    std::uint64_t seed;
    double low;

    HYPERPLANE_HD void operator()(Int3, Index row) const {
        const std::uint64_t first = std::uint64_t(before + row) * dof;
        for (int c = 0; c < dof; ++c) x[row * dof + c] = low + (1.0 - low) * random_uniform(seed, first + c);
    }
};

}  // namespace

void set_random(Vector& x, std::uint64_t seed, double low) {
    if (!x.space().has_grid())
        return for_each_point(x.context(), Layout(LayoutKind::natural, Grid::of_rows(x.space().block_rows()), {}),
                              "random vector", RandomRow{x.data(), x.space().first_block_row(), x.dof(), seed, low});
    for_each_point(x.context(), x.layout(), "random vector", RandomPoint{view(x), x.dof(), seed, low});
}

}  // namespace hyperplane
