// SPDX-License-Identifier: BSD-3-Clause
// In place of precond/walks/async_copies.cuh where a kernel's text is compiled for the host
// (precond/emulated_warps.hpp): copies are performed as late as they may be.
#pragma once

namespace hyperplane {

inline void copy_8_async(double* to, const double* from) {
    emulated_warps::now().copies.push_back({to, from});
}
inline void commit_copies() {
    emulated_warps::now().commit();
}
template <int pending>
void wait_copies() {
    emulated_warps::now().wait(pending);
}

}  // namespace hyperplane
