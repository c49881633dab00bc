// SPDX-License-Identifier: BSD-3-Clause
// In place of core/device/async_copies.cuh where a kernel's text is compiled for the host
// (precond/emulated_warps.hpp): copies are performed as late as they may be.
#pragma once

namespace hyperplane {

inline void copy_8_async(double* to, const double* from) {
    emulated_warps::now().copies.push_back({to, from});
}
inline void copy_16_async(double* to, const double* from) {
    if (std::uintptr_t(to) % 16 + std::uintptr_t(from) % 16 > 0)
        throw std::logic_error("a misaligned copy of 16 bytes");
    copy_8_async(to, from);
    copy_8_async(to + 1, from + 1);
}
inline void commit_copies() {
    emulated_warps::now().commit();
}
template <int pending>
void wait_copies() {
    emulated_warps::now().wait(pending);
}

}  // namespace hyperplane
