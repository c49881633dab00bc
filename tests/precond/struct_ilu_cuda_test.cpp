// SPDX-License-Identifier: BSD-3-Clause
// struct_ilu on a GPU: factors, solves and applications, compared with sequential block ILU(k) on small grids and with
// the CPU on large ones.
#include "on_device.hpp"
#include "precond/stored_factors.hpp"
#include "precond/struct_ilu/struct_ilu.hpp"
#include "precond/struct_ilu_cuda_cases.hpp"
#include "precond/support.hpp"

namespace hyperplane {
namespace {

using namespace struct_ilu_cases;
using namespace testing_support;
using reference::Box;
using reference::StencilMatrix;

constexpr double tolerance = 1e-13;

struct Factors {
    std::vector<double> lower, inverse, upper;  ///< W, D^-1 and G of M = (I + W) D (I + G); only D^-1 for D-ILU

    friend bool operator==(const Factors&, const Factors&) = default;
};

/// Calls body(row, point, entry) for the couplings inside the grid, without wrapped ones.
template <class Body>
void for_couplings(const Grid& grid, const Stencil& stencil, const Body& body) {
    for (Index row = 0; row < grid.points(); ++row)
        for (int e = 0; e < stencil.size(); ++e)
            if (grid.contains(grid.point(row) + stencil[e])) body(row, grid.point(row), e);
}

Factors factors_of(const IluPreconditioner& m) {
    const StructMatrix held = stored_factors(m.factors());
    Factors factors;
    for_couplings(held.grid(), held.stencil(), [&](Index, Int3 p, int e) {
        const int diagonal = held.stencil().diagonal();
        auto& list = e < diagonal ? factors.lower : e == diagonal ? factors.inverse : factors.upper;
        for (int r = 0; r < held.dof(); ++r)
            for (int c = 0; c < held.dof(); ++c) list.push_back(held.at(p, e, r, c));
    });
    return factors;
}

/// W is the strict lower part of L, G_ij = U_ii^-1 U_ij.
Factors factors_of(const reference::BlockIlu& ilu, const Grid& grid, const Stencil& stencil, bool shares) {
    Factors factors;
    for_couplings(grid, stencil, [&](Index row, Int3 p, int e) {
        const int i = int(row), j = int(grid.row(p + stencil[e])), diagonal = stencil.diagonal();
        if (shares && e != diagonal) return;
        auto& list = e < diagonal ? factors.lower : e == diagonal ? factors.inverse : factors.upper;
        const auto& rows = ilu.factors.rows;
        const reference::Dense block = e < diagonal    ? rows[i].at(j)
                                       : e == diagonal ? ilu.diagonal_inverse[i]
                                                       : reference::product(ilu.diagonal_inverse[i], rows[i].at(j));
        list.insert(list.end(), block.values.begin(), block.values.end());
    });
    return factors;
}

void expect_equal(const Factors& actual, const Factors& expected) {
    EXPECT_LT(reference::relative_difference(actual.lower, expected.lower), tolerance) << "W";
    EXPECT_LT(reference::relative_difference(actual.inverse, expected.inverse), tolerance) << "D^-1";
    EXPECT_LT(reference::relative_difference(actual.upper, expected.upper), tolerance) << "G";
}

/// The results of the lower solve, the upper solve and the application, each from the same vector.
struct Solves {
    std::vector<double> lower, upper, both;

