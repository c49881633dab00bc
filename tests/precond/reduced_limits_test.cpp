// SPDX-License-Identifier: BSD-3-Clause
// Factors in reduced precision: the values that they can and cannot represent, their memory, and the preconditioners
// that have them.
#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "on_device.hpp"
#include "precond/factors/reduced.hpp"
#include "precond/support.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using enum FactorStorage;

/// A preconditioner that stores factors of both triangles in each storage.
struct Made {
    std::string name;
    Settings settings;

    std::unique_ptr<Preconditioner> in(FactorStorage storage, const StructMatrix& a) const {
        Settings all = settings;
        all.push_back({"storage", to_string(storage)});
        return make(name, a, all);
    }
};
const std::vector<Made>& with_storages() {
    static const std::vector<Made> list{{"struct_ilu", {}},
                                        {"fgbilu", {{"style", "kernels"}}},
                                        {"fgbilu", {{"style", "blocks"}}},
                                        {"multicolor", {}},
                                        {"subdomain_ildu0", {}}};
    return list;
}

/// A = (I + W) D (I + G) on a line of points, where all coefficients of W, D and G are powers of two.
StructMatrix of_powers_of_two(const Layout& layout) {
    StructMatrix a(Context::cpu(1), layout, Stencil::star7(), 1);
    const Grid& grid = layout.grid();
    const Int3 step{grid.nx > 1, grid.ny > 1, grid.nz > 1};
    reference::Random random(3);
    const auto power = [&] { return (random() < 0.0 ? -1.0 : 1.0) * std::ldexp(1.0, int(3.0 * random()) - 3); };
    double before = 0.0, g = 0.0;
    Int3 p;
    for (Index row = 0; row < grid.points(); ++row, p = p + step) {
        const double w = row > 0 ? power() : 0.0, d = std::ldexp(1.0, int(row % 5)), next = power();
        const Index slot = layout.slot(p);
        if (row > 0) a.values(a.stencil().find(-step))[slot] = w * before;
        a.values(a.stencil().diagonal())[slot] = d + w * before * g;
        if (row + 1 < grid.points()) a.values(a.stencil().find(step))[slot] = d * next;
        before = d, g = next;
    }
    return a;
}

TEST(ReducedFactors, WhatCanBeKeptExactlyGivesTheExactAnswer) {
    for (const Box& box : {Box{41, 1, 1}, Box{1, 41, 1}, Box{1, 1, 41}})
        for (LayoutKind kind : layout_kinds)
            for (FactorStorage storage : reduced_factor_storages) {
                SCOPED_TRACE(reference::name_of(box) + " " + to_string(storage));
                const StructMatrix a =
                    of_powers_of_two(Layout(kind, reference::to_grid(box), Stencil::star7().level_map()));
                const std::vector<double> r = reference::Random(7).vector(int(a.unknowns()));
                const auto exact = make("struct_ilu", a), m = make("struct_ilu", a, {{"storage", to_string(storage)}});
                exact->setup(a);
                m->setup(a);
                EXPECT_LT(reference::relative_difference(apply(*m, a, r), apply(*exact, a, r)), 1e-14);
                EXPECT_LT(reference::relative_difference(apply(a, a, apply(*m, a, r)), r), 1e-12);
            }
}

/// A matrix for which the magnitudes of the rows of W and D^-1 range over `decades` orders of magnitude in both
/// directions. Only odd points depend on even ones, so that magnitudes do not multiply from point to point, and sums
/// have no cancellation.
StructMatrix badly_scaled(double decades) {
    const Grid grid = reference::to_grid({9, 7, 5});
    const Layout layout(LayoutKind::natural, grid, Stencil::star7().level_map());
    StructMatrix a(Context::cpu(1), layout, Stencil::star7(), 1);
    reference::Random random(11);
    std::vector<double> sizes(std::size_t(a.unknowns()));
    for (double& size : sizes) size = std::pow(10.0, decades * random());
    const int diagonal = a.stencil().diagonal();
    for (Index row = 0; row < grid.points(); ++row) {
        const Int3 p = grid.point(row);
        const bool odd = (p.x + p.y + p.z) % 2;
        a.values(diagonal)[row] = odd ? 1.0 : sizes[row];
        for (int e = 0; e < diagonal; ++e)
            if (const Int3 q = p + a.stencil()[e]; odd && grid.contains(q))
                a.values(e)[row] = -sizes[row] * sizes[grid.row(q)] * (0.1 + std::abs(random()));
    }
    return a;
}

