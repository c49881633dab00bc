// SPDX-License-Identifier: BSD-3-Clause
// The values of a buffer for loops on the host: a copy of a GPU's, or the buffer itself where the host has it.
#pragma once

#include "core/device/context.hpp"

namespace hyperplane {

/// Values where the host can read them.
template <class T>
class HostValues {
public:
    explicit HostValues(const Buffer<T>& values) : at_(values.data()) {
        if (values.backend() == Backend::cpu) return;
        const Context& from = values.context();
        copy_ = Buffer<T>(from.host(), "factors", values.size());
        copy_between(from, values.data(), copy_.context(), copy_.data(), copy_.size() * Index(sizeof(T)));
        at_ = copy_.data();
    }
    const T* data() const { return at_; }

private:
    Buffer<T> copy_;
    const T* at_;
};

}  // namespace hyperplane
