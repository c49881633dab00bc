// SPDX-License-Identifier: BSD-3-Clause
// The factor by which a two-grid cycle reduces errors, beside Fourier analysis.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "core/vector/blas1.hpp"
#include "precond/multigrid_cases.hpp"
#include "precond/support.hpp"
#include "reference/fourier.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using reference::ConstantStencil;
using reference::Dense;
using reference::Functions;
using reference::Harmonics;
using reference::Offset;

const char* name_of(const ConstantStencil& stencil) {
    return stencil.box27 ? "box27" : "star7";
}

/// Offsets are folded into a box that reflects them at its first and last points; a row is halved for each axis at
/// whose end it lies, which makes the matrix symmetric. On functions that are even about these points it is the matrix
/// of 2 (n - 1) periodic points along an axis, and so are coarse matrices, smoothing and interpolation, if n is odd.
int reflected(int i, int n) {
    return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
}

StructMatrix constant_system(const ConstantStencil& stencil, const Box& box) {
    const std::string name = name_of(stencil);
    reference::StencilMatrix a{box, reference::stencil_named(name).offsets, 1,
                               std::vector<std::map<Offset, Dense>>(box.points())};
    for (int row = 0; row < box.points(); ++row) {
        const Offset p = box.point(row);
        double part = 1.0;
        for (const auto& [i, n] : {std::pair(p.x, box.nx), std::pair(p.y, box.ny), std::pair(p.z, box.nz)})
            if (!box.periodic[0] && (i == 0 || i == n - 1)) part *= 0.5;
        for (const Offset o : a.offsets) {
            Offset to = p + o;
            if (!box.periodic[0]) to = {reflected(to.x, box.nx), reflected(to.y, box.ny), reflected(to.z, box.nz)};
            Dense& block = a.blocks[row].try_emplace(to + -p, 1, 1).first->second;
            block(0, 0) += part * (o == Offset{} ? stencil.own() : -1.0);
        }
    }
    return reference::to_struct_matrix(Context::cpu(1), layout_for(LayoutKind::natural, a, name, 0), a,
                                       MatrixStorage::lower, name);
}

/// The factor of the cycle after many steps. With E = I - M^-1 A, which is self-adjoint in the inner product of A, it
/// is (E e, A e) / (e, A e).
double measured_factor(const StructMatrix& a, const Preconditioner& m, int steps) {
    std::vector<double> e = reference::Random(15).vector(int(a.unknowns()));
    Vector y(a.context(), a.layout(), 1, "y");
    double factor = 0.0;
    for (int step = 0; step < steps; ++step) {
        a.apply(reference::to_vector(a.context(), a.layout(), 1, e), y);
        const std::vector<double> ae = reference::from_vector(y), correction = apply(m, a, ae);
        const double before = dot(e, ae);
        for (std::size_t at = 0; at < e.size(); ++at) e[at] -= correction[at];
        factor = dot(e, ae) / before;
        const double size = std::sqrt(dot(e, e));
        for (double& value : e) value /= size;
    }
    return factor;
}

/// Two grids, and nothing that damps the smoother but `damping`.
double measured_factor(const StructMatrix& a, const std::string& smoother, const Settings& settings, double damping) {
    const auto m = make_multigrid(
        a, multigrid_keys(
               {{"grids", "2"}, {"coarsest_points", "64"}, {"strength", "0"}, {"damping", fmt::format("{}", damping)}},
               smoother, settings));
    m->setup(a);
    EXPECT_EQ(dynamic_cast<const Multigrid&>(*m).hierarchy().size(), 2);
    return measured_factor(a, *m, 60);
}

