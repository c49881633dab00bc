// SPDX-License-Identifier: BSD-3-Clause
// Compiles kernels that neither a deck in inputs/ nor a case of the paper's Table 3 asks for
// (kernels_compile_test.cpp), and checks registers and spills: those of general matrices, whose shapes depend on a
// file, and of small or uneven grids. Of numbers of unknowns, widths and types the usual tests compile some, with the
// smallest and the largest that may not spill; those named Other... compile the others, and are labelled long.
#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <map>
#include <tuple>
#include <utility>

#include "core/matrix/bsr_product_cuda.hpp"
#include "core/matrix/struct_matrix_cuda.hpp"
#include "precond/general/factors/pivot_kernel.hpp"
#include "precond/general/factors/search_factor.hpp"
#include "precond/general/fixed_point/fixed_point_cuda.hpp"
#include "precond/general/orders/levels_cuda.hpp"
#include "precond/general/solves/solve_cuda.hpp"
#include "precond/general/sweeps/async_sweep_cuda.hpp"
#include "precond/multicolor/multicolor.hpp"
#include "precond/multicolor/solve_cuda.hpp"
#include "precond/sync_free_ilu/cuda.hpp"
#include "precond/sync_free_ilu/part_solve.hpp"
#include "precond/sync_free_ilu/table_factor.hpp"
#include "precond/triangular/jacobi/sweeps_cuda.hpp"