    friend bool operator==(const Solves&, const Solves&) = default;
};

Solves solves_of(const IluPreconditioner& m, const StructMatrix& a, const std::vector<double>& r) {
    const Vector in = to_vector(a.context(), a.layout(), a.dof(), r);
    Vector y = poisoned(a.context(), a.layout(), a.dof()), z = poisoned(a.context(), a.layout(), a.dof());
    m.lower_solve(in, y);
    m.apply(in, z);
    Vector x = in_context(a.context(), in);
    m.upper_solve(x);
    EXPECT_EQ(from_vector(in), r) << "the right-hand side was written to";
    return {from_vector(y), from_vector(x), from_vector(z)};
}

/// y = L^-1 r and z = U^-1 y; for D-ILU y = D^-1 L^-1 r and z = U^-1 D y.
Solves solves_of(const reference::BlockIlu& ilu, const std::vector<double>& r, bool shares) {
    const int dof = ilu.factors.dof, n = int(ilu.factors.rows.size());
    const std::vector<double> b = reference::lower_solve(ilu, r);
    if (!shares) return {b, reference::upper_solve(ilu, r), reference::upper_solve(ilu, b)};
    std::vector<double> y(r.size(), 0.0), dy(r.size(), 0.0);
    for (int i = 0; i < n; ++i) {
        reference::add_product(ilu.diagonal_inverse[i], &b[i * dof], 1.0, &y[i * dof]);
        reference::add_product(ilu.factors.rows[i].at(i), &r[i * dof], 1.0, &dy[i * dof]);
    }
    return {y, reference::upper_solve(ilu, dy), reference::upper_solve(ilu, b)};
}

void expect_equal(const Solves& actual, const Solves& expected) {
    EXPECT_LT(reference::relative_difference(actual.lower, expected.lower), tolerance) << "lower solve";
    EXPECT_LT(reference::relative_difference(actual.upper, expected.upper), tolerance) << "upper solve";
    EXPECT_LT(reference::relative_difference(actual.both, expected.both), tolerance) << "both solves";
}

/// The backends store factors differently, so only the result of both solves together is comparable.
void expect_both_equal(const Solves& actual, const Solves& expected) {
    EXPECT_LT(reference::relative_difference(actual.both, expected.both), tolerance);
}

class StructIluOnDevice : public DeviceTest, public testing::WithParamInterface<Case> {
protected:
    IluPreconditioner make(const Context& context) const { return make(context, GetParam().tuning); }
    IluPreconditioner make(const Context& context, const StructIluTuning& tuning) const {
        IluOptions options;
        options.fill_level = GetParam().fill_level;
        options.may_share = GetParam().may_share;
        return std::move(*make_struct_ilu(context, options, tuning));
    }
    Layout layout(const Box& box) const {
        return Layout(GetParam().kind, reference::to_grid(box),
                      reference::to_stencil({named.name, filled(named.name, GetParam().fill_level)}).level_map());
    }
    StructMatrix random(const Box& box, int seed) const {
        return random_struct_matrix(layout(box), stencil, GetParam().dof, GetParam().storage, seed);
    }
    /// Whether the case is D-ILU in the matrix's own E and F.
    bool shares() const {
        return GetParam().dof == 1 && GetParam().fill_level == 0 && !stencil.eliminates_off_diagonal() &&
               GetParam().may_share;
    }

