// SPDX-License-Identifier: BSD-3-Clause
// chebyshev equals its definition by zeros, with a bound of the eigenvalues that is on the safe side; on a CPU and on a
// GPU.
#include "precond/chebyshev/chebyshev.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "core/error.hpp"
#include "on_device.hpp"
#include "precond/chebyshev/largest_eigenvalue.hpp"
#include "precond/general_cases.hpp"
#include "precond/support.hpp"
#include "reference/chebyshev.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::BlockMatrix;
using reference::Box;
using reference::StencilMatrix;

struct ChebyshevCase {
    std::string stencil;
    int dof;
    Box box;
    LayoutKind kind;
};

std::vector<ChebyshevCase> chebyshev_cases() {
    std::vector<ChebyshevCase> list;
    for (const char* stencil : {"star7", "diamond13", "box27"})
        for (int dof : {1, 2, 3, 4, 5, 6, 7, 8})
            for (LayoutKind kind : layout_kinds) list.push_back({stencil, dof, {7, 5, 3}, kind});
    for (int dof : {9, 16, 17, 32}) list.push_back({"star7", dof, {5, 3, 3}, LayoutKind::natural});
    for (const Box& box : {Box{1, 9, 1}, Box{1, 1, 1}, Box{5, 5, 1, {true, true, false}}})
        for (int dof : {1, 3}) list.push_back({"star7", dof, box, LayoutKind::natural});
    return list;
}

StructMatrix matrix_of(const Context& context, const ChebyshevCase& c, const StencilMatrix& data) {
    return in_context(context, reference::to_struct_matrix(context.host(), layout_for(c.kind, data, c.stencil, 0), data,
                                                           MatrixStorage::lower, c.stencil));
}

StencilMatrix random_data(const ChebyshevCase& c, std::uint64_t seed) {
    return reference::random_spd_matrix(c.box, reference::stencil_named(c.stencil).offsets, c.dof, seed);
}

double bound_of(const Preconditioner& m) {
    return dynamic_cast<const Chebyshev&>(m).bound();
}

/// The definition, by zeros, with the bound that the set-up found.
std::vector<double> expected_of(const Preconditioner& m, const BlockMatrix& a, const std::string& kind, int degree,
                                const std::vector<double>& r) {
    const double bound = bound_of(m);
    return reference::apply_polynomial(a,
                                       kind == "first" ? reference::zeros_of_first_kind(degree, bound, 30.0)
                                                       : reference::zeros_of_fourth_kind(degree, bound),
                                       r);
}

void expect_definition(const Context& context, const ChebyshevCase& c) {
    const StencilMatrix data = random_data(c, 81);
    const BlockMatrix blocks = reference::assembled(data);
    const StructMatrix a = matrix_of(context, c, data);
    const std::vector<double> r = reference::Random(8).vector(int(a.unknowns()));
    for (const char* kind : {"first", "fourth"})
        for (int degree : {1, 2, 3, 6}) {
            SCOPED_TRACE(std::string(kind) + ", degree " + std::to_string(degree));
            const auto m = make("chebyshev", a, {{"polynomial", kind}, {"degree", std::to_string(degree)}});
            m->setup(a);
            EXPECT_TRUE(m->traits().fixed && m->traits().symmetric);
            EXPECT_LT(reference::relative_difference(applied(*m, a, r), expected_of(*m, blocks, kind, degree, r)),
                      1e-13);
        }
}

TEST(Chebyshev, EqualsItsDefinitionByZeros) {
    for (const ChebyshevCase& c : chebyshev_cases()) {
        SCOPED_TRACE(c.stencil + ", dof " + std::to_string(c.dof));
        expect_definition(Context::cpu(1), c);
    }
}

