// SPDX-License-Identifier: BSD-3-Clause
// Preconditioners on several ranks: with scope = global the bits of one rank, with scope = rank those of a matrix
// without couplings between the ranks' planes.
#include <gtest/gtest.h>

#include <algorithm>

#include "on_ranks.hpp"
#include "precond/support.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using reference::StencilMatrix;

using Values = std::vector<double>;

struct RankedCase {
    std::string preconditioner, stencil;
    int dof;
    bool symmetric;
    Settings settings = {};
    bool periodic = false;  ///< along y and z
};

std::string name_of(const testing::TestParamInfo<RankedCase>& info) {
    const RankedCase& c = info.param;
    std::string name = c.preconditioner + "_" + c.stencil + "_" + std::to_string(c.dof) + (c.symmetric ? "_spd" : "") +
                       (c.periodic ? "_periodic" : "");
    for (const auto& [key, value] : c.settings) name.append("_").append(key).append("_").append(value);
    std::replace(name.begin(), name.end(), ' ', 'x');
    return name;
}

std::vector<RankedCase> cases_of_struct_ilu() {
    std::vector<RankedCase> list;
    for (const char* stencil : {"star7", "box27", "star13", "scattered11"})
        for (int dof : {1, 3})
            for (bool symmetric : {false, true})
                for (const char* level : {"0", "1"})
                    list.push_back({"struct_ilu", stencil, dof, symmetric, {{"fill_level", level}}});
    return list;
}

std::vector<RankedCase> ranked_cases() {
    std::vector<RankedCase> list = cases_of_struct_ilu();
    for (int dof : {1, 3}) list.push_back({"jacobi", "star7", dof, false});
    list.push_back({"none", "star7", 2, false});
    for (const char* stencil : {"star7", "box27", "star13", "scattered11"})
        for (int dof : {1, 3})
            for (bool symmetric : {false, true}) {
                list.push_back({"multicolor", stencil, dof, symmetric});
                list.push_back({"subdomain_ildu0", stencil, dof, symmetric, {{"subdomain", "3 4 2"}}});
            }
    for (const char* stencil : {"star7", "scattered11"})
        for (int dof : {1, 3})
            for (bool symmetric : {false, true}) {
                list.push_back({"par_ilu", stencil, dof, symmetric, {{"fill_level", "1"}}});
                list.push_back({"jacobi_sweeps", stencil, dof, symmetric});
            }
    for (const char* storage : {"single", "half_scaled"})
        for (const char* stencil : {"star7", "scattered11"})
            for (int dof : {1, 3})
                for (bool symmetric : {false, true}) {
                    for (const char* name : {"jacobi", "multicolor", "par_ilu", "jacobi_sweeps", "fgbilu"})
                        list.push_back({name, stencil, dof, symmetric, {{"storage", storage}}});
                    list.push_back(
                        {"struct_ilu", stencil, dof, symmetric, {{"fill_level", "1"}, {"storage", storage}}});
                    list.push_back(
                        {"subdomain_ildu0", stencil, dof, symmetric, {{"subdomain", "3 4 2"}, {"storage", storage}}});
                    list.push_back({"multicolor",
                                    stencil,
                                    dof,
                                    symmetric,
                                    {{"triangular_solve", "jacobi"}, {"storage", storage}}});
                }
    for (const char* stencil : {"star7", "box27", "scattered11"})
        for (int dof : {1, 3})
            for (bool symmetric : {false, true}) {
                for (const char* colours : {"greedy", "hashed"})
                    list.push_back({"multicolor", stencil, dof, symmetric, {{"colours", colours}}});
                list.push_back({"multicolor", stencil, dof, symmetric, {{"triangular_solve", "jacobi"}}});
                list.push_back({"subdomain_ildu0",
                                stencil,
                                dof,
                                symmetric,
                                {{"subdomain", "3 4 2"}, {"triangular_solve", "jacobi"}}});
            }
    list.push_back({"multicolor", "star7", 2, true, {{"colours", "greedy"}, {"triangular_solve", "jacobi"}}});
    for (const char* name : {"struct_ilu", "jacobi", "multicolor", "par_ilu", "jacobi_sweeps", "fgbilu"})
        for (const char* stencil : {"star7", "scattered11"})
            for (bool symmetric : {false, true}) list.push_back({name, stencil, 2, symmetric, {}, true});
    for (const char* level : {"0", "2"})
        list.push_back({"struct_ilu", "star7", 1, true, {{"fill_level", level}}, true});
    list.push_back({"jacobi", "box27", 1, true, {{"l1", "true"}}, true});
    list.push_back({"chebyshev", "star7", 1, true, {}, true});
    list.push_back({"subdomain_ildu0", "star13", 1, true, {{"subdomain", "3 4 2"}}, true});
    list.push_back({"fgbilu", "box27", 2, true});
    list.push_back({"par_ilu", "star13", 2, false, {{"triangular_solve", "jacobi"}}});
    list.push_back({"subdomain_ildu0", "star7", 1, true, {{"subdomain", "3 4 2"}, {"variant", "unfused"}}});
    list.push_back({"chebyshev", "star7", 1, true});
    list.push_back({"chebyshev", "box27", 2, true});
    return list;
}

