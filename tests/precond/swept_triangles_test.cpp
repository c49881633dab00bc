// SPDX-License-Identifier: BSD-3-Clause
// Jacobi sweeps on the exported factors of every factorisation that copies them, compared with sweeps by their
// definition on the reference's factors in the same order and with the same rounding.
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "precond/reproductions/looked_up_colours.hpp"
#include "precond/swept.hpp"
#include "reference/coloured_ilu.hpp"
#include "reference/jacobi_sweeps.hpp"
#include "reference/subdomains.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using reference::relative_difference;

struct Case : SweptCase {
    std::string name;
    Settings settings;  ///< one or none
    FactorStorage factors;
    int number;  ///< in the list of cases
};

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
    const Case& c = info.param;
    std::string setting = c.settings.empty() ? "" : "_" + c.settings[0].second;
    std::replace(setting.begin(), setting.end(), ' ', '_');
    return c.name + setting + "_" + c.stencil + "_dof" + std::to_string(c.dof) + "_" + to_string(c.kind) +
           (c.storage == MatrixStorage::full ? "_full_" : "_lower_") + to_string(c.factors);
}

constexpr reference::Offset subdomain{3, 2, 2};

/// Each two of stencil, dof and factorisation, or with `all` each three of them, with alternating layouts, matrix
/// storages and storages of factors.
std::vector<Case> cases(bool all) {
    const std::vector<std::pair<std::string, Settings>> made{
        {"fgbilu", {{"style", "kernels"}}},       {"fgbilu", {{"style", "blocks"}}},
        {"multicolor", {{"colours", "stencil"}}}, {"multicolor", {{"colours", "greedy"}}},
        {"multicolor", {{"colours", "hashed"}}},  {"subdomain_ildu0", {{"subdomain", "3 2 2"}}},
    };
    std::vector<Case> list;
    int turn = 0, number = 0;
    for (const auto& stencil : reference::all_stencils()) {
        ++number;
        for (int dof : reference::all_dofs) {
            if (dof > 8 && stencil.name != "star7" && stencil.name != "box27") continue;
            for (std::size_t at = all ? 0 : (number + dof) % 2; at < made.size(); at += all ? 1 : 2) {
                const auto& [name, settings] = made[at];
                for (const FactorStorage factors : all_factor_storages) {
                    if (is_reduced(factors) && (dof > 8 || turn % 3 != 0)) continue;
                    const int form = turn / 3;
                    Case c{};
                    c.stencil = stencil.name, c.dof = dof;
                    c.kind = layout_kinds[form % 2], c.storage = storages[form / 2 % 2];
                    c.name = name, c.settings = settings, c.factors = factors, c.number = int(list.size());
                    list.push_back(c);
                }
                ++turn;
            }
            ++turn;
        }
    }
    return list;
}

std::vector<Box> boxes_for(int dof) {
    if (dof > 8) return {{4, 3, 1}};
    if (dof > 3) return {{5, 4, 3}, {1, 5, 4}};
    return {{7, 5, 3}, {9, 5, 1}, {1, 9, 4}, {1, 1, 1}, {5, 5, 5, {true, false, true}}};
}

struct System : SweptSystem {
    Case of;
    std::vector<int> colours, order;  ///< of the points: in this order, the factorisation is the ILU(0)
    reference::UnitFactors factors;   ///< in that order, rounded

    System(const Context& context, const Case& c)
        : SweptSystem(context, c), of(c), colours(colours_of()), order(reference::sorted_by_colour(colours)) {
        const bool symmetric = c.storage == MatrixStorage::lower;
        factors =
            reference::unit_factors(c.name == "subdomain_ildu0" ? reference::subdomain_ilu(data, subdomain)
                                                                : reference::coloured_ilu(data, order, symmetric));
        if (is_reduced(c.factors)) factors = reference::rounded(factors, c.factors == FactorStorage::half_scaled);
        if (!symmetric) return;
        for (int i = 0; i < int(factors.inverse.size()); ++i)  // for a symmetric matrix only W is stored
            for (const auto& [j, block] : factors.lower.rows[i]) factors.upper.rows[j][i] = transpose(block);
    }