TEST(MultigridFourier, TwoGridsWithDampedJacobiHaveTheFactorOfTheAnalysis) {
    for (const ConstantStencil& stencil : {ConstantStencil{false, 0.02}, ConstantStencil{true, 0.05}})
        for (const double omega : {0.6, 0.8, 0.9}) {
            SCOPED_TRACE(fmt::format("{} omega {}", name_of(stencil), omega));
            const StructMatrix a = constant_system(stencil, {8, 8, 8, {true, true, true}});
            const double expected = reference::two_grid_factor(stencil, 8, Functions::all, [&](const Harmonics& h) {
                const Dense s = h.damped_jacobi(omega);
                return product(s, product(h.coarse_correction(), s));
            });
            EXPECT_NEAR(measured_factor(a, "jacobi", {}, omega), expected, 1e-4);
            EXPECT_LT(expected, 0.75);
        }
}

/// Symmetric Gauss-Seidel with two colours: even points, odd points, even points. Factorisations drop couplings across
/// periodic boundaries, so the box reflects functions instead.
TEST(MultigridFourier, TwoGridsWithRedBlackGaussSeidelHaveTheFactorOfTheAnalysis) {
    for (const double mass : {0.02, 1.0}) {
        SCOPED_TRACE(mass);
        const ConstantStencil stencil{false, mass};
        const StructMatrix a = constant_system(stencil, {7, 7, 7});
        const double expected = reference::two_grid_factor(stencil, 12, Functions::even, [](const Harmonics& h) {
            const Dense even = h.relaxed(false), odd = h.relaxed(true);
            const Dense s = product(even, product(odd, even));
            return product(s, product(h.coarse_correction(), s));
        });
        EXPECT_NEAR(measured_factor(a, "multicolor", {{"factors", "gauss_seidel"}}, 1.0), expected, 1e-4);
        EXPECT_LT(expected, 0.2);
    }
}

/// A sweep over all colours and back; the last one need not be relaxed twice, since its points are not coupled.
Dense eight_colours_and_back(const Harmonics& h) {
    Dense s = h.relaxed_of_eight(7);
    for (int colour = 6; colour >= 0; --colour) {
        const Dense one = h.relaxed_of_eight(colour);
        s = product(one, product(s, one));
    }
    return s;
}

/// Two colours couple points of box27 that have the same one, so a factorisation needs eight. Greedy colours in natural
/// order are the parities of the coordinates, which reflections keep. They do not keep the default colours, (i + 2 j +
/// 4 k) mod 8, whose factor is smaller.
TEST(MultigridFourier, TwoGridsWithEightColourGaussSeidelHaveTheFactorOfTheAnalysis) {
    for (const double mass : {0.05, 1.0}) {
        SCOPED_TRACE(mass);
        const ConstantStencil stencil{true, mass};
        const StructMatrix a = constant_system(stencil, {7, 7, 7});
        const double expected = reference::two_grid_factor(stencil, 12, Functions::even, [](const Harmonics& h) {
            const Dense s = eight_colours_and_back(h);
            return product(s, product(h.coarse_correction(), s));
        });
        const auto measured = [&](const char* colours) {
            return measured_factor(a, "multicolor", {{"factors", "gauss_seidel"}, {"colours", colours}}, 1.0);
        };
        EXPECT_NEAR(measured("greedy"), expected, 1e-4);
        EXPECT_LT(measured("stencil"), expected);
        EXPECT_LT(expected, 0.11);
    }
}

/// The box that reflects is the periodic one: with a smoother that both have, the factors are equal.
TEST(MultigridFourier, ReflectionsHaveTheFactorOfPeriodicPoints) {
    for (const ConstantStencil& stencil : {ConstantStencil{false, 0.02}, ConstantStencil{true, 0.05}}) {
        const double expected = reference::two_grid_factor(stencil, 12, Functions::even, [](const Harmonics& h) {
            const Dense s = h.damped_jacobi(0.8);
            return product(s, product(h.coarse_correction(), s));
        });
        EXPECT_NEAR(measured_factor(constant_system(stencil, {7, 7, 7}), "jacobi", {}, 0.8), expected, 1e-4)
            << name_of(stencil);
    }
}

}  // namespace
}  // namespace hyperplane
