// SPDX-License-Identifier: BSD-3-Clause
// The marks of functions that exist on the host and on the device, the second one of those that kernels inline whatever
// the compiler thinks of it. A header that kernels include, too, is compiled by the C++ compiler, by nvcc and by NVRTC:
// it uses nothing of the standard library, and what only the host needs of it stands where __CUDACC_RTC__, NVRTC's
// mark, is not defined.
#pragma once

#ifdef __CUDACC__
#define HYPERPLANE_HD __host__ __device__
#define HYPERPLANE_HD_INLINE __host__ __device__ __forceinline__
#else
#define HYPERPLANE_HD
#define HYPERPLANE_HD_INLINE inline
#endif