/// The same for general matrices, whose set-ups and applications hold and move what was planned.
void expect_general_definition(const Context& context) {
    for (const GeneralCase& c :
         {GeneralCase{"symmetric", 500, 1, 0, true}, {"symmetric", 90, 3, 0, true}, {"arrow", 70, 1, 0, true}}) {
        SCOPED_TRACE(c.pattern + ", dof " + std::to_string(c.dof));
        const BlockMatrix data = data_of(c);
        const BsrMatrix a = reference::to_bsr_matrix(context, data, true);
        const std::vector<double> r = reference::Random(8).vector(c.rows * c.dof);
        for (const char* kind : {"first", "fourth"}) {
            const auto m = make_general("chebyshev", a, {{"polynomial", kind}});
            m->setup(a);
            EXPECT_LT(reference::relative_difference(apply_general(*m, a, r), expected_of(*m, data, kind, 4, r)),
                      1e-13);
        }
    }
}

TEST(Chebyshev, EqualsItsDefinitionOnGeneralMatrices) {
    expect_general_definition(Context::cpu(1));
    expect_holds_what_it_plans("chebyshev", {"symmetric", 90, 3, 0, true}, {});
}

class ChebyshevOnDevice : public DeviceTest {};

TEST_F(ChebyshevOnDevice, EqualsItsDefinitionOnGeneralMatrices) {
    expect_general_definition(Context::cuda());
}

TEST_F(ChebyshevOnDevice, EqualsItsDefinitionByZeros) {
    for (const ChebyshevCase& c : chebyshev_cases()) {
        SCOPED_TRACE(c.stencil + ", dof " + std::to_string(c.dof));
        expect_definition(Context::cuda(), c);
    }
}

/// The bounds differ in their last bits at most, as the sums of the two backends do.
TEST_F(ChebyshevOnDevice, FindsTheBoundOfTheHost) {
    for (const ChebyshevCase& c : chebyshev_cases()) {
        const StencilMatrix data = random_data(c, 82);
        const StructMatrix here = matrix_of(Context::cuda(), c, data), there = matrix_of(Context::cpu(1), c, data);
        const auto m = make("chebyshev", here), expected = make("chebyshev", there);
        m->setup(here);
        expected->setup(there);
        EXPECT_NEAR(bound_of(*m) / bound_of(*expected), 1.0, 1e-8) << c.stencil << c.dof;
        const double once = bound_of(*m);
        m->setup(here);
        EXPECT_EQ(bound_of(*m), once);
    }
}

TEST(Chebyshev, HasTheSameBitsForAnyNumberOfThreads) {
    const ChebyshevCase c{"star7", 2, {31, 17, 9}, LayoutKind::natural};
    const StencilMatrix data = random_data(c, 83);
    const std::vector<double> r = reference::Random(9).vector(31 * 17 * 9 * 2);
    std::vector<std::vector<double>> results;
    std::vector<double> bounds;
    for (int threads : {1, 2, 3}) {
        const StructMatrix a = matrix_of(Context::cpu(), c, data);
        const SeveralThreads several(a.context(), threads);
        const auto m = make("chebyshev", a);
        m->setup(a);
        results.push_back(applied(*m, a, r));
        bounds.push_back(bound_of(*m));
    }
    EXPECT_EQ(results[1], results[0]);
    EXPECT_EQ(results[2], results[0]);
    EXPECT_EQ(bounds[1], bounds[0]);
    EXPECT_EQ(bounds[2], bounds[0]);
}

/// e(x) for D = A_pp = x on a single point: z = (1 - e(1)) r / x with the eigenvalue 1; the bound is safety times that.
TEST(Chebyshev, DegreeOneAndTwoByHand) {
    const ChebyshevCase c{"star7", 1, {1, 1, 1}, LayoutKind::natural};
    StencilMatrix data = random_data(c, 84);
    data.blocks[0].at({})(0, 0) = 4.0;
    const StructMatrix a = matrix_of(Context::cpu(1), c, data);
    const auto with = [&](const Settings& settings) {
        const auto m = make("chebyshev", a, settings);
        m->setup(a);
        return applied(*m, a, {8.0}).at(0);
    };
    // first, [1/2, 1]: 1 / theta = 4/3. e(1) = T_2(-1) / T_2(3) = 1 / 17.
    const Settings first{{"safety", "1"}, {"eigenvalue_ratio", "2"}};
    EXPECT_DOUBLE_EQ(with({first[0], first[1], {"degree", "1"}}), 4.0 / 3.0 * 2.0);
    EXPECT_DOUBLE_EQ(with({first[0], first[1], {"degree", "2"}}), (1.0 - 1.0 / 17.0) * 2.0);
    // fourth, [0, 1]: W_1(t) = 2t + 1, W_2(t) = 4t^2 + 2t - 1, so e(1) = W_1(-1) / 3 = -1/3 and W_2(-1) / 5 = 1/5.
    EXPECT_DOUBLE_EQ(with({first[0], {"polynomial", "fourth"}, {"degree", "1"}}), 4.0 / 3.0 * 2.0);
    EXPECT_DOUBLE_EQ(with({first[0], {"polynomial", "fourth"}, {"degree", "2"}}), (1.0 - 1.0 / 5.0) * 2.0);
}