namespace hyperplane {
namespace {

/// Rows of the kernels of programs, each of which is compiled for the first test that has it.
std::vector<rtc::KernelResources> compiled(const rtc::Programs& programs, const std::string& architecture) {
    static std::map<std::tuple<std::string_view, rtc::Definitions, std::string>, std::vector<rtc::KernelResources>>
        known;
    std::vector<rtc::KernelResources> all;
    for (const rtc::Program& program : programs) {
        auto& rows = known[{program.source.main, program.definitions, architecture}];
        if (rows.empty()) rows = rtc::compile({program}, architecture);
        EXPECT_FALSE(rows.empty()) << program.source.main;
        all.insert(all.end(), rows.begin(), rows.end());
    }
    EXPECT_FALSE(all.empty());
    return all;
}

/// Sweeps on the factors of multicolor, in which each triangle has an entry for every offset; on a grid of one point
/// there are no offsets.
TEST(SweptColours, CompileWithoutSpills) {
    for (const char* stencil : {"star7", "box27"})
        for (int dof : {1, 4})
            for (int n : {1, 64})
                for (bool symmetric : {false, true}) {
                    const Stencil named = Stencil::by_name(stencil);
                    const TriangleShape shape =
                        Multicolor(Context::cpu(1), {}).exported_shape(Grid{n, n, n}, named, dof, symmetric);
                    EXPECT_EQ(shape.lower(), n == 1 ? 0 : named.size() - 1);
                    for (const auto& row : compiled(TriangleSweepsCuda::programs(shape), "sm_90")) {
                        EXPECT_GT(row.registers, 0) << row.name;
                        EXPECT_EQ(row.spill_bytes, 0) << row.name << " of " << stencil << " " << dof;
                    }
                }
}

/// Blocks of fewer threads, by which some grids can be distributed more evenly to multiprocessors.
TEST(MulticolorOfFewerThreads, CompilesWithoutSpills) {
    const Stencil stencil = Stencil::diamond25();
    const Layout layout(LayoutKind::natural, {80, 80, 80}, stencil.level_map());
    for (const FactorStorage storage : all_factor_storages) {
        const rtc::Programs programs =
            MulticolorCuda::programs(layout, stencil, 8, false, storage, MulticolorCuda::fewer_threads);
        for (const auto& row : compiled(programs, "sm_90")) {
            EXPECT_GT(row.registers, 0) << row.name;
            EXPECT_EQ(row.spill_bytes, 0) << row.name;
        }
    }
}

/// Small grids, whose steps load their coefficients ahead.
TEST(MulticolorOfSmallGrids, CompilesWithoutSpills) {
    const Stencil stencil = Stencil::box27();
    for (const LayoutKind kind : {LayoutKind::natural, LayoutKind::hyperplane})
        for (const FactorStorage storage : {FactorStorage::double_precision, FactorStorage::single_precision})
            for (const bool symmetric : {false, true}) {
                const Layout layout(kind, {32, 32, 32}, stencil.level_map());
                for (const bool single_vectors : {false, true}) {
                    if (single_vectors && !MulticolorCuda::has_single(layout, storage)) continue;
                    const auto rows = compiled(MulticolorCuda::programs(layout, stencil, 1, symmetric, storage,
                                                                        MulticolorCuda::usual_threads, single_vectors),
                                               "sm_90");
                    EXPECT_EQ(rows.size(), 4u);
                    for (const auto& row : rows) {
                        EXPECT_GT(row.registers, 0) << row.name;
                        EXPECT_EQ(row.spill_bytes, 0) << row.name;
                    }
                }
            }
}

/// Products of small grids, which load all that a row needs at once.
TEST(ProductsOfSmallGrids, CompileWithoutSpills) {
    for (const char* name : {"star7", "star13", "diamond13", "diamond25", "box27"})
        for (const MatrixStorage storage : {MatrixStorage::lower, MatrixStorage::full}) {
            const Stencil stencil = Stencil::by_name(name);
            const Layout layout(LayoutKind::natural, {32, 32, 32}, stencil.level_map());
            rtc::Programs programs = StructMatrixCuda::programs(layout, stencil, 1, storage);
            for (const rtc::Program& single : SingleMatrixCuda::programs(layout, stencil, 1, storage))
                programs.push_back(single);
            for (const auto& row : compiled(programs, "sm_90")) {
                EXPECT_GT(row.registers, 0) << row.name;
                EXPECT_EQ(row.spill_bytes, 0) << row.name << " of " << name;
            }
        }
}

void expect_products_without_spills(std::initializer_list<std::pair<double, int>> means_and_dofs) {
    for (const auto& [mean, dof] : means_and_dofs)
        for (const auto& row : compiled(BsrProductCuda::programs(mean, dof), "sm_90")) {
            EXPECT_GT(row.registers, 0) << row.name;
            if (dof > 8) continue;
            EXPECT_EQ(row.spill_bytes, 0) << row.name << " of " << dof;
        }
}

/// Products of general matrices: each width of a row, and blocks of 1 to 32 unknowns.
TEST(GeneralProducts, CompileWithoutSpills) {
    expect_products_without_spills({{5.0, 1}, {80.0, 1}, {7.0, 3}, {27.0, 3}, {7.0, 8}});
}
TEST(OtherGeneralProducts, CompileWithoutSpills) {
    expect_products_without_spills({{27.0, 2}, {7.0, 5}, {7.0, 7}, {7.0, 32}});
}
TEST(GeneralProducts, OfUnevenRowsCompileWithoutSpills) {
    const rtc::Programs programs = BsrProductCuda::programs(BsrProductCuda::row_threads(9.0, true, 1), 1);
    // From sm_90 on there are those that stage rows, too.
    for (const auto& [architecture, kernels] : {std::pair("sm_80", 4), std::pair("sm_90", 6)}) {
        const auto rows = compiled(programs, architecture);
        EXPECT_EQ(int(rows.size()), kernels) << architecture;
        for (const auto& row : rows) {
            EXPECT_GT(row.registers, 0) << row.name;
            EXPECT_EQ(row.spill_bytes, 0) << row.name << " for " << architecture;
        }
    }
}

/// A warp that has a block row to itself has the loads of one of its blocks under way at once, which takes two
/// registers for each row of the block and two for its sum, and does without local memory for any number of unknowns.
TEST(GeneralProducts, OfWarpsHoldABlock) {
    for (const int dof : {9, 10, 12, 17, 24}) {
        const rtc::Programs programs = BsrProductCuda::programs(7.0, dof);
        for (const auto& row : compiled({programs.front()}, "sm_90")) {
            EXPECT_GE(row.registers, 4 * dof) << row.name << " of " << dof;
            EXPECT_LE(row.registers, 128) << row.name << " of " << dof;
            EXPECT_EQ(row.spill_bytes, 0) << row.name << " of " << dof;
        }
    }
}

/// `shapes`: dof, lanes and batch of a SearchShape.
void expect_factors_almost_without_spills(std::initializer_list<std::array<int, 3>> shapes) {
    for (const bool symmetric : {false, true})
        for (const auto& [dof, lanes, batch] : shapes)
            for (const auto& row : compiled(SearchFactor::programs({dof, symmetric, lanes, batch}), "sm_90")) {
                EXPECT_GT(row.registers, 0) << row.name;
                if (dof > 8) continue;
                EXPECT_LE(row.spill_bytes, 64) << row.name << " of " << dof;
            }
}

/// Factorisations of general matrices: each width of a row of one unknown, and blocks of up to 32 unknowns.
TEST(GeneralFactors, CompileAlmostWithoutSpills) {
    expect_factors_almost_without_spills({{1, 4, 2}, {1, 32, 16}, {3, 32, 1}, {8, 32, 1}});
}
TEST(OtherGeneralFactors, CompileAlmostWithoutSpills) {
    expect_factors_almost_without_spills({{1, 8, 4}, {32, 32, 1}});
}

/// What a factorisation is repeated by where a block of a general matrix is zero.
TEST(GeneralFactors, ThatBoostByRowCompile) {
    for (const bool symmetric : {false, true})
        for (rtc::Program program :
             {SearchFactor::programs({1, symmetric, 8, 4}).back(), BlockFactor::programs({2, symmetric, 8}).back(),
              TableFactor::programs({symmetric, 1}).back(), FixedPointCuda::programs({3, symmetric, 32}).back()})
            for (const auto& row : compiled({with_scale_of_row(std::move(program))}, "sm_90"))
                EXPECT_GT(row.registers, 0) << row.name;
}

/// The published variants; ILU_adapt with threads for short, for middle and for long rows.
TEST(GeneralFactors, AsPublishedCompileWithoutSpills) {
    using enum FactorVariant;
    for (const bool symmetric : {false, true})
        for (const auto& [variant, blocks] :
             {std::pair(shared, 700), {vect, 700}, {levs, 700}, {adapt, 100}, {adapt, 700}, {adapt, 2600}}) {
            RowCounts counts;
            counts.rows = 100;
            counts.blocks = blocks;
            const SyncFreeShape shape = SyncFreeShape::of(counts, 1, symmetric, variant);
            EXPECT_EQ(shape.lanes, variant != adapt ? 32 : blocks == 100 ? 1 : blocks == 700 ? 8 : 32);
            const auto rows = compiled(SyncFreeCuda::programs(shape), "sm_90");
            EXPECT_EQ(rows.size(), 1U);
            for (const auto& row : rows) {
                EXPECT_EQ(row.name, "sync_free_rows");
                EXPECT_GT(row.registers, 0);
                EXPECT_EQ(row.spill_bytes, 0) << shape.lanes;
            }
        }
}

void expect_short_rows_almost_without_spills(bool remaining) {
    for (const bool symmetric : {false, true})
        for (int dof = BlockShape::least_dof; dof <= BlockShape::most_dof; ++dof) {
            const bool usual = dof == BlockShape::least_dof || dof == BlockShape::most_dof;
            if (usual == remaining) continue;
            for (const Index most : {8, 15})
                for (const auto& row :
                     compiled(BlockFactor::programs(*BlockShape::of(most, dof, symmetric)), "sm_90")) {
                    EXPECT_GT(row.registers, 0) << row.name;
                    // Of two unknowns in rows of up to 15 blocks a lane holds more than its registers.
                    EXPECT_LE(row.spill_bytes, dof == 2 ? 84 : 64) << row.name << " of " << dof;
                }
        }
}
TEST(GeneralFactors, OfShortRowsOfBlocksCompileAlmostWithoutSpills) {
    expect_short_rows_almost_without_spills(false);
}
TEST(OtherGeneralFactors, OfShortRowsOfBlocksCompileAlmostWithoutSpills) {
    expect_short_rows_almost_without_spills(true);
}

TEST(GeneralLevels, CompileWithoutSpills) {
    const auto rows = compiled(level_programs(), "sm_90");
    EXPECT_EQ(rows.size(), 3u);
    for (const auto& row : rows) {
        EXPECT_GT(row.registers, 0) << row.name;
        EXPECT_EQ(row.spill_bytes, 0) << row.name;
    }
}

void expect_sweeps_almost_without_spills(std::initializer_list<std::pair<int, int>> dofs_and_lanes) {
    for (const bool symmetric : {false, true})
        for (const auto& [dof, lanes] : dofs_and_lanes) {
            const auto rows = compiled(FixedPointCuda::programs({dof, symmetric, lanes}), "sm_90");
            EXPECT_EQ(rows.size(), dof == 1 ? 4u : 3u);
            for (const auto& row : rows) {
                EXPECT_GT(row.registers, 0) << row.name;
                if (dof > 8) continue;
                EXPECT_LE(row.spill_bytes, 64) << row.name << " of " << dof;
            }
        }
}

/// Fixed-point sweeps of general matrices, for the same rows.
TEST(GeneralFixedPoint, CompilesAlmostWithoutSpills) {
    expect_sweeps_almost_without_spills({{1, 4}, {1, 32}, {2, 32}, {8, 32}});
}
TEST(OtherGeneralFixedPoint, CompilesAlmostWithoutSpills) {
    expect_sweeps_almost_without_spills({{1, 8}, {1, 16}, {3, 32}, {32, 32}});
}

/// Those by tables, with each type of an offset: six thread blocks of 128 threads fit a multiprocessor.
void expect_tables_almost_without_spills(std::initializer_list<std::pair<bool, int>> symmetry_and_offset_bytes) {
    for (const auto& [symmetric, offset_bytes] : symmetry_and_offset_bytes)
        for (const auto& row : compiled(TableFactor::programs({symmetric, offset_bytes}), "sm_90")) {
            EXPECT_GT(row.registers, 0) << row.name;
            EXPECT_LE(row.registers, 65536 / (6 * 128)) << row.name << " of " << offset_bytes;
            EXPECT_LE(row.spill_bytes, 40) << row.name << " of " << offset_bytes;
        }
}
TEST(GeneralFactorTables, CompileAlmostWithoutSpills) {
    expect_tables_almost_without_spills({{false, 1}, {true, 2}, {false, 4}});
}
TEST(OtherGeneralFactorTables, CompileAlmostWithoutSpills) {
    expect_tables_almost_without_spills({{true, 1}, {false, 2}, {true, 4}});
}

void expect_solves_almost_without_spills(const rtc::Programs& programs, int dof, FactorStorage storage) {
    for (const auto& row : compiled(programs, "sm_90")) {
        EXPECT_GT(row.registers, 0) << row.name;
        EXPECT_LE(row.spill_bytes, 16) << row.name << " of " << dof << ", " << to_string(storage);
    }
}
void expect_solves_almost_without_spills(int dof, FactorStorage storage) {
    expect_solves_almost_without_spills(SlicedSolve::programs(dof, SolveWay::automatic, storage), dof, storage);
}

void expect_solves_almost_without_spills(std::initializer_list<int> dofs, std::initializer_list<int> dofs_of_reduced) {
    for (const int dof : dofs) expect_solves_almost_without_spills(dof, FactorStorage::double_precision);
    for (const FactorStorage storage : reduced_factor_storages)
        for (const int dof : dofs_of_reduced) expect_solves_almost_without_spills(dof, storage);
}
TEST(GeneralSolves, CompileAlmostWithoutSpills) {
    expect_solves_almost_without_spills({1, 2, 3, 8}, {1, 8});
}
TEST(OtherGeneralSolves, CompileAlmostWithoutSpills) {
    expect_solves_almost_without_spills({5, 13, 32}, {3, 13});
}

void expect_solves_of_ranks_almost_without_spills(std::initializer_list<int> dofs) {
    for (const FactorStorage storage : all_factor_storages)
        for (const int dof : dofs)
            expect_solves_almost_without_spills(SlicedSolve::programs_of_ranks(dof, storage), dof, storage);
}
TEST(GeneralSolves, OfRanksCompileAlmostWithoutSpills) {
    expect_solves_of_ranks_almost_without_spills({1, 8});
}
TEST(OtherGeneralSolves, OfRanksCompileAlmostWithoutSpills) {
    expect_solves_of_ranks_almost_without_spills({3});
}

/// Asynchronous sweeps with triangles of few and of many blocks a row.
TEST(GeneralAsyncSweeps, CompileAlmostWithoutSpills) {
    for (const auto& [mean, dof] :
         {std::pair(1.0, 1), {3.0, 1}, {13.0, 1}, {40.0, 1}, {3.0, 2}, {3.0, 3}, {13.0, 4}, {3.0, 8}, {3.0, 32}})
        for (const auto& row : compiled(AsyncSweepCuda::programs(mean, dof), "sm_90")) {
            EXPECT_GT(row.registers, 0) << row.name;
            if (dof <= 8) {
                EXPECT_EQ(row.spill_bytes, 0) << row.name << " of " << dof;
            }
        }
}

void expect_parts_almost_without_spills(SubdomainVariant variant, int dof, const std::string& architecture,
                                        FactorStorage storage = FactorStorage::double_precision) {
    for (const auto& row : compiled(part_solve::programs(variant, dof, storage), architecture)) {
        EXPECT_GT(row.registers, 0) << row.name;
        if (dof <= 8) {
            EXPECT_LE(row.spill_bytes, 16) << row.name << " of " << dof << ", " << architecture;
        }
    }
}

constexpr auto variants_of_parts = {SubdomainVariant::level, SubdomainVariant::unfused, SubdomainVariant::spin,
                                    SubdomainVariant::dag_vertex, SubdomainVariant::dag_edge};

TEST(GeneralParts, CompileAlmostWithoutSpills) {
    for (const SubdomainVariant variant : variants_of_parts) {
        for (const int dof : {1, 2, 3, 4, 8, 32}) expect_parts_almost_without_spills(variant, dof, "sm_90");
        for (const int dof : {1, 4}) expect_parts_almost_without_spills(variant, dof, "sm_80");
    }
    for (const FactorStorage storage : reduced_factor_storages)
        for (const int dof : {1, 3, 8})
            expect_parts_almost_without_spills(SubdomainVariant::level, dof, "sm_90", storage);
}

TEST(OtherGeneralParts, CompileAlmostWithoutSpills) {
    for (const SubdomainVariant variant : variants_of_parts)
        for (const int dof : {2, 3, 8, 32}) expect_parts_almost_without_spills(variant, dof, "sm_80");
}

}  // namespace
}  // namespace hyperplane
