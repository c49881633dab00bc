// SPDX-License-Identifier: BSD-3-Clause
#include "core/vector/single_vector.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <tuple>
#include <vector>

#include "core/vector/blas1.hpp"
#include "core/vector/scalars.hpp"
#include "reference/bridge.hpp"

namespace hyperplane {
namespace {

/// Vectors of two components, whose odd and even sizes are less than one and many blocks of a sum.
class SingleVectors : public testing::TestWithParam<std::tuple<reference::Box, LayoutKind, Backend>> {
protected:
    void SetUp() override {
        if (std::get<2>(GetParam()) == Backend::cuda) {
            if (!device::available()) GTEST_SKIP() << device::unavailable();
            context = Context::cuda();
        }
        layout = Layout(std::get<1>(GetParam()), reference::to_grid(std::get<0>(GetParam())), {1, 1});
        scalars.emplace(context, "test", 3);
    }
    std::vector<double> random(std::uint64_t seed) const {
        return reference::Random(seed).vector(int(2 * layout.slots()));
    }
    Vector vector(const std::vector<double>& by_slot) const {
        Vector host(Context::cpu(1), layout, 2, "host"), x(context, layout, 2, "x");
        std::copy(by_slot.begin(), by_slot.end(), host.data());
        transfer(host, x);
        return x;
    }
    std::vector<double> values(const Vector& x) const {
        Vector copy;
        const Vector& readable = on_host(x, copy);
        return {readable.data(), readable.data() + readable.size()};
    }
    SingleVector rounded(const std::vector<double>& by_slot) const {
        SingleVector x(context, layout, 2, "x");
        round_to_single(vector(by_slot), x);
        return x;
    }
    std::vector<double> values(const SingleVector& x) const {
        Vector wide(context, layout, 2, "wide");
        widen(x, wide);
        return values(wide);
    }
    double known(Index place) const { return scalars->get(place, 1)[0]; }

    Context context = Context::cpu(1);
    Layout layout;
    std::optional<Scalars> scalars;
};

TEST_P(SingleVectors, AreRoundedOnce) {
    const std::vector<double> x = random(1), y = random(2);
    const SingleVector single = rounded(x);
    SingleVector sum = rounded(y), scaled = rounded(x), difference(context, layout, 2, "z");
    axpy(0.75, single, sum);
    scale(1.0 / 3.0, scaled);
    subtract(single, vector(y), difference);
    const std::vector<double> of_sum = values(sum), of_scaled = values(scaled), of_difference = values(difference);
    for (std::size_t at = 0; at < x.size(); ++at) {
        const double one = float(x[at]), other = float(y[at]);
        EXPECT_EQ(of_sum[at], double(float(std::fma(0.75, one, other))));
        EXPECT_EQ(of_scaled[at], double(float(1.0 / 3.0 * one)));
        EXPECT_EQ(of_difference[at], double(float(one - y[at])));
    }
}

TEST_P(SingleVectors, AreWidenedWithTheBitsOfTheProductAfterwards) {
    const SingleVector x = rounded(random(1));
    const Vector r = vector(random(2));
    Vector y(context, layout, 2, "y"), expected(context, layout, 2, "expected");
    for (const double square : {0.0, 1.0, 1e-40, 7e80}) {
        scalars->set(0, std::vector{square});
        widen_scaled(x, scalars->data(), expected);
        dot(r, expected, scalars->data() + 1);
        widen_scaled_dot(x, scalars->data(), r, y, scalars->data() + 2);
        EXPECT_EQ(values(y), values(expected)) << square;
        EXPECT_EQ(known(2), known(1)) << square;
    }
}

const auto boxes = testing::Values(reference::Box{1, 1, 1}, reference::Box{17, 9, 5}, reference::Box{33, 17, 9},
                                   reference::Box{64, 64, 17});
const auto layouts = testing::Values(LayoutKind::natural, LayoutKind::hyperplane);
const auto name_of = [](const auto& info) {
    return reference::name_of(std::get<0>(info.param)) +
           (std::get<1>(info.param) == LayoutKind::natural ? "natural" : "hyperplane");
};
INSTANTIATE_TEST_SUITE_P(OnHost, SingleVectors, testing::Combine(boxes, layouts, testing::Values(Backend::cpu)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(OnDevice, SingleVectors, testing::Combine(boxes, layouts, testing::Values(Backend::cuda)),
                         name_of);

}  // namespace
}  // namespace hyperplane