/// The Laplacian on n^3 points, diagonal 6: the largest eigenvalue of D^-1 A is 1 + cos(pi / (n + 1)).
StencilMatrix laplacian(int n) {
    const Box box{n, n, n};
    StencilMatrix data{box, reference::stencil_named("star7").offsets, 1, {}};
    data.blocks.resize(box.points());
    for (int row = 0; row < box.points(); ++row)
        for (const auto& offset : data.offsets)
            if (box.contains(box.point(row) + offset)) {
                reference::Dense block(1, 1);
                block(0, 0) = offset == reference::Offset{} ? 6.0 : -1.0;
                data.blocks[row][offset] = block;
            }
    return data;
}

TEST(ChebyshevBound, IsOnTheSafeSide) {
    for (int n : {5, 12, 25}) {
        const StencilMatrix data = laplacian(n);
        const StructMatrix a = matrix_of(Context::cpu(1), {"star7", 1, data.box, LayoutKind::natural}, data);
        const auto m = make("chebyshev", a);
        m->setup(a);
        const double largest = 1.0 + std::cos(std::numbers::pi / (n + 1));
        EXPECT_GT(bound_of(*m), largest) << n;
        EXPECT_LT(bound_of(*m), 1.1 * largest * (1 + 1e-12)) << n;
    }
    for (const ChebyshevCase& c : chebyshev_cases()) {
        const StencilMatrix data = random_data(c, 85);
        const StructMatrix a = matrix_of(Context::cpu(1), c, data);
        const auto m = make("chebyshev", a);
        m->setup(a);
        const double largest = reference::largest_eigenvalue(reference::assembled(data), 400);
        EXPECT_GT(bound_of(*m), largest) << c.stencil << c.dof;
        EXPECT_LT(bound_of(*m), 1.1 * largest * (1 + 1e-3)) << c.stencil << c.dof;
    }
}

/// Nothing flows through the walls of a box, whose points alternate like the colours of a chess board: the largest
/// eigenvalue of D^-1 A is 2, whatever the coefficients. The diagonal varies by 17 orders of magnitude.
TEST(ChebyshevBound, IsOnTheSafeSideForRoughCoefficients) {
    const Box box{17, 13, 11};
    const auto coefficient = [](reference::Offset p) {
        return std::exp(20.0 / 3.0 * (std::sin(0.9 * p.x) + std::sin(1.0 + 0.7 * p.y) + std::sin(2.0 + 0.8 * p.z)));
    };
    StencilMatrix data{box, reference::stencil_named("star7").offsets, 1, {}};
    data.blocks.resize(std::size_t(box.points()));
    for (int row = 0; row < box.points(); ++row) {
        const reference::Offset p = box.point(row);
        reference::Dense own(1, 1);
        for (const reference::Offset& o : data.offsets) {
            if (o == reference::Offset{} || !box.contains(p + o)) continue;
            reference::Dense coupling(1, 1);
            coupling(0, 0) = -2.0 / (1.0 / coefficient(p) + 1.0 / coefficient(p + o));
            own(0, 0) -= coupling(0, 0);
            data.blocks[row][o] = coupling;
        }
        data.blocks[row][{}] = own;
    }
    const StructMatrix a = matrix_of(Context::cpu(1), {"star7", 1, box, LayoutKind::natural}, data);
    const auto m = make("chebyshev", a);
    m->setup(a);
    EXPECT_GT(bound_of(*m), 2.0);
    EXPECT_LE(bound_of(*m), 2.2 * (1 + 1e-12));
}

