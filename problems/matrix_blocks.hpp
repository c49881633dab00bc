// SPDX-License-Identifier: BSD-3-Clause
// The blocks of a sparse matrix that was given by its scalar entries.
#pragma once

#include <memory>

#include "core/matrix/bsr_matrix.hpp"
#include "core/matrix/struct_matrix.hpp"

namespace hyperplane {

/// The largest dof in 1..32 for which the entries fill dof x dof blocks without a gap; 1 always does.
int found_block_size(const CsrMatrix& a);

/// A matrix in blocks, in the host's memory. Where an entry of a block is not given, it is zero. `dof` divides the
/// rows. Throws UsageError, which begins with `where`, if there are more block rows than 32-bit columns count.
std::unique_ptr<BsrMatrix> in_blocks(const Context& host, const CsrMatrix& a, int dof, const std::string& where,
                                     const std::string& label);

}  // namespace hyperplane
