// SPDX-License-Identifier: BSD-3-Clause
// Values of factors in their storage (precond/factors/reduced_values.hpp), which are widened to double when they are
// read.
//
// Definitions: STORAGE (0: double, 1: single precision, 2: half precision, rows scaled by powers of two).
#pragma once

namespace hyperplane {

#if STORAGE == 0
typedef double Value;
#elif STORAGE == 1
typedef float Value;
#else
typedef unsigned short Value;
#endif
constexpr bool scaled_rows = STORAGE == 2;

__device__ __forceinline__ double widened(double x) {
    return x;
}
__device__ __forceinline__ double widened(float x) {
    return x;
}
__device__ __forceinline__ double widened(unsigned short half) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(half));
    return x;
}

/// The scale 2^k of a row, stored as k + 127.
__device__ __forceinline__ double scale_of(unsigned char kept) {
    return __hiloint2double((int(kept) + 1023 - 127) << 20, 0);
}

/// Contiguous values of at most 16 bytes, loaded by one instruction. They are read once, so the load marks them to be
/// evicted from the caches first.
template <int width>
struct Values {
    Value v[width];

    Values() = default;
    __device__ __forceinline__ explicit Values(const Value* from) {
        constexpr int bytes = width * sizeof(Value);
        if constexpr (bytes == 16)
            keep(__ldcs((const uint4*)from));
        else if constexpr (bytes == 8)
            keep(__ldcs((const uint2*)from));
        else if constexpr (bytes == 4)
            keep(__ldcs((const unsigned*)from));
        else
            keep(__ldcs((const unsigned short*)from));
    }
    __device__ __forceinline__ double operator[](int at) const { return widened(v[at]); }

private:
    template <class Raw>
    __device__ __forceinline__ void keep(Raw raw) {
        static_assert(sizeof raw == sizeof v);
        memcpy(v, &raw, sizeof v);
    }
};

}  // namespace hyperplane