TEST(ChebyshevBound, OfATridiagonalMatrixByHand) {
    EXPECT_DOUBLE_EQ(chebyshev::largest_of_tridiagonal({3.0}, {}), 3.0);
    EXPECT_NEAR(chebyshev::largest_of_tridiagonal({2.0, 2.0}, {-1.0}), 3.0, 1e-14);
    EXPECT_NEAR(chebyshev::largest_of_tridiagonal({2, 2, 2}, {1, 1}), 2.0 + std::sqrt(2.0), 1e-14);
    EXPECT_NEAR(chebyshev::largest_of_tridiagonal({5.0, 1.0}, {0.0}), 5.0, 1e-14);
}

TEST(Chebyshev, TakesSymmetricMatricesAlone) {
    const PreconditionerRow& row = find_preconditioner("chebyshev");
    const PreconditionerSetting nonsymmetric{Context::cpu(1), {{3, 3, 3}, Stencil::star7(), 1, false}};
    expect_error<UsageError>([&] { check_matrix(row, nonsymmetric); },
                             "preconditioner.name = chebyshev needs a symmetric matrix, and this one is not; use ");
    const PreconditionerSetting symmetric{Context::cpu(1), {{3, 3, 3}, Stencil::star7(), 1, true}};
    EXPECT_NO_THROW(check_matrix(row, symmetric));
}

TEST(Chebyshev, SaysWhereAMatrixIsNotPositiveDefinite) {
    StencilMatrix data = laplacian(5);
    for (auto& row : data.blocks) row.at({})(0, 0) = 3.0;  // eigenvalues from below 0 to 6
    const StructMatrix indefinite = matrix_of(Context::cpu(1), {"star7", 1, data.box, LayoutKind::natural}, data);
    expect_error<SetupError>(
        [&] {
            make("chebyshev", indefinite, {{"estimate_steps", "100"}})->setup(indefinite);
        },
        "chebyshev: the matrix is not positive definite");
    for (auto& row : data.blocks) row.at({})(0, 0) = 1e308;
    const StructMatrix large = matrix_of(Context::cpu(1), {"star7", 1, data.box, LayoutKind::natural}, data);
    expect_error<SetupError>([&] { make("chebyshev", large)->setup(large); },
                             "so small on its diagonal, that what is computed with them is not");
    for (auto& row : data.blocks) row.at({})(0, 0) = -6.0;
    const StructMatrix negative = matrix_of(Context::cpu(1), {"star7", 1, data.box, LayoutKind::natural}, data);
    expect_error<SetupError>([&] { make("chebyshev", negative)->setup(negative); },
                             "chebyshev: the block diagonal is not positive definite");
    data.blocks[0].at({})(0, 0) = 0.0;
    const StructMatrix singular = matrix_of(Context::cpu(1), {"star7", 1, data.box, LayoutKind::natural}, data);
    expect_error<SetupError>([&] { make("chebyshev", singular)->setup(singular); }, "(0,0,0)");
}

TEST(Chebyshev, MovesAndHoldsWhatItsPlanSays) {
    for (const char* storage : {"double", "single", "half_scaled"})
        for (int degree : {1, 4}) {
            const ChebyshevCase c{"box27", 3, {9, 7, 5}, LayoutKind::natural};
            const StencilMatrix data = random_data(c, 86);
            const Context context = Context::cpu(1);
            const StructMatrix a = matrix_of(context, c, data);
            const Settings settings{{"storage", storage}, {"degree", std::to_string(degree)}};
            const PreconditionerPlan plan =
                find_preconditioner("chebyshev").plan(parameters_of("chebyshev", settings), setting_of(a));
            const Index before = context.ledger().held();
            const auto m = make("chebyshev", a, settings);
            m->setup(a);
            EXPECT_EQ(context.ledger().held() - before, plan.bytes) << storage;
            EXPECT_EQ(m->bytes_per_apply(), plan.bytes_per_apply) << storage;
        }
}

}  // namespace
}  // namespace hyperplane
