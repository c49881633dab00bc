// SPDX-License-Identifier: BSD-3-Clause
// The coefficient fields: their values, statistics and seeds.
#include "problems/coefficient_field.hpp"

#include "problems/poisson.hpp"
#include "problems/system.hpp"

namespace hyperplane::test {
namespace {

struct Field {
    Domain domain;
    CoefficientField field;

    double operator()(int axis, Int3 p) const { return field.view().at(axis, domain.grid.row(p)); }
    double log_mean(int axis = 0) const {
        return moment(axis, [](double g) { return g; });
    }
    double log_variance() const {
        return moment(0, [](double g) { return g * g; }) - log_mean() * log_mean();
    }
    template <class F>
    double moment(int axis, const F& f) const {
        double sum = 0.0;
        for (Index row = 0; row < domain.grid.points(); ++row) sum += f(std::log(field.view().at(axis, row)));
        return sum / double(domain.grid.points());
    }
};

Field make_field(const char* kind, const char* cells, const Keys& more = {}) {
    Parameters parameters(common_problem_parameters());
    parameters.add(poisson_parameters());
    parameters.set("grid", "cells", cells);
    parameters.set("problem", "coefficient", kind);
    for (const auto& [key, value] : more)
        parameters.set("problem", key, value, {Provenance::Source::deck, "test.ini", 1});
    const Domain domain = make_domain(parameters, Centring::cell);
    return {domain, CoefficientField(parameters, domain, Context::cpu(), {})};
}

TEST(CoefficientField, WhiteIsIndependentLogNormal) {
    const Field k = make_field("white", "32", {{"log_standard_deviation", "2"}});
    EXPECT_NEAR(k.log_mean(), 0.0, 0.05);
    EXPECT_NEAR(k.log_variance(), 4.0, 0.15);
    double covariance = 0.0;
    for (int z = 0; z < 32; ++z)
        for (int y = 0; y < 32; ++y)
            for (int x = 0; x < 31; ++x) covariance += std::log(k(0, {x, y, z})) * std::log(k(0, {x + 1, y, z}));
    EXPECT_NEAR(covariance / (31 * 32 * 32), 0.0, 0.1);
}

/// The covariance of the modes is s^2 exp(-r^2 / (2 l^2)), measured as the mean over fields of many seeds.
TEST(CoefficientField, LognormalHasItsVarianceAndCorrelation) {
    double variance = 0.0, covariance = 0.0;
    const int seeds = 40;
    for (int seed = 0; seed < seeds; ++seed) {
        const std::string text = std::to_string(seed);
        const Field k = make_field(
            "lognormal", "20 20 4",
            {{"log_standard_deviation", "1"}, {"correlation_length", "0.1 0.2 0.1"}, {"seed", text.c_str()}});
        for (int y = 0; y < 16; ++y)
            for (int x = 0; x < 20; ++x) {
                const double here = std::log(k(0, {x, y, 1}));
                variance += here * here;
                covariance += here * std::log(k(0, {x, y + 4, 1}));  // at a distance of one correlation length along y
            }
    }
    variance /= seeds * 16 * 20;
    covariance /= seeds * 16 * 20;
    EXPECT_NEAR(variance, 1.0, 0.1);
    EXPECT_NEAR(covariance / variance, std::exp(-0.5), 0.1);
}

TEST(CoefficientField, SeedsMakeFields) {
    const Field one = make_field("lognormal", "8", {{"seed", "1"}}),
                same = make_field("lognormal", "8", {{"seed", "1"}}),
                two = make_field("lognormal", "8", {{"seed", "2"}});
    EXPECT_EQ(one(0, {3, 2, 1}), same(0, {3, 2, 1}));
    EXPECT_NE(one(0, {3, 2, 1}), two(0, {3, 2, 1}));
}

TEST(CoefficientField, CheckerAlternatesInEightBlocksASide) {
    const Field k = make_field("checker", "16 8 1", {{"contrast", "100"}});
    for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 16; ++x) EXPECT_EQ(k(0, {x, y, 0}), (x / 2 + y) % 2 ? 100.0 : 1.0);
}

TEST(CoefficientField, InclusionsFillAnEighth) {
    const Field k = make_field("inclusions", "16", {{"contrast", "1e-6"}});
    int inside = 0;
    for (Index row = 0; row < 4096; ++row) inside += k.field.view().at(0, row) == 1e-6;
    EXPECT_EQ(inside, 4096 / 8);
    EXPECT_EQ(k(0, {1, 1, 1}), 1e-6);
    EXPECT_EQ(k(0, {0, 1, 1}), 1.0);
}

TEST(CoefficientField, Spe10likeIsATenthAlongZ) {
    const Field k = make_field("spe10like", "6 10 12");
    EXPECT_DOUBLE_EQ(k(2, {1, 2, 3}), 0.1 * k(0, {1, 2, 3}));
    EXPECT_EQ(k(1, {1, 2, 3}), k(0, {1, 2, 3}));
}

}  // namespace
}  // namespace hyperplane::test
