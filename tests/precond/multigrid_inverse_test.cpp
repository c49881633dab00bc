// SPDX-License-Identifier: BSD-3-Clause
// The inverse of the coarsest grid's matrix is that of its definition, whatever the panels of the elimination.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "on_device.hpp"
#include "precond/multigrid/constants.hpp"
#include "precond/multigrid/dense_inverse.hpp"
#include "precond/multigrid/dense_solve.hpp"
#include "precond/multigrid/positive_inverse.hpp"
#include "precond/support.hpp"

namespace hyperplane {
namespace {

/// Rows of random values, of which those within `band` of the diagonal are not zero, and a diagonal that is so small
/// in every third row that rows have to be exchanged.
std::vector<double> dense_matrix(Index n, Index band) {
    std::vector<double> a(std::size_t(n * n), 0.0);
    for (Index i = 0; i < n; ++i)
        for (Index j = std::max<Index>(0, i - band); j < std::min(n, i + band + 1); ++j)
            a[std::size_t(i * n + j)] = random_symmetric(7, std::uint64_t(i * n + j));
    for (Index i = 0; i < n; ++i) a[std::size_t(i * n + i)] *= i % 3 == 0 ? 1e-8 : 2.0;
    return a;
}

/// The largest value of A B - I.
double distance_from_identity(const std::vector<double>& a, const std::vector<double>& b, Index n) {
    double most = 0.0;
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) {
            double sum = i == j ? -1.0 : 0.0;
            for (Index k = 0; k < n; ++k) sum += a[std::size_t(i * n + k)] * b[std::size_t(k * n + j)];
            most = std::max(most, std::abs(sum));
        }
    return most;
}

TEST(MultigridInverse, TimesTheMatrixIsTheIdentityForEverySizeOfTheLastPanel) {
    for (const Index n : {1, 2, 15, 16, 17, 31, 33, 64, 100, 149})
        for (const Index band : {Index(3), n}) {
            SCOPED_TRACE(std::to_string(n) + " rows, band " + std::to_string(band));
            if (n == 1 && band == 1) continue;
            const std::vector<double> a = dense_matrix(n, band);
            std::vector<double> inverse = a;
            ASSERT_EQ(multigrid::invert(Context::cpu(1), inverse.data(), n), -1);
            double size = 0.0;
            for (const double value : inverse) size = std::max(size, std::abs(value));
            EXPECT_LT(distance_from_identity(a, inverse, n), 1e-12 * double(n) * std::max(1.0, size));
        }
}

TEST(MultigridInverse, HasTheSameBitsForAnyNumberOfThreads) {
    constexpr Index n = 531;
    std::vector<double> one = dense_matrix(n, 80), three = one;
    const Context context = Context::cpu(3);
    context.set_least_parallel_work(0);
    ASSERT_EQ(multigrid::invert(Context::cpu(1), one.data(), n), -1);
    ASSERT_EQ(multigrid::invert(context, three.data(), n), -1);
    EXPECT_EQ(std::memcmp(one.data(), three.data(), one.size() * sizeof(double)), 0);
}

/// A symmetric matrix whose diagonal exceeds the sums of its rows, except in one row if that is given.
std::vector<double> positive_matrix(Index n, Index band, Index except = -1) {
    std::vector<double> a(std::size_t(n * n), 0.0);
    for (Index i = 0; i < n; ++i)
        for (Index j = std::max<Index>(0, i - band); j < i; ++j)
            a[std::size_t(i * n + j)] = a[std::size_t(j * n + i)] = random_symmetric(9, std::uint64_t(i * n + j));
    for (Index i = 0; i < n; ++i) {
        double sum = 0.01;
        for (Index j = 0; j < n; ++j) sum += std::abs(a[std::size_t(i * n + j)]);
        a[std::size_t(i * n + i)] = i == except ? -sum : sum;
    }
    return a;
}

/// The lower triangle of a matrix of n rows within its band.
multigrid::PositiveInverse band_of(const std::vector<double>& a, Index n, Index band) {
    multigrid::PositiveInverse inverse(Context::cpu(1), n, std::min(band, n - 1));
    for (Index i = 0; i < n; ++i)
        for (Index j = std::max<Index>(0, i - inverse.band()); j <= i; ++j)
            inverse.at(i, j) = a[std::size_t(i * n + j)];
    return inverse;
}

std::vector<double> inverse_of(const Context& context, const std::vector<double>& a, Index n, Index band) {
    multigrid::PositiveInverse factors = band_of(a, n, band);
    EXPECT_TRUE(factors.factor(Backend::cpu));
    std::vector<double> inverse(a.size(), NAN);
    factors.invert(context, inverse.data());
    return inverse;
}

TEST(MultigridInverse, OfAPositiveMatrixIsThatOfEliminationAndSymmetric) {
    for (const Index n : {1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 33, 100, 149})
        for (const Index band : {Index(0), Index(1), Index(3), Index(13), n}) {
            SCOPED_TRACE(std::to_string(n) + " rows, band " + std::to_string(band));
            const std::vector<double> a = positive_matrix(n, band);
            const std::vector<double> inverse = inverse_of(Context::cpu(1), a, n, band);
            std::vector<double> other = a;
            ASSERT_EQ(multigrid::invert(Context::cpu(1), other.data(), n), -1);
            double size = 0.0;
            for (const double value : other) size = std::max(size, std::abs(value));
            for (std::size_t at = 0; at < a.size(); ++at) ASSERT_NEAR(inverse[at], other[at], 1e-11 * size) << at;
            EXPECT_LT(distance_from_identity(a, inverse, n), 1e-12 * double(n) * std::max(1.0, size));
            for (Index i = 0; i < n; ++i)
                for (Index j = 0; j < i; ++j)
                    ASSERT_EQ(inverse[std::size_t(i * n + j)], inverse[std::size_t(j * n + i)]) << i << " " << j;
        }
}

TEST(MultigridInverse, OfAPositiveMatrixHasTheSameBitsForAnyNumberOfThreads) {
    constexpr Index n = 531;
    const std::vector<double> a = positive_matrix(n, 80);
    const Context context = Context::cpu(3);
    context.set_least_parallel_work(0);
    const std::vector<double> one = inverse_of(Context::cpu(1), a, n, 80), three = inverse_of(context, a, n, 80);
    EXPECT_EQ(std::memcmp(one.data(), three.data(), one.size() * sizeof(double)), 0);
}

class MultigridInverseOnDevice : public testing_support::DeviceTest {};

TEST_F(MultigridInverseOnDevice, HasTheHostsBits) {
    const Context gpu = Context::cuda();
    for (const Index n : {1, 2, 31, 32, 33, 64, 65, 100, 149, 513})
        for (const Index band : {0, 1, 13, 31, 32, 33, 73, 127, 200, 224}) {
            if (band >= n && n > 2) continue;
            SCOPED_TRACE(std::to_string(n) + " rows, band " + std::to_string(band));
            const std::vector<double> a = positive_matrix(n, band), here = inverse_of(Context::cpu(1), a, n, band);
            multigrid::PositiveInverse factors = band_of(a, n, band);
            ASSERT_TRUE(multigrid::PositiveInverse::serves_gpu(factors.band()));
            ASSERT_TRUE(factors.factor(Backend::cuda));
            Buffer<double> inverse = copied_to(gpu, "inverse", std::vector<double>(a.size(), NAN));
            if constexpr (cuda_built) factors.invert_on_gpu(gpu, inverse.data());
            std::vector<double> there(a.size());
            gpu.stream().copy(inverse.data(), there.data(), inverse.size() * Index(sizeof(double)));
            EXPECT_EQ(std::memcmp(here.data(), there.data(), here.size() * sizeof(double)), 0);
        }
}

TEST(MultigridInverse, RefusesAMatrixThatIsNotPositive) {
    for (const Index row : {0, 20, 39}) {
        std::vector<double> a = positive_matrix(40, 7, row);
        EXPECT_FALSE(band_of(a, 40, 7).factor(Backend::cpu));
        a[std::size_t(row * 40 + row)] = NAN;
        EXPECT_FALSE(band_of(a, 40, 7).factor(Backend::cpu));
    }
    EXPECT_FALSE(band_of({1.0, -1.0, -1.0, 1.0}, 2, 1).factor(Backend::cpu));
}

TEST(MultigridInverse, TellsWhereItStops) {
    constexpr Index n = 40;
    for (const double value : {0.0, double(NAN)}) {
        std::vector<double> a = dense_matrix(n, n);
        for (Index i = 0; i < n; ++i) a[std::size_t(i * n + 21)] = value;
        EXPECT_EQ(multigrid::invert(Context::cpu(1), a.data(), n), 21);
    }
}

std::vector<int> exponents(Index n, std::uint64_t seed) {
    std::vector<int> list;
    for (Index i = 0; i < n; ++i) list.push_back(seed == 0 ? 0 : int(120.0 * random_symmetric(seed, std::uint64_t(i))));
    return list;
}

/// 2^(sign row[i]) a[i][j] 2^(sign column[j])
std::vector<double> in_units(std::vector<double> a, const std::vector<int>& row, const std::vector<int>& column,
                             int sign) {
    const std::size_t n = row.size();
    for (std::size_t at = 0; at < a.size(); ++at) a[at] = std::ldexp(a[at], sign * (row[at / n] + column[at % n]));
    return a;
}

TEST(MultigridInverse, OfRowsAndColumnsInOtherUnits) {
    for (const Index n : {2, 17, 40, 100})
        for (const auto& [row_seed, column_seed] : {std::array{3, 0}, {0, 4}, {3, 4}}) {
            SCOPED_TRACE(std::to_string(n) + " rows, units " + std::to_string(row_seed) + std::to_string(column_seed));
            const std::vector<double> plain = dense_matrix(n, n);
            const std::vector<int> row = exponents(n, row_seed), column = exponents(n, column_seed);
            std::vector<double> a = in_units(plain, row, column, 1), unscaled = a;
            const bool succeeds = multigrid::invert(Context::cpu(1), unscaled.data(), n) < 0;
            EXPECT_FALSE(succeeds && n > 2);
            const multigrid::Scales scales = multigrid::equilibrate(a.data(), n, false);
            for (Index i = 0; i < n; ++i) {
                double in_row = 0.0, in_column = 0.0;
                for (Index j = 0; j < n; ++j) {
                    in_row = std::max(in_row, std::abs(a[std::size_t(i * n + j)]));
                    in_column = std::max(in_column, std::abs(a[std::size_t(j * n + i)]));
                }
                EXPECT_TRUE(in_row > 0.25 && in_row < 2.0 && in_column >= 1.0 && in_column < 2.0) << i;
            }
            ASSERT_EQ(multigrid::invert(Context::cpu(1), a.data(), n, multigrid::least_scaled_pivot), -1);
            multigrid::undo(scales, a.data(), n);
            const std::vector<double> inverse = in_units(a, column, row, 1);
            double size = 1.0;
            for (const double value : inverse) size = std::max(size, std::abs(value));
            EXPECT_LT(distance_from_identity(plain, inverse, n), 1e-12 * double(n) * size);
        }
}

TEST(MultigridInverse, KeepsTheScalesOfZeros) {
    std::vector<double> a{0.0, 0.0, 0.0, 0x1p-1060};
    const multigrid::Scales scales = multigrid::equilibrate(a.data(), 2, false);
    EXPECT_EQ(a, (std::vector<double>{0.0, 0.0, 0.0, 1.0}));
    EXPECT_EQ(scales.row, (std::vector<int>{0, 1060}));
    EXPECT_EQ(scales.column, (std::vector<int>{0, 0}));
    EXPECT_EQ(multigrid::invert(Context::cpu(1), a.data(), 2), 0);
}

double flow_unit(const reference::Offset& p) {
    return p.x < 2 ? 1.0 : 0x1p-60;
}

/// Flow that is stronger along x, with walls or without any prescribed value. Some of the rows, and the second unknown,
/// are in other units; so are columns if the matrix is symmetric, which is then negative.
reference::StencilMatrix flow_in_units(int dof, bool walls, bool symmetric) {
    reference::StencilMatrix data{{5, 4, 3}, reference::stencil_named("star7").offsets, dof, {}};
    data.blocks.resize(std::size_t(data.box.points()));
    for (int row = 0; row < data.box.points(); ++row) {
        const reference::Offset p = data.box.point(row);
        const auto set = [&](const reference::Offset& o, double value) {
            reference::Dense block(dof, dof);
            const double scaled = value * flow_unit(p) * (symmetric ? -flow_unit(p + o) : 1.0);
            for (int c = 0; c < dof; ++c) block(c, c) = c == 0 ? scaled : 0x1p-70 * scaled;
            data.blocks[row][o] = block;
        };
        double sum = 0.0;
        for (const reference::Offset& o : data.offsets) {
            if (o == reference::Offset{}) continue;
            const double value = 1.0 + (symmetric ? 0.0 : 0.25 * o.x);
            if (data.box.contains(p + o)) set(o, -value);
            if (walls || data.box.contains(p + o)) sum += value;
        }
        set({}, sum);
    }
    return data;
}

std::vector<double> flow_inverse(const Context& context, const reference::StencilMatrix& data, bool symmetric) {
    const Layout layout = testing_support::layout_for(LayoutKind::natural, data, "star7", 0);
    return multigrid::DenseSolve(
               context, reference::to_struct_matrix(Context::cpu(1), layout, data,
                                                    symmetric ? MatrixStorage::lower : MatrixStorage::full, "star7"))
        .natural_inverse();
}

TEST(MultigridInverse, SolvesSystemsInOtherUnits) {
    for (const auto& [walls, symmetric] : {std::array{true, false}, {true, true}, {false, false}})
        for (const int dof : {1, 2}) {
            SCOPED_TRACE(std::string(walls ? "walls" : "no walls") + (symmetric ? ", symmetric, " : ", ") +
                         std::to_string(dof));
            const reference::StencilMatrix data = flow_in_units(dof, walls, symmetric);
            const reference::BlockMatrix a = reference::assembled(data);
            std::vector<double> x = reference::Random(12).vector(a.unknowns());
            const auto n = x.size(), unknowns = std::size_t(dof);
            if (!walls)  // known up to a constant
                for (std::size_t c = 0; c < unknowns; ++c) {
                    double sum = 0.0;
                    for (std::size_t i = c; i < n; i += unknowns) sum += x[i];
                    for (std::size_t i = c; i < n; i += unknowns) x[i] -= sum / (double(n) / dof);
                }
            const auto unit = [&, symmetric = symmetric](std::size_t i) {
                return symmetric ? flow_unit(data.box.point(int(i / unknowns))) : 1.0;
            };
            for (std::size_t i = 0; i < n; ++i) x[i] /= unit(i);
            const std::vector<double> b = reference::multiply(a, x).value;
            const std::vector<double> inverse = flow_inverse(Context::cpu(1), data, symmetric);
            for (std::size_t i = 0; i < n; ++i) {
                double sum = 0.0;
                for (std::size_t j = 0; j < n; ++j) sum += inverse[i * n + j] * b[j];
                EXPECT_NEAR(sum * unit(i), x[i] * unit(i), 1e-12) << i;
            }
        }
}

/// Star7 on 5 x 4 x 3 points without boundary values, whose conductivities jump by 2^40 from a point to the next, with
/// `part` of a row's diagonal added to it.
StructMatrix walls_of_jumps(const Context& context, double part) {
    reference::StencilMatrix data{{5, 4, 3}, reference::stencil_named("star7").offsets, 1, {}};
    data.blocks.resize(std::size_t(data.box.points()));
    const auto weight = [](const reference::Offset& p) { return (p.x + p.y + p.z) % 2 == 0 ? 1.0 : 0x1p40; };
    for (int row = 0; row < data.box.points(); ++row) {
        const reference::Offset p = data.box.point(row);
        const auto set = [&](const reference::Offset& o, double value) {
            reference::Dense block(1, 1);
            block(0, 0) = value;
            data.blocks[std::size_t(row)][o] = block;
        };
        double sum = 0.0;
        for (const reference::Offset& o : data.offsets) {
            if (o == reference::Offset{} || !data.box.contains(p + o)) continue;
            const double value = (o.x == 0 ? 1.0 : weight(p) + weight(p + o)) / 3.0;
            set(o, -value);
            sum += value;
        }
        set({}, sum * (1.0 + part));
    }
    const Layout layout = testing_support::layout_for(LayoutKind::natural, data, "star7", 0);
    return testing_support::in_context(
        context, reference::to_struct_matrix(context.host(), layout, data, MatrixStorage::lower, "star7"));
}

TEST(MultigridInverse, OfAMatrixThatIsKnownToLackAConstantLeavesItOut) {
    const Context one = Context::cpu(1);
    EXPECT_TRUE(multigrid::DenseSolve::doubtful(walls_of_jumps(one, 0.0)).empty());  // certain
    EXPECT_TRUE(multigrid::DenseSolve::doubtful(walls_of_jumps(one, 0.1)).empty());
    const StructMatrix a = walls_of_jumps(one, 1e-8);
    const std::vector<int> first{0};
    EXPECT_EQ(multigrid::DenseSolve::doubtful(a), first);
    const auto n = std::size_t(a.unknowns());
    for (const bool known : {false, true}) {
        const std::vector<int> lacking = known ? first : std::vector<int>{};
        const std::vector<double> inverse =
            multigrid::DenseSolve(one, a, multigrid::DenseSolve::factor(a, Backend::cpu, lacking), lacking)
                .natural_inverse();
        for (std::size_t i = 0; i < n; ++i) {
            double sum = 0.0, magnitude = 0.0;
            for (std::size_t j = 0; j < n; ++j) {
                sum += inverse[i * n + j];
                magnitude += std::abs(inverse[i * n + j]);
            }
            if (known)
                EXPECT_LT(std::abs(sum), 1e-12 * magnitude);
            else
                EXPECT_GT(std::abs(sum), 0.5 * magnitude);
        }
    }
}

void expect_constants(const Context& context) {
    const std::vector<int> none, first{0};
    EXPECT_EQ(multigrid::without_constants(walls_of_jumps(context, 0.0), first), first);
    EXPECT_EQ(multigrid::without_constants(walls_of_jumps(context, 0.0), none), none);
    EXPECT_EQ(multigrid::without_constants(walls_of_jumps(context, 1e-12), first), none);
}

TEST(MultigridInverse, FindsConstantsToTheRoundingOfRows) {
    expect_constants(Context::cpu(1));
    const Context several = Context::cpu(3);
    several.set_least_parallel_work(0);
    expect_constants(several);
}

TEST_F(MultigridInverseOnDevice, FindsConstantsToTheRoundingOfRows) {
    expect_constants(Context::cuda());
}

TEST_F(MultigridInverseOnDevice, HasTheHostsBitsInOtherUnits) {
    const reference::StencilMatrix data = flow_in_units(2, false, false);
    EXPECT_EQ(flow_inverse(Context::cuda(), data, false), flow_inverse(Context::cpu(1), data, false));
}

}  // namespace
}  // namespace hyperplane
