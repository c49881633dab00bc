// SPDX-License-Identifier: BSD-3-Clause
#include "core/matrix/system_matrix.hpp"

#include "core/matrix/bsr_matrix.hpp"
#include "core/matrix/bsr_product_cuda.hpp"
#include "core/matrix/struct_matrix.hpp"

namespace hyperplane {

std::unique_ptr<SystemMatrix> make_matrix(const Context& context, const IndexSpace& space, const MatrixShape& shape,
                                          const std::string& label) {
    if (shape.kind() == MatrixKind::general)
        return std::make_unique<BsrMatrix>(context, shape.pattern(), shape.dof(), shape.symmetric(), label);
    const MatrixStorage storage = shape.symmetric() ? MatrixStorage::lower : MatrixStorage::full;
    return std::make_unique<StructMatrix>(context, space.layout(), shape.stencil(), shape.dof(), storage, label);
}

Index bytes_of(const MatrixShape& shape, const IndexSpace& space, [[maybe_unused]] Backend backend) {
    if (shape.kind() == MatrixKind::general) {
        Index bytes = BsrMatrix::bytes(*shape.pattern(), shape.dof(), backend);
        if constexpr (cuda_built)
            if (backend == Backend::cuda) bytes += BsrProductCuda::bytes(*shape.pattern(), shape.dof());
        return bytes;
    }
    const int entries = shape.symmetric() ? shape.stencil().diagonal() + 1 : shape.stencil().size();
    return StructMatrix::bytes(Index(entries) * shape.dof() * shape.dof(), space.slots_in_memory());
}

}  // namespace hyperplane
