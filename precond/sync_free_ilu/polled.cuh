// SPDX-License-Identifier: BSD-3-Clause
// Values that are polled themselves: each is `unfinished`, a number that is not one, before a launch, and is written
// once. So there are no flags, no fences, and no second access after a wait.
#pragma once

#include "precond/sync_free_ilu/table_arguments.hpp"

namespace hyperplane {

__device__ __forceinline__ bool is_finished(double value) {
    return __double_as_longlong(value) != unfinished;
}
// NOLINTBEGIN(misc-unused-parameters): a test compiles this text for the host, without PTX
__device__ __forceinline__ double look_at(const double* at) {
    double value;
    asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(value) : "l"(at) : "memory");
    return value;
}
__device__ __forceinline__ double await(const double* at) {
    double value = look_at(at);
    while (!is_finished(value)) value = look_at(at);
    return value;
}
__device__ __forceinline__ void finish(double* at, double value) {
    const long long another_nan = 0x7ff8000000000000ll;  // A may have any
    if (!is_finished(value)) value = __longlong_as_double(another_nan);
    asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(at), "d"(value) : "memory");
}
// NOLINTEND(misc-unused-parameters)

/// The smallest of the ratios that the threads of a thread block have seen; all of them call it, once.
template <int threads>
__device__ __forceinline__ void write_smallest(PivotRatio own, PivotRatio* to) {
    __shared__ double ratios[threads];
    __shared__ long long rows[threads];
    ratios[threadIdx.x] = own.value;
    rows[threadIdx.x] = own.row;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int one = 1; one < threads; ++one) own.take(ratios[one], rows[one]);
    *to = own;
}

}  // namespace hyperplane
