// SPDX-License-Identifier: BSD-3-Clause
// The inverse of the coarsest grid's matrix is that of its definition, whatever the panels of the elimination.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "core/random.hpp"
#include "on_device.hpp"
#include "precond/multigrid/dense_inverse.hpp"
#include "precond/multigrid/positive_inverse.hpp"

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

}  // namespace
}  // namespace hyperplane