class OnRanks : public testing::TestWithParam<RankedCase> {
protected:
    StencilMatrix data() const {
        const auto offsets = reference::stencil_named(GetParam().stencil).offsets;
        Box box = this->box;
        box.periodic[1] = box.periodic[2] = GetParam().periodic;
        return GetParam().symmetric ? reference::random_spd_matrix(box, offsets, GetParam().dof, 7)
                                    : reference::random_matrix(box, offsets, GetParam().dof, 7);
    }
    /// r^T M^-1 r and M^-1 r for a random r, the same for any number of ranks.
    Values applied(const Context& context, const StencilMatrix& matrix, const Settings& settings) const {
        const Layout part =
            part_of(context, layout_for(LayoutKind::natural, matrix, GetParam().stencil, 0), radius(matrix.offsets));
        const StructMatrix a =
            reference::to_struct_matrix(context, part, matrix, storages[GetParam().symmetric], GetParam().stencil);
        const auto m = make(GetParam().preconditioner, a, settings);
        m->setup(a);
        const Values values = reference::Random(3).vector(box.points() * matrix.dof);
        const Vector r = reference::to_vector(context, part, matrix.dof, values);
        Vector z(context, part, matrix.dof, "z");
        Values found(1);
        m->apply_dot(r, z, found.data());
        m->apply(r, z);
        const Values solution = to_natural(z);
        found.insert(found.end(), solution.begin(), solution.end());
        return found;
    }

    Box box{7, 6, 9};
};

INSTANTIATE_TEST_SUITE_P(OnHost, OnRanks, testing::ValuesIn(ranked_cases()), name_of);

TEST_P(OnRanks, GlobalScopeHasTheBitsOfOneRank) {
    const StencilMatrix matrix = data();
    const auto compute = [&](const Context& context) { return applied(context, matrix, GetParam().settings); };
    const Values one = on_first_of(1, compute);
    const int planes = GetParam().preconditioner == "subdomain_ildu0" ? 2 : 1;
    for (int ranks = 2; ranks <= 4; ++ranks) EXPECT_EQ(on_first_of(ranks, compute, planes), one) << ranks << " ranks";
}

/// The rank that has plane k of `planes`.
int rank_of_plane(int k, int planes, int ranks) {
    int rank = 0;
    while (k >= planes * (rank + 1) / ranks) ++rank;
    return rank;
}

class ScopeOfRanks : public OnRanks {};
INSTANTIATE_TEST_SUITE_P(OnHost, ScopeOfRanks, testing::ValuesIn(cases_of_struct_ilu()), name_of);

TEST_P(ScopeOfRanks, RankDropsTheCouplingsBetweenRanksAndNoOthers) {
    Settings settings = GetParam().settings;
    settings.push_back({"scope", "rank"});
    const StencilMatrix matrix = data();
    for (int ranks = 2; ranks <= 4; ++ranks) {
        StencilMatrix cut = matrix;
        for (int row = 0; row < box.points(); ++row)
            for (auto& [offset, block] : cut.blocks[row]) {
                const int here = box.point(row).z, there = here + offset.z;
                if (there < 0 || there >= box.nz ||
                    rank_of_plane(here, box.nz, ranks) == rank_of_plane(there, box.nz, ranks))
                    continue;
                for (double& value : block.values) value = 0.0;
            }
        const Values expected = on_first_of(1, [&](const Context& c) { return applied(c, cut, GetParam().settings); });
        const Values found = on_first_of(ranks, [&](const Context& c) { return applied(c, matrix, settings); });
        EXPECT_LT(reference::relative_difference(found, expected), 1e-13) << ranks << " ranks";
    }
}

/// What a set-up in single precision reports: an overflow, or the number of values that became zero.
std::string rounding_report(const Context& context, const StencilMatrix& matrix, const std::string& name) {
    const Layout part = part_of(context, layout_for(LayoutKind::natural, matrix, "star7", 0), 1);
    const StructMatrix a = reference::to_struct_matrix(context, part, matrix, MatrixStorage::lower, "star7");
    Settings settings{{"storage", "single"}};
    if (name == "subdomain_ildu0") settings.push_back({"subdomain", "3 4 2"});
    try {
        return std::to_string(make(name, a, settings)->setup(a).values_flushed);
    } catch (const SetupError& error) {
        return error.what();
    }
}