    reference::NamedStencil named = reference::stencil_named(GetParam().stencil);
    Stencil stencil = reference::to_stencil(named);
};

TEST_P(StructIluOnDevice, EqualsSequentialBlockIlu) {
    const Context gpu = Context::cuda();
    for (const Box& box : boxes_for(GetParam())) {
        SCOPED_TRACE(reference::name_of(box));
        const bool full = GetParam().storage == MatrixStorage::full;
        const StencilMatrix data = full ? reference::random_matrix(box, named.offsets, GetParam().dof, 21)
                                        : reference::random_spd_matrix(box, named.offsets, GetParam().dof, 22);
        const reference::Pattern pattern = reference::stencil_pattern(box, filled(named.name, GetParam().fill_level));
        const reference::BlockMatrix assembled = reference::assembled(data, false);
        const reference::BlockIlu expected =
            full ? reference::block_ilu(assembled, pattern) : reference::block_ic(assembled, pattern);
        const StructMatrix a =
            in_context(gpu, reference::to_struct_matrix(gpu.host(), layout(box), data, GetParam().storage, named.name));
        IluPreconditioner m = make(gpu);
        const SetupReport report = m.setup(a);
        EXPECT_EQ(report.pivots_modified, 0);
        EXPECT_EQ(report.shift, 0.0);
        expect_equal(factors_of(m), factors_of(expected, a.grid(), m.factors().stencil(), shares()));
        for (int seed : {5, 6, 7}) {
            const std::vector<double> r = reference::Random(seed).vector(int(a.unknowns()));
            expect_equal(solves_of(m, a, r), solves_of(expected, r, shares()));
        }
    }
}

TEST_P(StructIluOnDevice, EqualsTheCpuOnLargeGrids) {
    const Context gpu = Context::cuda();
    for (const Box& box : large_boxes_for(GetParam())) {
        SCOPED_TRACE(reference::name_of(box));
        const StructMatrix here = random(box, 31), there = in_context(gpu, here);
        IluPreconditioner m = make(gpu), expected = make(here.context());
        const SetupReport report = m.setup(there), expected_report = expected.setup(here);
        EXPECT_NEAR(report.smallest_pivot_ratio, expected_report.smallest_pivot_ratio, 1e-12);
        EXPECT_EQ(report.smallest_pivot_cell, expected_report.smallest_pivot_cell);
        const bool both_share = shares(), none_shares = stencil.eliminates_off_diagonal() || GetParam().fill_level > 0;
        if (both_share || none_shares) {
            EXPECT_EQ(report.factor_bytes, expected_report.factor_bytes);
        }
        EXPECT_LT(reference::relative_difference(factors_of(m).inverse, factors_of(expected).inverse), tolerance);
        for (int seed : {8, 9}) {
            const std::vector<double> r = reference::Random(seed).vector(int(here.unknowns()));
            expect_both_equal(solves_of(m, there, r), solves_of(expected, here, r));
        }
    }
}

TEST_P(StructIluOnDevice, TwentySolvesHaveTheSameBits) {
    const Context gpu = Context::cuda();
    const StructMatrix a = in_context(gpu, random(large_boxes_for(GetParam()).front(), 32));
    const std::vector<double> r = reference::Random(10).vector(int(a.unknowns()));
    IluPreconditioner m = make(gpu);
    m.setup(a);
    const Solves first = solves_of(m, a, r);
    const Factors factors = factors_of(m);
    if (GetParam().tuning.factor_groups > 1 &&
        !GetParam().tuning.factor_pipeline) {  // a row's entries are summed in the same order, whoever sums them
        StructIluTuning alone = GetParam().tuning;
        alone.factor_groups = 1;
        IluPreconditioner one = make(gpu, alone);
        one.setup(a);
        EXPECT_TRUE(factors_of(one) == factors);
    }
    if (GetParam().tuning.pipelined == 0 && GetParam().dof == 1)
        for (const StructIluTuning& other : {StructIluTuning{.pipelined = 1}, StructIluTuning{.rows = 4}}) {
            IluPreconditioner one = make(gpu, other);
            one.setup(a);
            EXPECT_EQ(solves_of(one, a, r), first) << "terms are added in the same order, whoever adds them";
        }
    for (int repeat = 0; repeat < 20; ++repeat) {
        if (repeat % 5 == 0) {
            m.setup(a);
            const Factors again = factors_of(m);
            ASSERT_TRUE(again == factors) << "repeat " << repeat;
        }
        ASSERT_EQ(solves_of(m, a, r), first) << "repeat " << repeat;
    }
}

TEST_P(StructIluOnDevice, TwoAlternateAndOneIsSetUpAgain) {
    const Context gpu = Context::cuda();
    const Box box = large_boxes_for(GetParam()).back();
    const StructMatrix one = random(box, 33), other = random(box, 34);
    StructMatrix gpu_one = in_context(gpu, one);
    const StructMatrix gpu_other = in_context(gpu, other);
    IluPreconditioner m = make(gpu), n = make(gpu), expected_one = make(one.context()),
                      expected_other = make(one.context());
    m.setup(gpu_one), n.setup(gpu_other), expected_one.setup(one), expected_other.setup(other);
    const std::vector<double> r = reference::Random(11).vector(int(one.unknowns())),
                              s = reference::Random(12).vector(int(one.unknowns()));
    const Solves of_one = solves_of(expected_one, one, r), of_other = solves_of(expected_other, other, s);
    for (int repeat = 0; repeat < 3; ++repeat) {
        expect_both_equal(solves_of(m, gpu_one, r), of_one);
        expect_both_equal(solves_of(n, gpu_other, s), of_other);
    }
    Vector y = to_vector(gpu, one.layout(), one.dof(), r), z = to_vector(gpu, one.layout(), one.dof(), s);
    Vector u = poisoned(gpu, one.layout(), one.dof()), v = poisoned(gpu, one.layout(), one.dof());
    m.lower_solve(y, u), n.lower_solve(z, v), m.upper_solve(u), n.upper_solve(v);
    EXPECT_LT(reference::relative_difference(from_vector(u), of_one.both), tolerance);
    EXPECT_LT(reference::relative_difference(from_vector(v), of_other.both), tolerance);
    gpu_one.assign(other);
    m.setup(gpu_one);
    expect_both_equal(solves_of(m, gpu_one, s), of_other);
}

TEST_P(StructIluOnDevice, ANanReachesAllPointsThatDependOnIt) {
    const Context gpu = Context::cuda();
    const Box box = boxes_for(GetParam())[GetParam().periodic ? 0 : 1];
    const StructMatrix here = random(box, 35), there = in_context(gpu, here);
    IluPreconditioner m = make(gpu), expected = make(here.context());
    m.setup(there), expected.setup(here);
    for (double bad : {double(NAN), double(INFINITY)}) {
        std::vector<double> r = reference::Random(13).vector(int(here.unknowns()));
        r[r.size() / 2] = bad;
        Vector z(gpu, there.layout(), there.dof(), "z");
        m.apply(to_vector(gpu, there.layout(), there.dof(), r), z);
        const std::vector<double> actual = from_vector(z), wanted = testing_support::apply(expected, here, r);
        for (std::size_t at = 0; at < r.size(); ++at)
            ASSERT_FALSE(std::isfinite(actual[at]) && !std::isfinite(wanted[at])) << "row " << at;
    }
}

INSTANTIATE_TEST_SUITE_P(All, StructIluOnDevice, testing::ValuesIn(cases()), [](const auto& info) {
    const Case& c = info.param;
    const auto n = [](int value) { return std::to_string(value); };
    return n(info.index) + "_" + c.stencil + "_k" + n(c.fill_level) + "_dof" + n(c.dof) + "_" + to_string(c.kind) +
           (c.storage == MatrixStorage::full ? "_full" : "_lower") + (c.periodic ? "_periodic" : "") +
           (c.tuning.lookahead ? "_sets" + n(c.tuning.lookahead) : "") + (c.tuning.edges_wait ? "_edges_wait" : "") +
           (c.tuning.run ? "_run" + n(c.tuning.run) : "") + (c.tuning.rows > 0 ? "_rows" + n(c.tuning.rows) : "") +
           (c.tuning.pipelined == 0 ? "_by_one" : "") +
           (c.tuning.tile_j ? "_tile" + n(c.tuning.tile_j) + "x" + n(c.tuning.tile_k) : "") +
           (c.tuning.factor_j ? "_factor" + n(c.tuning.factor_j) + "x" + n(c.tuning.factor_k) : "") +
           (c.tuning.factor_pipeline ? "_pipeline" : "") +
           (c.tuning.factor_groups ? "_groups" + n(c.tuning.factor_groups) + "_waiting" + n(c.tuning.factor_waiting)
                                   : "");
});

}  // namespace
}  // namespace hyperplane
