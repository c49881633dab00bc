// SPDX-License-Identifier: BSD-3-Clause
// The mark of functions that exist on the host and on the device. A header that kernels include, too, is compiled by
// the C++ compiler, by nvcc and by NVRTC: it uses nothing of the standard library, and what only the host needs of it
// stands where __CUDACC_RTC__, NVRTC's mark, is not defined.
#pragma once

#ifdef __CUDACC__
#define HYPERPLANE_HD __host__ __device__
#else
#define HYPERPLANE_HD
#endif
