// SPDX-License-Identifier: BSD-3-Clause
// SystemMatrix: the matrix of a linear system, of whatever kind. A preconditioner reads the coefficients of the kinds
// that it takes; all others work with it as an operator and do not know its kind.
//
//   StructMatrix   on a structured grid (core/matrix/struct_matrix.hpp)
//   BsrMatrix      general, in block rows (core/matrix/bsr_matrix.hpp)
#pragma once

#include <memory>
#include <string>

#include "core/interfaces/linear_operator.hpp"
#include "core/matrix/matrix_shape.hpp"

namespace hyperplane {

class SystemMatrix : public LinearOperator {
public:
    const Context& context() const { return context_; }
    Backend backend() const { return context_.backend(); }
    /// That of the vectors which the matrix is multiplied with.
    const IndexSpace& space() const { return space_; }
    int dof() const { return dof_; }
    /// Whether the matrix equals its transpose to the last bit, by the way in which it is stored.
    bool symmetric() const { return symmetric_; }
    Index unknowns() const { return space_.block_rows() * dof_; }
    /// Number of coefficients that the pattern has room for, including those of a symmetric matrix that are not stored.
    virtual Index nonzeros() const = 0;
    /// Brings the coefficients in the halos of a rank's part up to date, after every rank has set its own.
    virtual void share_halos() {}
    /// Number of coefficients held in memory.
    virtual Index stored() const = 0;
    /// Bytes of all that is stored.
    virtual Index bytes() const = 0;

protected:
    SystemMatrix(const Context& context, const IndexSpace& space, int dof, bool symmetric)
        : context_(context), space_(space), dof_(dof), symmetric_(symmetric) {}

private:
    Context context_;
    IndexSpace space_;
    int dof_;
    bool symmetric_;
};

/// A matrix of zeros. `space` has the block rows of the shape.
std::unique_ptr<SystemMatrix> make_matrix(const Context& context, const IndexSpace& space, const MatrixShape& shape,
                                          const std::string& label);
/// Bytes that such a matrix takes; on a GPU, of a general one, those of its pattern, too.
Index bytes_of(const MatrixShape& shape, const IndexSpace& space, Backend backend);

}  // namespace hyperplane
