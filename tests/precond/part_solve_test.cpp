// SPDX-License-Identifier: BSD-3-Clause
// The kernels that solve parts of a general matrix, their text compiled for the host: each thread of a block is a
// fiber. Compared with the reference, so that a machine without a GPU checks them, too.
#include "precond/emulated_values.hpp"
#include "precond/fibers.hpp"
#include "precond/general/pattern/on_gpu.hpp"
#include "precond/general_cases.hpp"
#include "precond/sync_free_ilu/part_tables.hpp"
#include "precond/sync_free_ilu/sync_free_ilu.hpp"
#include "reference/subdomains.hpp"

namespace emulated_parts {

constexpr int block_threads = 64;

inline fibers::Place block_place;
inline fibers::Barrier all, warps[2];

/// Runs body() on the threads of `blocks` thread blocks, one block after the other.
template <class Body>
void launch(int blocks, const Body& body) {
    for (int block = 0; block < blocks; ++block) {
        block_place = {unsigned(block)};
        all = {block_threads}, warps[0] = warps[1] = {32};
        ASSERT_TRUE(fibers::run(block_threads, body)) << "all threads wait";
    }
}

}  // namespace emulated_parts

// NOLINTBEGIN(clang-diagnostic-reserved-*): names that CUDA gives to a kernel's text
#define THREADS 64
#define __global__
#define __device__
#define __shared__
#define __grid_constant__
#define __launch_bounds__(...)
#define threadIdx fibers::thread_place
#define blockIdx emulated_parts::block_place
#define __syncthreads() fibers::synchronise(emulated_parts::all)
#define __syncwarp() fibers::synchronise(emulated_parts::warps[fibers::thread_place.x / 32])
#define __ldg(at) (*(at))
#define __ldcs(at) (*(at))
#define __forceinline__ inline
#define STORAGE 0
// NOLINTEND(clang-diagnostic-reserved-*)
namespace values_of_text {  // the host has functions of the same names
#include "precond/factors/reduced_values.cuh"
}

/// The shared memory of a thread block.
extern "C" {
double part_vector[16384];
}

// The kernels' text, for several numbers of unknowns.
namespace unknowns_1 {
using ::hyperplane::PartArguments, ::hyperplane::PartSide, ::hyperplane::PartSlice;
using values_of_text::hyperplane::scale_of, values_of_text::hyperplane::scaled_rows;
using values_of_text::hyperplane::Value, values_of_text::hyperplane::widened;
#define DOF 1
#define pack_parts pack_parts_1
#define solve_parts solve_parts_1
#include "precond/sync_free_ilu/part_solve.cuh"
#undef DOF
#undef pack_parts
#undef solve_parts
}  // namespace unknowns_1
namespace unknowns_3 {
using ::hyperplane::PartArguments, ::hyperplane::PartSide, ::hyperplane::PartSlice;
using values_of_text::hyperplane::scale_of, values_of_text::hyperplane::scaled_rows;
using values_of_text::hyperplane::Value, values_of_text::hyperplane::widened;
#define DOF 3
#define pack_parts pack_parts_3
#define solve_parts solve_parts_3
#include "precond/sync_free_ilu/part_solve.cuh"
#undef DOF
#undef pack_parts
#undef solve_parts
}  // namespace unknowns_3

namespace hyperplane {
namespace {

using namespace testing_support;

/// One triangle's tables and room for its values.
struct EmulatedSide {
    const PartTables::OfSide& tables;
    std::vector<double> values;

    EmulatedSide(const PartTables::OfSide& of, int dof) : tables(of), values(of.columns.size() * dof * dof, NAN) {}
    PartSide side() {
        return {.slices = tables.slices.data(),
                .level_slices = tables.level_slices.data(),
                .part_levels = tables.part_levels.data(),
                .local = tables.local.data(),
                .columns = tables.columns.data(),
                .values = values.data(),
                .exponents = nullptr,
                .slice_count = int(tables.slices.size())};
    }
};

/// M^-1 r by the kernels' text from the factors that a set-up on a CPU has made.
std::vector<double> solved_by_kernels(const GeneralFactors& factors, const GraphParts& parts,
                                      const std::vector<double>& r) {
    const int dof = factors.dof;
    const PartTables tables = part_tables(factors.filled, parts, dof);
    EmulatedSide lower(tables.lower, dof), upper(tables.upper, dof);
    std::vector<double> inverse(std::size_t(factors.pattern().rows()) * dof * dof, NAN), z(r.size(), NAN);
    const PartArguments arguments{.row_begin = as_pointers(factors.pattern().row_begin()),
                                  .diagonal = as_pointers(factors.filled.diagonal.data()),
                                  .factors = factors.values.data(),
                                  .exponents = nullptr,
                                  .rows_of_pattern = factors.pattern().rows(),
                                  .part_rows = tables.part_rows.data(),
                                  .rows = parts.vertices.data(),
                                  .places = tables.places.data(),
                                  .numbered = tables.numbered.data(),
                                  .inverse = inverse.data(),
                                  .inverse_exponents = nullptr,
                                  .lower = lower.side(),
                                  .upper = upper.side(),
                                  .in = r.data(),
                                  .out = z.data()};
    const int slices = arguments.lower.slice_count + arguments.upper.slice_count;
    const int packing = (slices * 32 + emulated_parts::block_threads - 1) / emulated_parts::block_threads;
    emulated_parts::launch(packing, [&] {
        dof == 1 ? unknowns_1::hyperplane::pack_parts_1(arguments) : unknowns_3::hyperplane::pack_parts_3(arguments);
    });
    emulated_parts::launch(int(parts.count()), [&] {
        dof == 1 ? unknowns_1::hyperplane::solve_parts_1(arguments) : unknowns_3::hyperplane::solve_parts_3(arguments);
    });
    return z;
}

TEST(PartSolveText, SolvesWhatACpuSolves) {
    for (const GeneralCase& c :
         {GeneralCase{"random", 80, 1, 0}, GeneralCase{"random", 25, 3, 0}, GeneralCase{"dense_row", 40, 1, 0},
          GeneralCase{"symmetric", 30, 3, 0, true}, GeneralCase{"empty_rows", 33, 1, 0}})
        for (const Index most : {9, 100}) {
            SCOPED_TRACE(c.pattern + ", " + std::to_string(most));
            const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data_of(c), c.symmetric);
            const auto m =
                make_general("subdomain_ildu0", a, {{"parts", "consecutive"}, {"part_rows", std::to_string(most)}});
            m->setup(a);
            const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof);
            const GraphParts parts = consecutive_parts(Context::cpu(1), c.rows, most, "test");
            const auto& factors = dynamic_cast<const SyncFreeIlu&>(*m).factors();
            EXPECT_LT(reference::relative_difference(solved_by_kernels(factors, parts, r), apply_general(*m, a, r)),
                      1e-13);
        }
}

}  // namespace
}  // namespace hyperplane
