// SPDX-License-Identifier: BSD-3-Clause
// The kernel of asynchronous sweeps on general matrices, its text compiled for the host (emulated_threads.hpp).
#include <cmath>
#include <numeric>

#include "precond/emulated_threads.hpp"
#include "precond/general/pattern/on_gpu.hpp"
#include "precond/general/sweeps/async_arguments.hpp"
#include "precond/general_cases.hpp"
#include "reference/jacobi_sweeps.hpp"

namespace emulated {

inline bool any_of_all(bool own) {
    static int count;
    if (thread_place.x == 0) count = 0;
    fibers::synchronise(block->all);
    count += own;
    fibers::synchronise(block->all);
    const bool any = count > 0;
    fibers::synchronise(block->all);
    return any;
}
inline unsigned counted(unsigned* at, unsigned last) {
    return replaced(*at, [&](unsigned before) { return before >= last ? 0 : before + 1; });
}

}  // namespace emulated

// NOLINTBEGIN(clang-diagnostic-reserved-*): names that CUDA gives to a kernel's text
#define __syncthreads_or(value) emulated::any_of_all(value)
#define atomicInc(at, last) emulated::counted(at, last)
#define __ldcs(at) (*(at))
#define __dadd_rn(x, y) ((x) + (y))
#define __dsub_rn(x, y) ((x) - (y))
#define __dmul_rn(x, y) ((x) * (y))
#define __fma_rn(x, y, z) std::fma(x, y, z)
// NOLINTEND(clang-diagnostic-reserved-*)
#define THREADS 64
#define BLOCK_ROWS 24

namespace unknowns_1 {
using ::hyperplane::AsyncSweepArguments;
namespace hyperplane {
using std::min;
}
#define DOF 1
#define LANES 4
#define async_sweep async_sweep_1
#include "precond/general/sweeps/async_sweep.cuh"
#undef DOF
#undef LANES
#undef async_sweep
}  // namespace unknowns_1
namespace unknowns_3 {
using ::hyperplane::AsyncSweepArguments, ::unknowns_1::hyperplane::PlainSum,
    ::unknowns_1::hyperplane::sum_of_blocks;  // included once
namespace hyperplane {
using std::min;
}
#define DOF 3
#define LANES 8
#define async_sweep async_sweep_3
#include "precond/general/sweeps/async_sweep.cuh"
}  // namespace unknowns_3

namespace hyperplane {
namespace {

using namespace testing_support;

/// L of the reference's factors as rows without diagonal.
BsrMatrix strict_lower(const reference::BlockIlu& ilu) {
    reference::BlockMatrix lower{ilu.factors.dof,
                                 std::vector<std::map<int, reference::Dense>>(ilu.factors.rows.size())};
    for (int row = 0; row < int(ilu.factors.rows.size()); ++row)
        for (const auto& [column, block] : ilu.factors.rows[row])
            if (column < row) lower.rows[row][column] = block;
    return reference::to_bsr_matrix(Context::cpu(1), lower);
}

/// Thread blocks follow each other here, so the sweeps are those of the reference in the order of the counter. A row of
/// more than 20 blocks has all threads.
TEST(AsyncSweepText, SweepsAsTheReference) {
    for (const GeneralCase& c : {GeneralCase{"random", 100, 1, 0},
                                 {"dense_row", 96, 1, 1},
                                 {"arrow", 97, 1, 0},
                                 {"dense", 60, 1, 0},
                                 {"empty_rows", 25, 1, 0},
                                 {"dense", 1, 1, 0},
                                 {"random", 70, 3, 0},
                                 {"dense_row", 73, 3, 0},
                                 {"dense", 30, 3, 0}})
        for (const bool descending : {false, true}) {
            SCOPED_TRACE(c.pattern + " " + std::to_string(c.rows) + " " + std::to_string(c.dof));
            const reference::BlockIlu ilu = reference_of(data_of(c), c);
            const BsrMatrix triangle = strict_lower(ilu);
            const std::vector<double> b = reference::Random(3).vector(c.rows * c.dof);
            std::vector<double> x(b.size(), 0.0);
            unsigned next = 0;
            const AsyncSweepArguments arguments{.row_begin = as_pointers(triangle.pattern()->row_begin()),
                                                .column = triangle.pattern()->column(),
                                                .values = triangle.values(),
                                                .b = b.data(),
                                                .x = x.data(),
                                                .next = &next,
                                                .rows = c.rows,
                                                .longest = 20,
                                                .descending = descending};
            std::vector<int> blocks(std::size_t((c.rows + BLOCK_ROWS - 1) / BLOCK_ROWS));
            std::iota(blocks.begin(), blocks.end(), 0);
            for (int sweep = 0; sweep < 3; ++sweep)
                emulated::launch(blocks, THREADS, [&] {
                    c.dof == 1 ? unknowns_1::hyperplane::async_sweep_1(arguments)
                               : unknowns_3::hyperplane::async_sweep_3(arguments);
                });
            EXPECT_EQ(next, 0u);
            EXPECT_LT(
                reference::relative_difference(x, reference::block_sweeps(ilu, true, 3, b, BLOCK_ROWS, !descending)),
                1e-13);
        }
}

}  // namespace
}  // namespace hyperplane
