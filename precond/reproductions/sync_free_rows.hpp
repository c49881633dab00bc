// SPDX-License-Identifier: BSD-3-Clause
// The variants shared, vect, adapt and levs of sync_free_ilu, which serve only for comparison; the text of their kernel
// is precond/reproductions/sync_free_rows.cuh.
#pragma once

#include "precond/sync_free_ilu/cuda.hpp"

namespace hyperplane {

/// `variant` is a published one.
SyncFreeShape published_shape(const RowCounts& counts, bool symmetric, FactorVariant variant);

inline constexpr const char* published_kernel = "sync_free_rows";
rtc::Program published_program(const SyncFreeShape& shape);

}  // namespace hyperplane
