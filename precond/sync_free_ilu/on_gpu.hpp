// SPDX-License-Identifier: BSD-3-Clause
// How the host hands a pattern's tables to the kernels of this family.
#pragma once

#include "core/device/context.hpp"

namespace hyperplane {

/// Row pointers as the kernels' arguments name their type.
inline const long long* as_pointers(const Index* at) {
    static_assert(sizeof(long long) == sizeof(Index));
    return reinterpret_cast<const long long*>(at);
}

/// A copy in a GPU's memory of values that the host keeps.
template <class T>
Buffer<T> copy_on(const Context& context, const std::string& label, const Buffer<T>& host) {
    Buffer<T> copy(context, label, host.size());
    copy_between(host.context(), host.data(), context, copy.data(), host.size() * Index(sizeof(T)));
    return copy;
}

}  // namespace hyperplane
