// SPDX-License-Identifier: BSD-3-Clause
// Half precision: rounding, widening, and the scale of a row; reports of values that do not fit.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "precond/factors/pivots.hpp"
#include "precond/factors/reduced.hpp"
#include "precond/support.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

double value_of_half(unsigned bits) {
    const int exponent = int(bits >> 10 & 31), fraction = int(bits & 1023);
    const double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 ? -size : size;
}

TEST(Halves, AreWidenedExactlyAndRoundedToNearestEven) {
    for (unsigned bits = 0; bits < 1u << 16; ++bits) {
        if ((bits >> 10 & 31) == 31) continue;  // the program never produces infinities and NaN in half precision
        const double value = value_of_half(bits);
        ASSERT_EQ(widened(Half{std::uint16_t(bits)}), value) << bits;
        ASSERT_EQ(half_of(value).bits, bits) << value;
        if ((bits & 0x7fff) >= 0x7bff) continue;
        const double next = value_of_half(bits + 1), middle = (value + next) / 2;
        const unsigned even = bits % 2 == 0 ? bits : bits + 1;
        ASSERT_EQ(half_of(middle).bits, even) << middle;
        ASSERT_EQ(half_of(std::nextafter(middle, value)).bits, bits) << middle;
        ASSERT_EQ(half_of(std::nextafter(middle, next)).bits, bits + 1) << middle;
    }
}

TEST(Halves, AreScaledByTheRow) {
    for (double largest : {1.0, 3e30, 2e-30, 65504.0, 1e38, 0x1.ffffffffffp14}) {
        RowRounding<Half> row;
        for (double value : {largest / 3.0, -largest, 0.0}) row.see(value);
        const double scale = scale_of(row.settle());
        const double kept = widened(row.rounded(largest));
        EXPECT_GE(kept, 0x1p14);
        EXPECT_LE(kept, 0x1p15);
        for (double part : {1.0, 1.0 / 3.0, 1e-4, 1e-8})
            EXPECT_NEAR(widened(row.rounded(part * largest)) * scale, part * largest, 0x1p-11 * part * largest);
        RoundingLog log{empty_pivot_log(), 0};
        row.tell(log, 0);
        EXPECT_EQ(log.flushed, 0u);
        EXPECT_EQ(widened(row.rounded(1e-13 * largest)), 0.0);
        row.tell(log, 0);
        EXPECT_EQ(log.flushed, 1u);
        EXPECT_EQ(log.overflows.failures, 0u);
    }
}

TEST(Halves, WhatDoesNotFitIsReported) {
    for (double value : {1e60, double(INFINITY), double(NAN)}) {
        RowRounding<Half> row;
        row.see(value);
        row.see(1.0);
        row.settle();
        row.rounded(value);
        RoundingLog log{empty_pivot_log(), 0};
        row.tell(log, 17);
        EXPECT_EQ(log.overflows.failures, 1u);
        EXPECT_EQ(log.overflows.failed[0], 17u);
    }
}

/// W and G of one matrix row both have a value that does not fit; that of W is reported, for any number of threads.
TEST(ReducedFactors, ReportTheFirstOfTheRowsThatDoNotFit) {
    const Layout layout(LayoutKind::natural, {5, 4, 3}, {1, 1});
    StructMatrix e(Context::cpu(1), layout, Stencil::star7(), 1), d(Context::cpu(1), layout, Stencil::star7(), 1);
    const int diagonal = e.stencil().diagonal();
    for (Index at = 0; at < layout.slots(); ++at) d.values(diagonal)[at] = 1.0;
    const Int3 cell{2, 1, 1};
    e.values(diagonal - 1)[layout.slot(cell)] = 1e50;
    e.values(diagonal + 1)[layout.slot(cell)] = 1e60;
    const FactorView factors{
        layout, block_view(std::as_const(e)), block_view(std::as_const(d), diagonal), nullptr, diagonal, false, true};
    for (int threads : {1, 2, 3}) {
        const Context context = Context::cpu();
        const SeveralThreads several(context, threads);
        ReducedFactors reduced(context, FactorStorage::single_precision, layout, e.stencil().offsets(), 1, false,
                               CoefficientOrder::apart);
        const Rounding met = reduced.round(factors);
        EXPECT_EQ(met.overflows, 2);
        EXPECT_EQ(met.overflow.cell, cell);
        EXPECT_EQ(met.overflow.component, 0);
        EXPECT_EQ(met.overflow.value, 1e50);
    }
}

}  // namespace
}  // namespace hyperplane
