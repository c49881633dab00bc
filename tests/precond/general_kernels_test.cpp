// SPDX-License-Identifier: BSD-3-Clause
// The kernels that find levels and that sweep long rows, their text compiled for the host (emulated_threads.hpp).
#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

#include "precond/emulated_threads.hpp"
#include "precond/factors/gauss_jordan.hpp"
#include "precond/general/fixed_point/arguments.hpp"
#include "precond/general/orders/levels.hpp"
#include "precond/general/orders/levels_arguments.hpp"
#include "precond/general/pattern/fill.hpp"
#include "precond/general/pattern/on_gpu.hpp"
#include "precond/general_cases.hpp"

// Depths are passed on by PTX, which the host leaves out.
#define asm
#define volatile(...) (void)at, (void)depth
namespace left_out {
#include "precond/general/orders/known_depth.cuh"
}
#undef asm
#undef volatile

namespace levels_text {
using ::hyperplane::GridLevels, ::hyperplane::LevelArguments;
namespace hyperplane {
using std::max, std::min;
inline int known_depth(const int* at) {
    fibers::give_way();
    return *at;
}
inline void publish_depth(int* at, int depth) {
    *at = depth;
}
inline unsigned atomicAdd(unsigned* at, unsigned value) {
    return emulated::replaced(*at, [&](unsigned before) { return before + value; });
}
inline int atomicMax(int* at, int value) {
    return emulated::replaced(*at, [&](int before) { return std::max(before, value); });
}
}  // namespace hyperplane
#include "precond/general/orders/levels.cuh"
}  // namespace levels_text

namespace sweep_text {
using ::hyperplane::FixedPointArguments, ::hyperplane::PivotJudge, ::hyperplane::PivotRatio,
    ::hyperplane::largest_of_row, ::hyperplane::eliminated, ::hyperplane::scaled_by_pivot;
namespace hyperplane {
using std::min;
inline int atomicMin(int* at, int value) {
    return emulated::replaced(*at, [&](int before) { return std::min(before, value); });
}
}  // namespace hyperplane
#define DOF 1
#define LANES 32
#define WARPS 1
#define SYMMETRIC 0
#include "precond/general/fixed_point/fixed_point.cuh"
}  // namespace sweep_text

