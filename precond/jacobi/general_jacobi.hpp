// SPDX-License-Identifier: BSD-3-Clause
// Block Jacobi of a general matrix: M is the block diagonal of A.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/interfaces/preconditioner.hpp"
#include "core/matrix/bsr_matrix.hpp"
#include "precond/registry_row.hpp"

namespace hyperplane {

/// z_i = D_ii^-1 r_i, with D as for Jacobi. Blocks are inverted by Gauss-Jordan elimination; a block that is missing or
/// cannot be inverted leads to a SetupError that names its row.
class GeneralJacobi : public Preconditioner {
public:
    /// `name`: what messages call it; another preconditioner may use it under its own name.
    GeneralJacobi(const Context& context, bool l1, std::string name)
        : context_(context), l1_(l1), name_(std::move(name)) {}
    SetupReport setup(const SystemMatrix& matrix) override;
    void apply(const Vector& r, Vector& z) const override { inverse_->apply(r, z); }
    PreconditionerTraits traits() const override { return {.fixed = true, .symmetric = symmetric_}; }
    Index bytes_per_apply() const override { return inverse_->bytes_per_apply(); }
    ApplicationCheck check_application(const SystemMatrix& matrix, const Vector& r, const Vector& z,
                                       const MakeInDouble& in_double) const override;

    static PreconditionerPlan plan(const PreconditionerSetting& setting, bool l1);
    /// Held after a set-up; on a CPU, l1 holds bytes_of_l1 in addition during one.
    static Index bytes(Index rows, int dof);
    static Index bytes_of_l1(Index rows, int dof);

private:
    /// Allocates what the pattern needs, if it is another one than before.
    void analyse(const BsrMatrix& a);

    Context context_;
    bool l1_;
    std::string name_;
    std::shared_ptr<const BlockPattern> served_;  ///< of the matrices that places_ is for
    Buffer<Index> places_;                        ///< of the diagonal blocks; -1: not stored
    std::unique_ptr<BsrMatrix> inverse_;
    bool symmetric_ = false;
};

}  // namespace hyperplane
