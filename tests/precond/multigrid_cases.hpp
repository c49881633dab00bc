// SPDX-License-Identifier: BSD-3-Clause
// Systems and keys for tests of multigrid.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "precond/multigrid/multigrid.hpp"
#include "precond/support.hpp"

namespace hyperplane::testing_support {

/// Small coarsest grids, so that small grids of tests have several.
inline Parameters multigrid_keys(const Settings& settings, const std::string& smoother = "struct_ilu",
                                 const Settings& smoother_settings = {}) {
    Parameters parameters(common_preconditioner_parameters());
    parameters.add(find_preconditioner("multigrid").parameters);
    parameters.add(smoother_parameters(find_preconditioner(smoother)));
    parameters.set("preconditioner", "name", "multigrid");
    parameters.set("preconditioner", "coarsest_points", "12");
    parameters.set("smoother", "name", smoother);
    for (const auto& [key, value] : settings) parameters.set("preconditioner", key, value);
    for (const auto& [key, value] : smoother_settings) parameters.set("smoother", key, value);
    return parameters;
}

inline std::unique_ptr<Preconditioner> make_multigrid(const StructMatrix& a, const Parameters& parameters) {
    return find_preconditioner("multigrid").create(parameters, setting_of(a));
}

/// Values within `bound` of those that are expected, relative to the largest.
inline void expect_near(const std::vector<double>& got, const std::vector<double>& expected, double bound) {
    ASSERT_EQ(got.size(), expected.size());
    EXPECT_LE(reference::relative_difference(got, expected), bound);
}

/// A random matrix; a symmetric one is positive definite.
inline reference::StencilMatrix random_data(const reference::Box& box, const std::string& stencil, int dof,
                                            bool symmetric, int seed = 21) {
    const auto offsets = reference::stencil_named(stencil).offsets;
    return symmetric ? reference::random_spd_matrix(box, offsets, dof, seed)
                     : reference::random_matrix(box, offsets, dof, seed + 1);
}

inline StructMatrix random_system(const Context& context, const std::string& stencil, const reference::Box& box,
                                  int dof, bool symmetric, LayoutKind kind = LayoutKind::natural) {
    const reference::StencilMatrix data = random_data(box, stencil, dof, symmetric, 11);
    return reference::to_struct_matrix(context, layout_for(kind, data, stencil, 0), data,
                                       symmetric ? MatrixStorage::lower : MatrixStorage::full, stencil);
}

/// star7 on a cube: `mass` and six couplings, those along each axis with its own coefficient; Dirichlet if `walls`,
/// else nothing flows through the boundary. `contrast` multiplies couplings in a corner.
inline StructMatrix laplacian(const Context& context, const reference::Box& box, std::array<double, 3> coupling,
                              double mass, bool walls, double contrast = 1.0) {
    reference::StencilMatrix a{box, reference::stencil_named("star7").offsets, 1,
                               std::vector<std::map<reference::Offset, reference::Dense>>(box.points())};
    const auto in_corner = [&](reference::Offset p) {
        return 2 * p.x < box.nx && 2 * p.y < box.ny && 2 * p.z < box.nz;
    };
    for (int row = 0; row < box.points(); ++row) {
        reference::Dense own(1, 1);
        own(0, 0) = mass;
        for (const reference::Offset o : a.offsets) {
            if (o == reference::Offset{}) continue;
            const reference::Offset p = box.point(row), q = box.wrapped(p + o);
            double value = coupling[o.x != 0 ? 0 : o.y != 0 ? 1 : 2];
            if (in_corner(p) && in_corner(q)) value *= contrast;
            const bool inside = box.contains(q);
            if (inside) {
                a.blocks[row][o] = reference::Dense(1, 1);
                a.blocks[row][o](0, 0) = -value;
            }
            if (inside || walls) own(0, 0) += value;
        }
        a.blocks[row][{}] = own;
    }
    return reference::to_struct_matrix(context, layout_for(LayoutKind::natural, a, "star7", 0), a, MatrixStorage::lower,
                                       "star7");
}

/// A multigrid after its first set-up, its plan, and what it has held.
struct HeldBySetup {
    PreconditionerPlan plan;
    std::unique_ptr<Preconditioner> m;
    SetupReport report;
    Index held, peak;  ///< bytes beyond what was held before: now, and at most in the set-up
};

inline HeldBySetup set_up_watched(const StructMatrix& a, const Parameters& keys) {
    MemoryLedger& ledger = a.context().ledger();
    HeldBySetup made{find_preconditioner("multigrid").plan(keys, setting_of(a)), nullptr, {}, 0, 0};
    const Index before = ledger.held();
    made.m = make_multigrid(a, keys);
    ledger.forget_peak();
    made.report = made.m->setup(a);
    made.held = ledger.held() - before, made.peak = ledger.peak() - before;
    return made;
}

}  // namespace hyperplane::testing_support
