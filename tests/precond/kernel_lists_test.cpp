// SPDX-License-Identifier: BSD-3-Clause
// The kernels that a row of the registry lists for NVRTC are those that a run uses: what is not listed is compiled in
// the middle of a solve, and what is listed in vain takes a minute of somebody's time.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <tuple>

#include "core/matrix/bsr_product_cuda.hpp"
#include "precond/registry.hpp"
#include "precond/registry_row.hpp"
#include "precond/struct_ilu/factor_cuda.hpp"
#include "precond/triangular/wavefront/solve_shape.hpp"
#include "precond/tuning.hpp"

namespace hyperplane {
namespace {

/// What NVRTC compiles for a row on a small Poisson matrix, with the given keys of [preconditioner], or of [smoother].
rtc::Programs listed(const std::string& name, const std::vector<std::pair<std::string, std::string>>& keys,
                     bool single_vectors = false, int dof = 1) {
    const PreconditionerRow& row = find_preconditioner(name);
    Parameters parameters(row.parameters);
    parameters.add(common_preconditioner_parameters());
    for (const auto& [key, value] : keys)
        key == "smoother" ? parameters.set("smoother", "name", value) : parameters.set("preconditioner", key, value);
    PreconditionerSetting setting{Context::cpu(1), {{32, 32, 32}, Stencil::star7(), dof, true}};
    setting.single_vectors = single_vectors;
    rtc::Programs all;
    for (const KernelSet& set : row.kernels(parameters, setting))
        for (rtc::Program& program : set.programs()) all.push_back(std::move(program));
    return all;
}

/// The number of programs for vectors in single precision whose text is `main`.
int single(const rtc::Programs& programs, const std::string& main) {
    return int(std::ranges::count_if(programs, [&](const rtc::Program& one) {
        const auto real = one.definitions.find("REAL");
        return one.source.main == main && real != one.definitions.end() && real->second == "float";
    }));
}

int of_text(const rtc::Programs& programs, const std::string& main) {
    return int(std::ranges::count_if(programs, [&](const rtc::Program& one) { return one.source.main == main; }));
}

const std::string wavefront = "precond/triangular/wavefront/solve.cuh", colours = "precond/multicolor/solve.cuh";

TEST(KernelLists, VectorsInSinglePrecisionAreAskedFor) {
    for (const FactorStorage storage : all_factor_storages) {
        const std::vector<std::pair<std::string, std::string>> keys{{"storage", to_string(storage)}};
        const int reduced = is_reduced(storage);
        for (const char* name : {"struct_ilu", "par_ilu"}) {
            EXPECT_EQ(single(listed(name, keys), wavefront), 0) << name << " " << to_string(storage);
            EXPECT_EQ(single(listed(name, keys, true), wavefront), 2 * reduced) << name << " " << to_string(storage);
        }
        EXPECT_EQ(single(listed("struct_ilu", keys, true, 3), wavefront), 0) << "solves of one unknown alone have them";
        EXPECT_EQ(single(listed("multicolor", keys), colours), 0) << to_string(storage);
        EXPECT_EQ(single(listed("multicolor", keys, true), colours), reduced) << to_string(storage);
        auto swept = keys;
        swept.emplace_back("triangular_solve", "jacobi");
        EXPECT_EQ(single(listed("multicolor", swept, true), colours), 0) << "factors of sweeps stay double";
    }
}

/// A deck may have another layout than struct_ilu prefers (device.layout).
TEST(KernelLists, AreThoseOfTheLayoutThatADeckChooses) {
    const PreconditionerRow& row = find_preconditioner("struct_ilu");
    Parameters parameters(row.parameters);
    parameters.add(common_preconditioner_parameters());
    PreconditionerSetting setting{Context::cpu(1), {{32, 32, 32}, Stencil::star7(), 1, true}};
    const auto expect = [&](LayoutKind kind) {
        for (const KernelSet& set : row.kernels(parameters, setting)) EXPECT_EQ(set.layout.kind(), kind) << set.name();
    };
    expect(LayoutKind::hyperplane);
    for (const LayoutKind kind : {LayoutKind::natural, LayoutKind::hyperplane}) {
        setting.chosen_layout = kind;
        expect(kind);
    }
}

TEST(KernelLists, TheOthersDoNotDependOnIt) {
    for (const char* name : {"struct_ilu", "multicolor"}) {
        const rtc::Programs without = listed(name, {{"storage", "single"}}),
                            with = listed(name, {{"storage", "single"}}, true);
        EXPECT_LT(without.size(), with.size()) << name;
        for (const rtc::Program& one : without)
            EXPECT_TRUE(std::ranges::any_of(with,
                                            [&](const rtc::Program& other) {
                                                return other.source.main == one.source.main &&
                                                       other.definitions == one.definitions;
                                            }))
                << name << ": " << one.title;
    }
}

TEST(KernelLists, MultigridAsksWhereItsVectorsAreSingle) {
    for (const char* smoother : {"struct_ilu", "multicolor"}) {
        const std::string text = smoother == std::string("multicolor") ? colours : wavefront;
        const auto with = [&](const char* vectors) {
            return single(listed("multigrid", {{"smoother", smoother}, {"storage", "single"}, {"vectors", vectors}}),
                          text);
        };
        EXPECT_EQ(with("double"), 0) << smoother;
        EXPECT_GE(with("single"), 1) << smoother;
    }
}

TEST(KernelLists, FgbiluFactorsInEveryStorage) {
    for (const FactorStorage storage : all_factor_storages) {
        const rtc::Programs all = listed("fgbilu", {{"style", "blocks"}, {"storage", to_string(storage)}}, false, 4);
        EXPECT_EQ(of_text(all, "precond/fgbilu/factor.cuh"), 1) << to_string(storage);
        EXPECT_EQ(of_text(all, "precond/fgbilu/solve.cuh"), 1) << to_string(storage);
    }
}

/// A general matrix whose row i has the columns i - below(i), ..., i + above(i), as far as there are such.
struct RowLengths {
    std::string name;
    std::function<int(int)> below, above;
};

/// Its rows, or with `all` = false those of one of its triangles without the diagonal.
std::shared_ptr<const BlockPattern> pattern_of(const RowLengths& rows, bool all, bool lower = false) {
    constexpr int count = 2000;
    std::vector<Index> row_begin{0};
    std::vector<int> column;
    for (int i = 0; i < count; ++i) {
        const int first = all || lower ? std::max(i - rows.below(i), 0) : i + 1,
                  end = all || !lower ? std::min(i + rows.above(i) + 1, count) : i;
        for (int j = first; j < end; ++j) column.push_back(j);
        row_begin.push_back(Index(column.size()));
    }
    return std::make_shared<const BlockPattern>(Context::cpu(1), row_begin, column, "pattern");
}

/// A triangle may have uneven rows where A has none, and the other way round.
TEST(KernelLists, SweepsAskForTheProductsOfTheirTriangles) {
    const auto by = [](int every, int many, int few) {
        return [=](int row) { return row % every == every / 2 ? many : few; };
    };
    for (const RowLengths& rows :
         {RowLengths{"none uneven", by(40, 4, 4), by(40, 4, 4)}, RowLengths{"all", by(40, 100, 2), by(40, 100, 2)},
          RowLengths{"triangles alone", by(40, 100, 7), by(40, 100, 7)},
          RowLengths{"A alone", by(10, 25, 3), by(10, 25, 3)}, RowLengths{"lower", by(40, 150, 3), by(40, 3, 3)},
          RowLengths{"upper", by(40, 3, 3), by(40, 150, 3)}})
        for (const int dof : {1, 2})
            for (const char* const name : {"jacobi_sweeps", "par_ilut"}) {
                SCOPED_TRACE(rows.name + " " + name + " " + std::to_string(dof));
                std::set<rtc::Definitions> wanted, listed;
                const auto want = [&](const BsrProductCuda::RowThreads& threads) {
                    for (const rtc::Program& one : BsrProductCuda::programs(threads, dof))
                        wanted.insert(one.definitions);
                };
                for (const bool lower : {false, true})
                    want(BsrProductCuda::row_threads(*pattern_of(rows, false, lower), dof));
                want(BsrProductCuda::row_threads(1.0, false, dof));  // D^-1
                const PreconditionerRow& row = find_preconditioner(name);
                Parameters parameters(row.parameters);
                parameters.add(common_preconditioner_parameters());
                if (name == std::string("par_ilut")) {
                    parameters.set("preconditioner", "triangular_solve", "jacobi");
                    parameters.set("preconditioner", "rounds", "0");
                }
                const PreconditionerSetting setting{Context::cpu(1), {pattern_of(rows, true), dof, false}};
                for (const KernelSet& set : row.kernels(parameters, setting))
                    for (const rtc::Program& one : set.programs())
                        if (one.source.main == "core/matrix/bsr_product.cuh") listed.insert(one.definitions);
                EXPECT_EQ(listed, wanted);
            }
}

/// ILU(0) of an unsymmetric system on n^3 points.
IluPattern ilu0(const char* name, int dof, int n) {
    const Stencil stencil = Stencil::by_name(name);
    const Layout layout(LayoutKind::hyperplane, {n, n, n}, stencil.level_map());
    return ilu_pattern(layout, stencil, 0, dof, false, Backend::cuda);
}

wavefront_cuda::SolveShape solve_shape(const char* name, int n, const StructIluTuning& tuning = {}, int dof = 1) {
    const IluPattern pattern = ilu0(name, dof, n);
    return {pattern, wavefront_cuda::Geometry(pattern), tuning};
}

wavefront_cuda::FactorShape factor_shape(const char* name, int dof, int n) {
    const IluPattern pattern = ilu0(name, dof, n);
    return {pattern, wavefront_cuda::Geometry(pattern), {}};
}

/// The warps of a tile do not synchronise where levels are small and have older terms (docs/log/struct_ilu_solve.md).
TEST(SolveShape, HasRowsByTheStencilsLevels) {
    for (const int n : {33, 64, 128, 256}) {
        const auto few = solve_shape("diamond13", n), many = solve_shape("box27", n);
        const auto lines_and_stages = n <= 64 ? std::tuple(32, 4, 8) : std::tuple(32, 8, 6);
        EXPECT_EQ(few.rows, 4) << n;
        EXPECT_EQ(std::tuple(few.tile.j, few.tile.k, few.stages), lines_and_stages) << n;
        EXPECT_EQ(std::tuple(many.tile.j, many.tile.k, many.stages, many.blocks), std::tuple(32, 4, 8, 1)) << n;
        EXPECT_EQ(solve_shape("star7", n).rows + solve_shape("star13", n).rows, 0) << n;
    }
    EXPECT_EQ(solve_shape("box27", 432).rows, 4);
    EXPECT_EQ(solve_shape("diamond13", 128, {.pipelined = 0}).rows, 0);
}

/// On large grids one thread sums all terms of a point of diamond13, in a tile that is alone on its multiprocessor.
TEST(SolveShape, OneThreadSumsTheTermsOfDiamond13OnLargeGrids) {
    const auto expect_one = [](const wavefront_cuda::SolveShape& shape) {
        EXPECT_EQ(std::tuple(shape.rows, shape.groups, shape.tile.j, shape.tile.k), std::tuple(0, 1, 32, 8));
        EXPECT_EQ(std::tuple(shape.stages, shape.lookahead, shape.blocks), std::tuple(6, 4, 1));
        EXPECT_GE(shape.shared, 114 * 1024);
    };
    for (const int n : {336, 432, 544}) expect_one(solve_shape("diamond13", n));
    expect_one(solve_shape("diamond13", 128, {.pipelined = 0}));
    EXPECT_EQ(solve_shape("diamond13", 432, {.pipelined = 1}).groups, 2);
    EXPECT_EQ(solve_shape("diamond13", 432, {.rows = 4}).rows, 4);
    EXPECT_EQ(solve_shape("star13", 432).groups, 2);
}

/// Tiles of star7 have twice as many lines where levels have points for that; a smaller one is alone.
TEST(SolveShape, LeavesAMultiprocessorToOneTileOfStar7) {
    constexpr Index half = 114 * 1024;  // of the shared memory that a multiprocessor has for thread blocks
    for (const int n : {64, 256, 280}) {
        const auto shape = solve_shape("star7", n);
        EXPECT_EQ(std::tuple(shape.tile.k, shape.blocks, shape.lookahead), std::tuple(8, 1, 4)) << n;
        EXPECT_GE(shape.shared, half) << n;
    }
    EXPECT_EQ(solve_shape("star7", 288).tile.k, 16);
    EXPECT_EQ(solve_shape("star7", 512).tile.k, 16);
    EXPECT_EQ(solve_shape("star7", 512).lookahead, 2);
    EXPECT_LT(solve_shape("star7", 256, {.blocks = 2}).shared, half);
    EXPECT_GE(solve_shape("star7", 512, {.tile_j = 32, .tile_k = 8, .blocks = 1}).shared, half);
}

TEST(FactorShape, HasSmallerTilesOfStar7WhereLevelsAreSmall) {
    using namespace wavefront_cuda;
    const auto lines = [](int n) { return factor_shape("star7", 1, n).tile.k; };
    EXPECT_EQ(lines(128), 8);
    EXPECT_EQ(lines(192), 16);
}

/// Where neighbours' factors in shared memory cost a factorisation more than they save (docs/log/struct_ilu_factor.md).
TEST(FactorShape, HasNoRingWhereLevelsOfStar13AreLarge) {
    using namespace wavefront_cuda;
    const auto ring = [](const char* name, int dof, int n) { return factor_shape(name, dof, n).ring; };
    EXPECT_EQ(ring("star13", 2, 336), 0);
    EXPECT_EQ(ring("star13", 2, 128), 0);
    EXPECT_GT(ring("star13", 2, 96), 0);
    EXPECT_GT(ring("star13", 1, 432), 0);
    EXPECT_GT(ring("diamond13", 2, 336), 0);
    EXPECT_GT(ring("box27", 2, 336), 0);
}

/// The registers of two thread blocks for diamond25 alone (docs/log/struct_ilu_factor.md).
TEST(FactorShape, HasRegistersForTwoBlocksOfDiamond25WhereLevelsAreLarge) {
    using namespace wavefront_cuda;
    const auto blocks = [](const char* name, int dof, int n) { return factor_shape(name, dof, n).blocks; };
    EXPECT_EQ(blocks("diamond25", 1, 256), 2);
    EXPECT_EQ(blocks("diamond25", 1, 192), 1);
    EXPECT_EQ(blocks("diamond25", 2, 256), 1);
    EXPECT_EQ(blocks("box27", 1, 336), 1);
}

/// Tiles of 32 lines are one row of them where levels of box27 have some points (docs/log/struct_ilu_solve.md).
TEST(SolveShape, TilesOfBox27WithTwoUnknownsAreRowsOnMiddleSizedGrids) {
    const auto tile = [](const char* name, int n) {
        const wavefront_cuda::TileShape found = solve_shape(name, n, {}, 2).tile;
        return std::pair(found.j, found.k);
    };
    EXPECT_EQ(tile("box27", 128), std::pair(16, 1)) << "a level has few points";
    for (const int n : {160, 208}) {
        EXPECT_EQ(tile("box27", n), std::pair(32, 1)) << n;
        EXPECT_EQ(tile("diamond25", n), std::pair(16, 2)) << n;
    }
    EXPECT_EQ(tile("box27", 256), std::pair(16, 2)) << "a level has many points";
}

/// Levels of blocks that are copied ahead (docs/log/struct_ilu_solve.md).
TEST(SolveShape, CopiesSixLevelsOfBlocksWhereTheyFit) {
    using namespace wavefront_cuda;
    const auto shape = [](const char* name, int dof, int n) { return solve_shape(name, n, {}, dof); };
    for (const auto& [name, dof, n] :
         {std::tuple{"star13", 2, 272}, {"box27", 2, 208}, {"star7", 6, 160}, {"box27", 3, 128}})
        EXPECT_EQ(shape(name, dof, n).stages, 6) << name;
    const SolveShape large = shape("diamond13", 3, 160);
    EXPECT_EQ(large.stages, 4) << "with five there would be one resident thread block";
    EXPECT_EQ(large.blocks, 2);
    EXPECT_EQ(shape("star7", 3, 256).stages, 4);
    EXPECT_EQ(shape("star7", 4, 208).stages, 3);
    EXPECT_EQ(shape("box27", 2, 64).stages, 3) << "a level has few points";
}

}  // namespace
}  // namespace hyperplane