/// Compares half_scaled in a context with double precision on the host, for a badly scaled matrix. No value may become
/// zero, whatever the order of the factorisation.
void expect_survival(const Context& context) {
    const StructMatrix here = badly_scaled(30.0), a = in_context(context, here);
    const auto exact = make("struct_ilu", here);
    exact->setup(here);
    std::vector<double> r = reference::Random(8).vector(int(a.unknowns()));
    for (double& value : r) value = std::abs(value) + 0.1;
    const std::vector<double> wanted = apply(*exact, here, r);
    const auto [smallest, largest] = std::minmax_element(wanted.begin(), wanted.end());
    EXPECT_LT(*smallest, 1e-25);
    EXPECT_GT(*largest, 1e25);
    for (const Made& made : with_storages()) {
        SCOPED_TRACE(made.name);
        const auto m = made.in(half_scaled, a);
        EXPECT_EQ(m->setup(a).values_flushed, 0);
        const std::vector<double> z = applied(*m, a, r);
        for (std::size_t at = 0; at < z.size(); ++at) ASSERT_NEAR(z[at], wanted[at], 0x1p-10 * wanted[at]) << at;
    }
}

TEST(ReducedFactors, RowsOfAnySizeSurviveInScaledHalves) {
    expect_survival(Context::cpu(1));
}

class ReducedFactorsOnDevice : public DeviceTest {};

TEST_F(ReducedFactorsOnDevice, RowsOfAnySizeSurviveInScaledHalves) {
    expect_survival(Context::cuda());
}

/// The unit matrix, except for `value` on the diagonal at one point.
StructMatrix of_one_value(LayoutKind kind, Int3 p, double value) {
    const Layout layout(kind, reference::to_grid({5, 3, 1}), Stencil::star7().level_map());
    StructMatrix a(Context::cpu(1), layout, Stencil::star7(), 1);
    for (Index slot = 0; slot < layout.slots(); ++slot) a.values(a.stencil().diagonal())[slot] = 1.0;
    a.values(a.stencil().diagonal())[layout.slot(p)] = value;
    return a;
}

TEST_F(ReducedFactorsOnDevice, WhatDoesNotFitIsReportedAsOnACpu) {
    for (const Made& made : with_storages()) {
        SCOPED_TRACE(made.name);
        const auto message = [&](const StructMatrix& of) -> std::string {
            try {
                made.in(single_precision, of)->setup(of);
            } catch (const SetupError& error) {
                return error.what();
            }
            return "accepted";
        };
        const StructMatrix a = of_one_value(LayoutKind::hyperplane, {2, 1, 0}, 1e-40);
        EXPECT_EQ(message(in_context(Context::cuda(), a)), message(a));
        const StructMatrix there = in_context(Context::cuda(), of_one_value(LayoutKind::hyperplane, {2, 1, 0}, 1e60));
        EXPECT_EQ(made.in(single_precision, there)->setup(there).values_flushed, 1);
    }
}

TEST(ReducedFactors, SinglePrecisionRefusesWhatItCannotHoldAndCountsWhatVanishes) {
    const StructMatrix large = of_one_value(LayoutKind::natural, {2, 1, 0}, 1e60),
                       small = of_one_value(LayoutKind::natural, {2, 1, 0}, 1e-40);
    for (const Made& made : with_storages()) {
        SCOPED_TRACE(made.name);
        const auto m = made.in(single_precision, large);
        EXPECT_EQ(m->setup(large).values_flushed, 1);
        try {
            m->setup(small);
            ADD_FAILURE() << "was accepted";
        } catch (const SetupError& error) {
            const std::string text = error.what();
            EXPECT_NE(text.find(made.name + ": "), text.npos) << text;
            EXPECT_NE(text.find("cell (2,1,0)"), text.npos) << text;
            EXPECT_NE(text.find("single precision cannot hold"), text.npos) << text;
            EXPECT_NE(text.find("half_scaled"), text.npos) << text;
        }
        const auto scaled = made.in(half_scaled, small);
        EXPECT_EQ(scaled->setup(small).values_flushed, 0);
        const std::vector<double> r(std::size_t(small.unknowns()), 1.0);
        EXPECT_NEAR(apply(*scaled, small, r)[7], 1e40, 1e37);
    }
}