namespace hyperplane {
namespace {

using namespace testing_support;

/// Rows in natural order: each depends on 13 before it, so chains pass through warps and between them, and a row waits
/// more than once for rows of its own warp.
std::shared_ptr<const BlockPattern> chained_pattern(const Context& host, int rows) {
    std::vector<Index> row_begin{0};
    std::vector<int> column;
    for (int row = 0; row < rows; ++row) {
        for (int distance = -41; distance <= 41; ++distance)
            if (std::abs(distance % 10) <= 1 && row + distance >= 0 && row + distance < rows)
                column.push_back(row + distance);
        row_begin.push_back(Index(column.size()));
    }
    return std::make_shared<const BlockPattern>(host, row_begin, column, "test");
}

/// Points of a grid in natural order, with the neighbours at most one point away along each axis: all, or those along
/// one axis alone. `left_out`: a row without the neighbour before it.
std::shared_ptr<const BlockPattern> grid_pattern(const Context& host, const std::array<int, 3>& points, bool box,
                                                 int left_out = -1) {
    std::vector<Index> row_begin{0};
    std::vector<int> column;
    const int rows = points[0] * points[1] * points[2];
    for (int row = 0; row < rows; ++row) {
        const int x = row % points[0], y = row / points[0] % points[1], z = row / (points[0] * points[1]);
        for (int there = 0; there < rows; ++there) {
            const int dx = std::abs(there % points[0] - x), dy = std::abs(there / points[0] % points[1] - y),
                      dz = std::abs(there / (points[0] * points[1]) - z);
            const bool near = box ? std::max({dx, dy, dz}) <= 1 : dx + dy + dz <= 1;
            if (near && !(row == left_out && there == row - 1)) column.push_back(there);
        }
        row_begin.push_back(Index(column.size()));
    }
    return std::make_shared<const BlockPattern>(host, row_begin, column, "test");
}

/// The levels of both triangles that the kernels find, and what they share.
LevelState found_levels(const BlockPattern& pattern, const std::vector<Index>* diagonal,
                        std::vector<int> (&depths)[2]) {
    const int rows = int(pattern.rows());
    for (std::vector<int>& of_side : depths) of_side.assign(std::size_t(rows), 0);
    LevelState state{};
    const LevelArguments arguments{.row_begin = as_pointers(pattern.row_begin()),
                                   .column = pattern.column(),
                                   .diagonal = diagonal ? as_pointers(diagonal->data()) : nullptr,
                                   .lower = depths[0].data(),
                                   .upper = depths[1].data(),
                                   .state = &state,
                                   .rows = rows};
    std::vector<int> blocks(std::size_t(2 * ((rows + 127) / 128)));
    std::iota(blocks.begin(), blocks.end(), 0);
    emulated::launch({0}, 32, [&] { levels_text::hyperplane::guess_grid(arguments); });
    emulated::launch({0}, 256, [&] { levels_text::hyperplane::check_grid(arguments); });
    emulated::launch(blocks, 128, [&] { levels_text::hyperplane::find_levels(arguments); });
    return state;
}

void expect_levels_of_host(const Context& host, const BlockPattern& pattern, const LevelState& state,
                           const std::vector<int> (&depths)[2]) {
    const BothLevels expected = levels_of_both(host, pattern, "test");
    EXPECT_EQ(state.lower_levels, expected.lower.levels());
    EXPECT_EQ(state.upper_levels, expected.upper.levels());
    for (const Side side : {Side::lower, Side::upper}) {
        const RowLevels& levels = expected.of(side);
        for (Index level = 0; level < levels.levels(); ++level)
            for (Index at = levels.begin[level]; at < levels.begin[level + 1]; ++at)
                EXPECT_EQ(depths[side == Side::upper][levels.rows[at]], level + 1) << levels.rows[at];
    }
}

/// A grid in natural order is recognised, unless a row has another level than its point.
TEST(LevelsText, RecognisesGrids) {
    const Context host = Context::cpu(1);
    for (const std::array<int, 3>& points : {std::array{9, 7, 5}, {11, 13, 1}, {40, 1, 1}, {6, 5, 4}})
        for (const bool box : {false, true})
            for (const int left_out : {-1, 3, points[0] * points[1] * points[2] / 2}) {
                SCOPED_TRACE(std::to_string(points[0]) + " box " + std::to_string(box) + " without " +
                             std::to_string(left_out));
                const auto pattern = grid_pattern(host, points, box, left_out);
                std::vector<int> depths[2];
                const LevelState state = found_levels(*pattern, nullptr, depths);
                expect_levels_of_host(host, *pattern, state, depths);
                if (left_out >= 0) continue;
                EXPECT_EQ(state.grid.points[0], points[0]);
                EXPECT_EQ(state.grid.points[1], points[1]);
                EXPECT_EQ(state.grid.points[2], points[2]);
                EXPECT_FALSE(state.grid.wrong);
            }
    const auto pattern = grid_pattern(host, {9, 7, 5}, false, 3);
    std::vector<int> depths[2];
    EXPECT_TRUE(found_levels(*pattern, nullptr, depths).grid.wrong);
}

TEST(LevelsText, FindsTheLevelsOfTheHost) {
    const Context host = Context::cpu(1);
    for (const std::string name : {"random", "arrow", "dense_row", "no_diagonal", "chained"})
        for (const int rows : {1, 150}) {
            SCOPED_TRACE(name + " " + std::to_string(rows));
            const auto pattern =
                name == "chained"
                    ? chained_pattern(host, rows)
                    : reference::to_bsr_matrix(
                          host, reference::random_blocks(reference::pattern_named(name, rows, 4, 43), 1, 1))
                          .pattern();
            std::vector<Index> diagonal;
            for (int row = 0; row < rows; ++row) diagonal.push_back(pattern->find(row, row));
            for (const bool given : {false, true}) {
                if (given && std::ranges::find(diagonal, Index(-1)) != diagonal.end()) continue;
                std::vector<int> depths[2];
                const LevelState state = found_levels(*pattern, given ? &diagonal : nullptr, depths);
                expect_levels_of_host(host, *pattern, state, depths);
            }
        }
}

/// X after a sweep of some rows, by a warp each or by a thread block each.
std::vector<double> swept(const BsrMatrix& a, const FilledPattern& filled, const std::vector<int>& rows, bool by_warp,
                          bool first) {
    const Index blocks = filled.pattern->blocks();
    std::vector<double> values(std::size_t(blocks), -7.0), others = reference::Random(5).vector(int(blocks)),
                                                           inverse = reference::Random(7).vector(int(a.unknowns()));
    std::vector<Index> a_diagonal;
    for (Index row = 0; row < filled.pattern->rows(); ++row) a_diagonal.push_back(a.pattern()->find(row, int(row)));
    const bool same = filled.place.size() == 0;
    const FixedPointArguments arguments{.row_begin = as_pointers(filled.pattern->row_begin()),
                                        .column = filled.pattern->column(),
                                        .diagonal = as_pointers(filled.diagonal.data()),
                                        .values = values.data(),
                                        .others = first ? nullptr : others.data(),
                                        .inverse = inverse.data(),
                                        .a_row_begin = as_pointers(a.pattern()->row_begin()),
                                        .a_values = a.values(),
                                        .place = same ? nullptr : filled.place.data(),
                                        .a_diagonal = same ? nullptr : as_pointers(a_diagonal.data()),
                                        .ratios = nullptr,
                                        .rule = {},
                                        .log = nullptr,
                                        .shift = 0.25,
                                        .first = 0,
                                        .rows = filled.pattern->rows(),
                                        .long_row = 0,
                                        .long_rows = rows.data()};
    if (by_warp) {
        emulated::launch(rows, 32, [&] { sweep_text::hyperplane::fixed_point_sweep(arguments); });
    } else {
        std::vector<int> all(rows.size());
        std::iota(all.begin(), all.end(), 0);
        emulated::launch(all, 256, [&] { sweep_text::hyperplane::sweep_long_rows(arguments); });
    }
    return values;
}

/// Whether a warp or a thread block has a long row, its sums have the same order: the same bits. Rows k have few and
/// many entries in U; the last case has fill.
TEST(SweepText, HasTheSameBitsForLongRows) {
    const Context host = Context::cpu(1);
    for (const auto& [name, mean, fill_level] :
         {std::tuple("arrow", 4, 0), {"dense_row", 4, 0}, {"dense_row", 14, 0}, {"arrow", 4, 1}, {"dense_row", 3, 1}}) {
        SCOPED_TRACE(std::string(name) + " " + std::to_string(mean) + " " + std::to_string(fill_level));
        const BsrMatrix a = reference::to_bsr_matrix(
            host, reference::random_blocks(reference::pattern_named(name, fill_level > 0 ? 290 : 600, mean, 43), 1, 1));
        const FilledPattern filled = filled_pattern(host, a.pattern(), fill_level, "test");
        std::vector<int> rows;  // those of more than 4 entries a lane
        for (Index row = filled.pattern->rows() - 1; row >= 0 && rows.size() < 2; --row)
            if (filled.pattern->row_begin()[row + 1] - filled.pattern->row_begin()[row] > 128) rows.push_back(int(row));
        ASSERT_FALSE(rows.empty());
        for (const bool first : {true, false})
            EXPECT_EQ(swept(a, filled, rows, false, first), swept(a, filled, rows, true, first));
    }
}

}  // namespace
}  // namespace hyperplane