    std::unique_ptr<Preconditioner> sweeps(int lower, int upper, const Settings& more = {}) const {
        Settings settings{{"triangular_solve", "jacobi"},
                          {"lower_sweeps", std::to_string(lower)},
                          {"upper_sweeps", std::to_string(upper)},
                          {"storage", to_string(of.factors)}};
        settings.insert(settings.end(), of.settings.begin(), of.settings.end());
        settings.insert(settings.end(), more.begin(), more.end());
        auto m = make(of.name, a, settings);
        m->setup(a);
        return m;
    }
    std::vector<double> expected(int lower, int upper) const {
        return reference::apply_in_order(reference::SweptFactors{factors, lower, upper}, order, r);
    }
    std::vector<double> exact() const { return reference::apply_in_order(factors, order, r); }
    /// At least the length of the longest chain of dependencies in either triangle.
    int levels() const {
        if (of.name == "multicolor") return 1 + *std::max_element(colours.begin(), colours.end());
        const LevelMap map = reference::to_stencil({c.stencil, filled(c.stencil, 0)}).level_map();
        return 1 + map.level({c.box.nx - 1, c.box.ny - 1, c.box.nz - 1});
    }

private:
    std::vector<int> colours_of() const {
        if (of.name != "multicolor") return std::vector<int>(std::size_t(c.box.points()), 0);
        const Grid grid = reference::to_grid(c.box);
        const auto couplings = coupling_offsets(grid, reference::to_stencil({"", data.offsets}));
        const std::string& rule = of.settings[0].second;
        return rule == "greedy"   ? greedy_colours(grid, couplings)
               : rule == "hashed" ? hashed_colours(Context::cpu(1), grid, couplings)
                                  : linearly_coloured(data);
    }
};

void expect_sweeps_of_reference(const Context& context, Case c, const std::vector<Box>& boxes) {
    for (const Box& box : boxes) {
        SCOPED_TRACE(reference::name_of(box));
        c.box = box;
        const System system(context, c);
        for (const auto& [lower, upper] : {std::pair{1, 1}, {2, 1}, {2, 3}, {4, 2}}) {
            const auto m = system.sweeps(lower, upper);
            EXPECT_TRUE(m->traits().fixed);
            EXPECT_EQ(m->traits().symmetric, c.storage == MatrixStorage::lower && lower == upper);
            EXPECT_LT(relative_difference(system.applied(*m), system.expected(lower, upper)), 1e-13)
                << lower << " " << upper;
        }
        const int levels = system.levels();
        const auto all = system.sweeps(levels, levels);
        for (const char* set_up : {"once", "twice"}) {
            EXPECT_LT(relative_difference(system.applied(*all), system.exact()), 1e-13) << set_up;
            all->setup(system.a);
        }
        for (const char* order : {"dependency", "backward", "natural"}) {
            const auto m = system.sweeps(levels, levels, {{"solve_mode", "block_async"}, {"block_order", order}});
            EXPECT_FALSE(m->traits().fixed);
            EXPECT_LT(relative_difference(system.applied(*m), system.exact()), 1e-13) << order;
        }
    }
}

class SweptTriangles : public testing::TestWithParam<Case> {};
class SweptTrianglesOnDevice : public DeviceTest, public testing::WithParamInterface<Case> {};

TEST_P(SweptTriangles, AreSweptAsTheReferences) {
    expect_sweeps_of_reference(Context::cpu(1), GetParam(), boxes_for(GetParam().dof));
}
TEST_P(SweptTrianglesOnDevice, AreSweptAsTheReferences) {
    const std::vector<Box> boxes = first_and_others_in_turn(boxes_for(GetParam().dof), GetParam().number, 1);
    expect_sweeps_of_reference(Context::cuda(), GetParam(), boxes);
}
INSTANTIATE_TEST_SUITE_P(All, SweptTriangles, testing::ValuesIn(cases(true)), name_of_case);
INSTANTIATE_TEST_SUITE_P(All, SweptTrianglesOnDevice, testing::ValuesIn(cases(false)), name_of_case);

