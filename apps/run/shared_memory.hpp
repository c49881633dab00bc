// SPDX-License-Identifier: BSD-3-Clause
// The bytes that several ranks take together of one memory, that of a host or of a GPU which they share.
#pragma once

#include "core/device/context.hpp"

namespace hyperplane {

/// The bytes that all ranks take together that share this rank's memory, of which this rank takes `mine`: those on its
/// GPU, or those on the CPUs of its host. All ranks must call it. Without ranks it is `mine`.
Index together_in_one_memory(const Context& context, Index mine);
/// Returns the bytes that all ranks on this rank's host take together of its memory, of which this rank takes `mine`.
/// All ranks must call it, on either backend. Without ranks it is `mine`.
Index together_on_one_host(const Context& context, Index mine);

}  // namespace hyperplane