TEST(ReducedFactors, AreHeldAsPlannedAndWhatMadeThemIsReleased) {
    for (const std::string name : {"struct_ilu", "par_ilu"})
        for (FactorStorage storage : reduced_factor_storages)
            for (MatrixStorage matrix : storages)
                for (int k : {0, 1}) {
                    SCOPED_TRACE(name + " " + to_string(storage));
                    const Context context = Context::cpu(1);
                    const Layout layout =
                        layout_for(LayoutKind::natural,
                                   reference::random_matrix({9, 8, 7}, reference::stencil_named("star7").offsets, 1, 1),
                                   "star7", k);
                    StructMatrix a(context, layout, Stencil::star7(), 2, matrix);
                    a.assign(random_struct_matrix(layout, a.stencil(), 2, matrix, 3));
                    const Settings settings{{"fill_level", std::to_string(k)}, {"storage", to_string(storage)}};
                    const PreconditionerPlan plan =
                        find_preconditioner(name).plan(parameters_of(name, settings), setting_of(a));
                    if (name == "struct_ilu" && k == 0) {  // D-ILU: E and F are rounded as the matrix has them
                        EXPECT_EQ(plan.setup_bytes,
                                  StructMatrix::bytes(2 * 2, layout.slots_in_memory()) + Index(sizeof(RoundingLog)));
                    }
                    const Index before = context.ledger().held();
                    context.ledger().forget_peak();
                    const auto m = make(name, a, settings);
                    for (int repeat = 0; repeat < 2; ++repeat) {
                        const SetupReport report = m->setup(a);
                        const double held = double(context.ledger().held() - before);
                        EXPECT_NEAR(double(plan.bytes), held, 0.01 * held);
                        EXPECT_NEAR(double(plan.bytes + plan.setup_bytes), double(context.ledger().peak() - before),
                                    0.03 * held);
                        EXPECT_LE(report.factor_bytes, held);
                        EXPECT_EQ(m->bytes_per_apply(), plan.bytes_per_apply);
                    }
                }
}

TEST(FactorStorage, IsRefusedWithAnExplanationWhereARowHasNone) {
    for (const PreconditionerRow& row : preconditioners()) {
        SCOPED_TRACE(row.name);
        EXPECT_EQ(has_key(row.parameters, "preconditioner", "storage"), !row.storages.empty());
        if (row.storages.empty()) continue;
        for (FactorStorage storage : all_factor_storages) {
            const Parameters parameters = parameters_of(row.name, {{"storage", to_string(storage)}});
            if (std::find(row.storages.begin(), row.storages.end(), storage) != row.storages.end()) {
                EXPECT_NO_THROW(check_storage(row, parameters));
                continue;
            }
            try {
                check_storage(row, parameters);
                FAIL() << "was accepted";
            } catch (const UsageError& error) {
                const std::string text = error.what();
                const bool takes_grids = row.takes(MatrixKind::structured);
                EXPECT_NE(
                    text.find(row.name + " stores its factors in " + list_of(row.storages) + " alone, not in " +
                              to_string(storage) + ", which " + (takes_grids ? "struct_ilu, " : "jacobi_sweeps, ")),
                    text.npos)
                    << text;
                EXPECT_EQ(text.find("multigrid") != text.npos, takes_grids) << "multigrid takes grids alone: " << text;
            }
        }
    }
    expect_refused("struct_ilu", {{"storage", "half"}},
                   "preconditioner.storage: 'half' is none of double | single | half_scaled");
}

}  // namespace
}  // namespace hyperplane