const std::vector<std::pair<std::string, Settings>> copied{
    {"multicolor", {}}, {"fgbilu", {{"style", "kernels"}}}, {"subdomain_ildu0", {}}};

void expect_memory_predicted(const Context& context) {
    for (const auto& [name, setting] : copied)
        for (const FactorStorage factors : all_factor_storages)
            for (MatrixStorage storage : storages) {
                SCOPED_TRACE(name + " " + to_string(factors));
                const SweptSystem system(context, {"box27", 2, 0, {17, 9, 5}, LayoutKind::natural, storage});
                Settings settings{{"triangular_solve", "jacobi"}, {"storage", to_string(factors)}};
                settings.insert(settings.end(), setting.begin(), setting.end());
                const PreconditionerPlan plan = expect_held_as_planned(name, system.a, settings);
                EXPECT_EQ(plan.space.layout().kind(), LayoutKind::natural);
            }
}

TEST(SweptTriangles, HoldWhatIsPredicted) {
    expect_memory_predicted(Context::cpu(1));
}

class CopiedTrianglesOnDevice : public DeviceTest {};

TEST_F(CopiedTrianglesOnDevice, HoldWhatIsPredicted) {
    expect_memory_predicted(Context::cuda());
}

using LargeSystem = std::tuple<std::string, int, MatrixStorage>;
class LargeCopiedTrianglesOnDevice : public DeviceTest, public testing::WithParamInterface<LargeSystem> {};

/// Grids with more points than a GPU processes at a time.
TEST_P(LargeCopiedTrianglesOnDevice, EqualTheHosts) {
    std::vector<std::pair<std::string, Settings>> made = copied;
    made.insert(made.end(), {{"fgbilu", {{"style", "blocks"}}},
                             {"multicolor", {{"colours", "greedy"}}},
                             {"fgbilu", {{"storage", "single"}}},
                             {"subdomain_ildu0", {{"storage", "half_scaled"}}}});
    const auto& [stencil, dof, storage] = GetParam();
    const Stencil offsets = Stencil::by_name(stencil);
    const Layout layout(LayoutKind::natural, {67, 35, 19}, offsets.level_map());
    const StructMatrix here = random_struct_matrix(layout, offsets, dof, storage, 3);
    const StructMatrix there = in_context(Context::cuda(), here);
    const std::vector<double> r = reference::Random(6).vector(int(here.unknowns()));
    for (const auto& [name, setting] : made) {
        SCOPED_TRACE(name + " " + (setting.empty() ? "" : setting[0].second));
        Settings settings = setting;
        settings.push_back({"triangular_solve", "jacobi"});
        const auto expected = make(name, here, settings), m = make(name, there, settings);
        expected->setup(here), m->setup(there);
        // A few values lie so close to the midpoint of two representable ones that backends round them differently.
        const bool rounds = !setting.empty() && setting[0].first == "storage";
        const double most = !rounds ? 1e-13 : setting[0].second == "single" ? 1e-7 : 1e-3;
        EXPECT_LT(relative_difference(applied(*m, there, r), apply(*expected, here, r)), most);
    }
}
INSTANTIATE_TEST_SUITE_P(
    All, LargeCopiedTrianglesOnDevice,
    testing::Values(LargeSystem{"star7", 1, MatrixStorage::full}, LargeSystem{"box27", 1, MatrixStorage::lower},
                    LargeSystem{"star7", 4, MatrixStorage::lower}, LargeSystem{"star7", 6, MatrixStorage::full},
                    LargeSystem{"diamond25", 3, MatrixStorage::full}),
    [](const auto& info) { return std::get<0>(info.param) + "_dof" + std::to_string(std::get<1>(info.param)); });

