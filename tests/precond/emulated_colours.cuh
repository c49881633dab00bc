// SPDX-License-Identifier: BSD-3-Clause
// The kernels of multicolour solves (precond/multicolor/solve.cuh), their text compiled for the host: each thread of a
// block is a fiber here. It is included once for each case, after KERNELS, its name, and the definitions of the text
// that differ: DOF, ROWS, COLOURS, SYMMETRIC, MOST_TERMS, AHEAD.
#ifndef EMULATED_COLOURS
#define EMULATED_COLOURS

#include <algorithm>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>

#include "core/grid/slots.hpp"
#include "precond/emulated_values.hpp"
#include "precond/fibers.hpp"
#include "precond/multicolor/solve_cuda.hpp"

// NOLINTBEGIN(clang-diagnostic-reserved-*): names that CUDA gives to a kernel's text
namespace emulated_colours {

constexpr int block_threads = 8;

inline fibers::Place block_place;
inline fibers::Barrier all;
inline std::mutex gpu;

/// Runs body() on the threads of the blocks of a grid, one block after the other, and of one grid after the other.
template <class Body>
void launch(int blocks_x, int blocks_y, const Body& body) {
    const std::scoped_lock alone(gpu);
    for (int block = 0; block < blocks_x * blocks_y; ++block) {
        block_place = {unsigned(block % blocks_x), unsigned(block / blocks_x)};
        all = {block_threads};
        if (!fibers::run(block_threads, body)) throw std::logic_error("all threads of a block wait");
    }
}

}  // namespace emulated_colours

#define THREADS 8
#define NATURAL 1
#define LEVEL_Y 1
#define LEVEL_Z 1
#define PART 1
#define STORAGE 0
#define REAL double
#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)
#define threadIdx fibers::thread_place
#define blockIdx emulated_colours::block_place
#define __syncthreads() fibers::synchronise(emulated_colours::all)
#define __ldg(at) (*(at))
#define __ldcs(at) (*(at))
#define JOINED_AS_IS(name, of) name##_##of
#define JOINED(name, of) JOINED_AS_IS(name, of)
// NOLINTEND(clang-diagnostic-reserved-*)

namespace values_of_text {  // the host has functions of the same names
#include "precond/factors/reduced_values.cuh"
}
namespace next_kernel_text {
#include "precond/walks/next_kernel.cuh"
}

#endif

namespace KERNELS {

using ::hyperplane::ColourArguments, ::hyperplane::ColourTerm, std::fma, std::min;
using ::hyperplane::natural_slot, ::hyperplane::hyperplane_slot;
using ::hyperplane::scales_result, ::hyperplane::writes_result;
using next_kernel_text::hyperplane::let_next_begin, next_kernel_text::hyperplane::wait_for_last;
using values_of_text::hyperplane::scale_of, values_of_text::hyperplane::scaled_rows;
using values_of_text::hyperplane::Value, values_of_text::hyperplane::widened;

#define enter JOINED(enter, KERNELS)
#define lower JOINED(lower, KERNELS)
#define upper JOINED(upper, KERNELS)
#define leave JOINED(leave, KERNELS)
#include "precond/multicolor/solve.cuh"

/// Runs the launch of a step.
inline void run(const ::hyperplane::ColourStep<double>& step) {
    hyperplane::Step arguments;
    std::memcpy(static_cast<void*>(&arguments), &step.arguments, sizeof(arguments));
    const std::string name = step.kernel;
    const auto kernel = name == "enter"   ? hyperplane::enter
                        : name == "lower" ? hyperplane::lower
                        : name == "upper" ? hyperplane::upper
                                          : hyperplane::leave;
    emulated_colours::launch(int(step.places() + THREADS - 1) / THREADS, (DOF + ROWS - 1) / ROWS,
                             [&] { kernel(arguments); });
}
#undef enter
#undef lower
#undef upper
#undef leave
#undef LAUNCH_BOUNDS
#undef HYPERPLANE_MULTICOLOR_STEP

}  // namespace KERNELS

#undef KERNELS
#undef DOF
#undef ROWS
#undef COLOURS
#undef SYMMETRIC
#undef MOST_TERMS
#undef AHEAD
