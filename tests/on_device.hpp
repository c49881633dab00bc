// SPDX-License-Identifier: BSD-3-Clause
// What tests that need a GPU share: skipping where there is none, and data that goes there and back.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/matrix/struct_matrix.hpp"
#include "reference/bridge.hpp"

namespace hyperplane::testing_support {

/// Derived suites hold OnDevice in their names, which gives them the label gpu.
class DeviceTest : public testing::Test {
protected:
    void SetUp() override {
        if (const std::string why = device::unavailable(); !why.empty()) GTEST_SKIP() << why;
    }
};

/// The same in another context.
inline Vector in_context(const Context& context, const Vector& x) {
    Vector moved(context, x.layout(), x.dof(), "test vector");
    transfer(x, moved);
    return moved;
}
inline StructMatrix in_context(const Context& context, const StructMatrix& a) {
    StructMatrix moved(context, a.layout(), a.stencil(), a.dof(), a.storage());
    moved.assign(a);
    return moved;
}

/// x[row * dof + component] in natural order to and from a vector of any context.
inline Vector to_vector(const Context& context, const Layout& layout, int dof, const std::vector<double>& x) {
    return in_context(context, reference::to_vector(context.host(), layout, dof, x));
}
inline std::vector<double> from_vector(const Vector& x) {
    Vector copy;
    return reference::from_vector(on_host(x, copy));
}

/// A vector of NaN, for results: what is not written shows.
inline Vector poisoned(const Context& context, const Layout& layout, int dof) {
    return to_vector(context, layout, dof, std::vector<double>(layout.slots() * dof, NAN));
}

/// M^-1 r, both in natural order, on the backend that holds the matrix.
inline std::vector<double> applied(const LinearOperator& m, const StructMatrix& a, const std::vector<double>& r) {
    Vector z = poisoned(a.context(), a.layout(), a.dof());
    m.apply(to_vector(a.context(), a.layout(), a.dof(), r), z);
    return from_vector(z);
}

/// Random, its rows dominated by the diagonal; fast enough for large grids, since each coefficient is drawn for all
/// points where it lies. Symmetric in lower storage.
inline StructMatrix random_struct_matrix(const Layout& layout, const Stencil& stencil, int dof, MatrixStorage storage,
                                         std::uint64_t seed) {
    StructMatrix a(Context::cpu(1), layout, stencil, dof, storage);
    const Grid& grid = layout.grid();
    reference::Random random(seed);
    for (int e = 0; e < a.stored_entries(); ++e) {
        std::vector<Index> slots;  // of the points that have this neighbour
        for (Index row = 0; row < grid.points(); ++row)
            if (const Int3 p = grid.point(row); grid.contains(grid.wrapped(p + stencil[e])))
                slots.push_back(layout.slot(p));
        const bool diagonal = e == stencil.diagonal();
        for (int r = 0; r < dof; ++r)
            for (int c = 0; c < dof; ++c) {
                double* const values = a.values(e, r, c);
                if (diagonal && a.symmetric() && c < r) {
                    std::copy_n(a.values(e, c, r), layout.slots(), values);
                    continue;
                }
                const double more = diagonal && r == c ? stencil.size() * dof : 0;
                for (const Index slot : slots) values[slot] = random() + more;
            }
    }
    return a;
}

}  // namespace hyperplane::testing_support
