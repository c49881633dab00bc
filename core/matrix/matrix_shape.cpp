// SPDX-License-Identifier: BSD-3-Clause
#include "core/matrix/matrix_shape.hpp"

#include "core/error.hpp"
#include "core/matrix/block_pattern.hpp"

namespace hyperplane {

MatrixShape::MatrixShape(std::shared_ptr<const BlockPattern> pattern, int dof, bool symmetric)
    : pattern_(std::move(pattern)), dof_(dof), symmetric_(symmetric), block_rows_(pattern_->space().all_block_rows()) {}

IndexSpace MatrixShape::natural_space() const {
    return pattern_ ? pattern_->space() : IndexSpace(Layout(LayoutKind::natural, grid(), stencil().level_map()));
}

void MatrixShape::refuse() {
    throw Error(ExitCode::internal, "grid and stencil were asked for where there is a general matrix");
}

}  // namespace hyperplane
