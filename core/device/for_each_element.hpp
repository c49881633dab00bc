// SPDX-License-Identifier: BSD-3-Clause
// Loops over all pairs of a point and an element, such as an entry of the stencil, on either backend. Bodies, and files
// with such loops, follow the rules of core/device/for_each_point.hpp.
#pragma once

#include <limits>

#include "core/device/context.hpp"
#include "core/error.hpp"

#ifdef __CUDACC__
#include "core/device/cuda.hpp"
#endif

namespace hyperplane {

#ifdef __CUDACC__
template <class Body>
__global__ void visit_elements(int points, const __grid_constant__ Body body) {
    const int at = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (at < points) body(at, int(blockIdx.y));
}
#endif

/// Calls body(point, element) once for each pair of one of `points` points and one of `elements` <= 65535 elements,
/// points fastest: on the context's threads, or queued on the device. Throws UsageError for more than 2^31 - 1 points.
template <class Body>
void for_each_element(const Context& context, Index points, int elements, [[maybe_unused]] const char* name,
                      const Body& body) {
    if (points == 0 || elements == 0) return;
    if (points > std::numeric_limits<int>::max())
        throw UsageError(std::string(name) + ": " + std::to_string(points) +
                         " rows are more than the 2147483647 that can be counted; use a smaller grid");
    const int count = int(points);
#ifdef __CUDACC__
    if (context.backend() == Backend::cuda) {
        constexpr int threads = 128;
        visit_elements<<<dim3(cuda::blocks_for(count, threads), elements), threads, 0, cuda::stream(context)>>>(count,
                                                                                                                body);
        return cuda::launched(context, name);
    }
#endif
#pragma omp parallel for collapse(2) schedule(static) num_threads(context.threads_for(points* elements))
    for (int element = 0; element < elements; ++element)
        for (int at = 0; at < count; ++at) body(at, element);
}

}  // namespace hyperplane
