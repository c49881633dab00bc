// SPDX-License-Identifier: BSD-3-Clause
// The smallest of some values at points (core/vector/point_values.hpp) without waiting for the GPU.
#pragma once

#include "core/device/context.hpp"
#include "core/grid/layout.hpp"

namespace hyperplane::cuda {

/// A value and its slot; the slot is -1 if there is none.
struct SlotValue {
    double value;
    Index slot;
};

/// Queues what cuda::smallest computes (core/vector/blas1_cuda.hpp); `found` lies in device memory.
void queue_smallest(const Context& context, const Layout& layout, const double* values, SlotValue* found);

}  // namespace hyperplane::cuda