TEST(RoundingOnRanks, IsReportedByAllRanksAsByOne) {
    const Box box{5, 4, 8};
    const auto scaled = [&](int plane, double factor) {
        StencilMatrix matrix = reference::random_spd_matrix(box, reference::stencil_named("star7").offsets, 1, 2);
        for (int row = 0; row < box.points(); ++row)
            for (auto& [offset, block] : matrix.blocks[row])
                if (box.point(row).z >= plane &&
                    (factor > 1.0 || offset == reference::Offset{-1, 0, 0} || offset == reference::Offset{1, 0, 0}))
                    block(0, 0) *= factor > 1.0 ? 1.0 / factor : factor;
        return matrix;
    };
    for (const auto& [matrix, text] : {std::pair(scaled(2, 1e-60), "96"), std::pair(scaled(3, 1e60), "(0,0,3)")})
        for (const char* name : {"struct_ilu", "jacobi", "multicolor", "par_ilu", "subdomain_ildu0"}) {
            const std::string one = rounding_report(Context::cpu(1), matrix, name);
            if (std::string(name) == "struct_ilu") {
                EXPECT_NE(one.find(text), std::string::npos) << one;
            }
            for (int ranks = 2; ranks <= 4; ++ranks)
                on_each_rank(
                    ranks,
                    [&, &matrix = matrix](const Context& context) {
                        EXPECT_EQ(rounding_report(context, matrix, name), one) << name;
                    },
                    2);
        }
}

TEST(PivotsOnRanks, TheFirstFailureIsReportedByAllRanks) {
    const Box box{5, 4, 6};
    StencilMatrix matrix = reference::random_matrix(box, reference::stencil_named("star7").offsets, 1, 2);
    for (const reference::Offset p : {reference::Offset{2, 3, 4}, reference::Offset{1, 1, 5}})
        for (auto& [offset, block] : matrix.blocks[box.row(p)]) block(0, 0) = 0.0;
    const auto message = [&](const Context& context, const std::string& name, const Settings& settings) {
        const Layout part = part_of(context, layout_for(LayoutKind::natural, matrix, "star7", 0), 1);
        const StructMatrix a = reference::to_struct_matrix(context, part, matrix, MatrixStorage::full, "star7");
        const auto m = make(name, a, settings);
        try {
            m->setup(a);
        } catch (const SetupError& error) {
            return std::string(error.what());
        }
        return std::string("no error");
    };
    using Named = std::pair<const char*, Settings>;
    for (const auto& [name, settings] : {Named("struct_ilu", {}), Named("jacobi", {}), Named("multicolor", {}),
                                         Named("par_ilu", {}), Named("multicolor", {{"colours", "greedy"}})}) {
        const std::string one = message(Context::cpu(1), name, settings);
        EXPECT_NE(one.find("(2,3,4)"), std::string::npos) << one;
        for (int ranks = 2; ranks <= 3; ++ranks)
            on_each_rank(ranks, [&, name = name, &settings = settings](const Context& context) {
                EXPECT_EQ(message(context, name, settings), one) << ranks;
            });
    }
}

TEST(PivotsOnRanks, BoostedPivotsAreCountedOverAllRanks) {
    const Box box{5, 4, 6};
    StencilMatrix matrix = reference::random_matrix(box, reference::stencil_named("star7").offsets, 1, 2);
    for (const reference::Offset p : {reference::Offset{2, 3, 0}, reference::Offset{1, 1, 5}})
        for (auto& [offset, block] : matrix.blocks[box.row(p)])
            if (offset == reference::Offset{}) block(0, 0) = 1e-300;
    const auto report = [&](const Context& context) {
        const Layout part = part_of(context, layout_for(LayoutKind::natural, matrix, "star7", 0), 1);
        const StructMatrix a = reference::to_struct_matrix(context, part, matrix, MatrixStorage::full, "star7");
        const SetupReport found = make("struct_ilu", a, {{"pivot_policy", "boost"}})->setup(a);
        Values numbers{double(found.pivots_modified), found.smallest_pivot_ratio,
                       double(part.grid().row(found.smallest_pivot_cell))};
        for (const PivotEvent& event : found.modified)
            numbers.insert(numbers.end(), {double(part.grid().row(event.cell)), event.value});
        return numbers;
    };
    const Values one = report(Context::cpu(1));
    for (int ranks = 2; ranks <= 3; ++ranks)
        on_each_rank(ranks, [&](const Context& context) { EXPECT_EQ(report(context), one) << ranks << " ranks"; });
}

}  // namespace
}  // namespace hyperplane