TEST(SweptTriangles, HaveTheSameBitsForAnyNumberOfThreads) {
    for (const auto& [name, setting] : copied) {
        const SweptSystem system(Context::cpu(1),
                                 {"box27", 2, 0, {17, 9, 5}, LayoutKind::natural, MatrixStorage::full});
        Settings settings = setting;
        settings.push_back({"triangular_solve", "jacobi"});
        expect_same_bits_for_any_threads(system.a.context(), [&, name = name] {
            const auto m = make(name, system.a, settings);
            m->setup(system.a);
            return system.applied(*m);
        });
    }
}

TEST(SweptTriangles, NeedAsManySweepsAsColoursToBeExact) {
    Case c{{"box27", 1, 0, {7, 5, 3}, LayoutKind::natural, MatrixStorage::full},
           "multicolor",
           {{"colours", "stencil"}},
           FactorStorage::double_precision,
           0};
    const System system(Context::cpu(1), c);
    ASSERT_EQ(system.levels(), 8);
    EXPECT_LT(relative_difference(system.applied(*system.sweeps(8, 8)), system.exact()), 1e-13);
    EXPECT_GT(relative_difference(system.applied(*system.sweeps(7, 7)), system.exact()), 1e-9);
}

TEST(SweptTriangles, HaveKeysThatMeanNothingToExactSolves) {
    const Settings swept{{"triangular_solve", "jacobi"}};
    for (const char* name : {"multicolor", "fgbilu", "subdomain_ildu0", "par_ilu"}) {
        for (const char* key : {"lower_sweeps", "upper_sweeps", "solve_mode", "block_order"})
            EXPECT_EQ(unmet(name, {}, key), "triangular_solve = jacobi") << name << " " << key;
        for (const char* key : {"lower_sweeps", "upper_sweeps", "solve_mode"})
            EXPECT_EQ(unmet(name, swept, key), "") << name << " " << key;
        EXPECT_EQ(unmet(name, swept, "block_order"), "solve_mode = block_async") << name;
    }
    EXPECT_EQ(unmet("subdomain_ildu0", {}, "variant"), "");
    EXPECT_EQ(unmet("subdomain_ildu0", swept, "variant"), "triangular_solve = exact");
}

/// A line of points each of which depends on the one before, in one subdomain.
TEST(SweptTriangles, ThatDivergeAreReportedByTheFactorisationsName) {
    StructMatrix a(Context::cpu(1), Layout(LayoutKind::natural, {40, 1, 1}, {1, 1}), Stencil::star7(), 1);
    for (int i = 0; i < 40; ++i) {
        a.values(a.stencil().diagonal())[i] = 1.0;
        if (i > 0) a.values(a.stencil().find({-1, 0, 0}))[i] = -3.0;
    }
    for (const auto& [name, setting] : {copied[1], {"subdomain_ildu0", {{"subdomain", "40 1 1"}}}}) {
        Settings settings = setting;
        settings.push_back({"triangular_solve", "jacobi"});
        try {
            make(name, a, settings)->setup(a);
            ADD_FAILURE() << name << " accepted";
        } catch (const SetupError& error) {
            const std::string message = error.what();
            EXPECT_EQ(message.find(name + ": Jacobi sweeps diverge on the lower triangle: after 5 of 5"), 0u)
                << message;
            EXPECT_NE(message.find("or preconditioner.triangular_solve = exact"), std::string::npos) << message;
        }
    }
}

TEST(SweptTriangles, TakeTheShiftThatAProblemSuggests) {
    const SweptSystem system(Context::cpu(1), {"star7", 2, 0, {5, 4, 3}, LayoutKind::natural, MatrixStorage::full});
    for (const auto& [name, setting] : copied)
        for (const auto& [shift, used] : {std::pair{"auto", 0.25}, {"0.125", 0.125}}) {
            Settings settings = setting;
            settings.insert(settings.end(), {{"triangular_solve", "jacobi"}, {"shift", shift}});
            const auto m = make(name, system.a, settings);
            m->suggest_shift(0.25);
            EXPECT_EQ(m->setup(system.a).shift, used) << name;
        }
}

}  // namespace
}  // namespace hyperplane
