// SPDX-License-Identifier: BSD-3-Clause
// Block Jacobi: M is the block diagonal of A. `none`: M is the identity.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "core/interfaces/preconditioner.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "precond/checks/applications.hpp"
#include "precond/factors/reduced.hpp"
#include "precond/registry_row.hpp"

namespace hyperplane {

/// z(p) = D_pp^-1 r(p), where D is the block diagonal of A, or that of precond/jacobi/l1_diagonal.hpp. Blocks are
/// inverted by Gauss-Jordan elimination; a block that cannot be inverted leads to a SetupError that names its cell.
class Jacobi : public Preconditioner {
public:
    /// `name`: what messages call it; another preconditioner may use it under its own name.
    Jacobi(const Context& context, FactorStorage storage, bool l1, std::string name)
        : context_(context), storage_(storage), l1_(l1), name_(std::move(name)) {}
    SetupReport setup(const SystemMatrix& matrix) override;
    void apply(const Vector& r, Vector& z) const override;
    PreconditionerTraits traits() const override { return {.fixed = true, .symmetric = symmetric_}; }
    Index bytes_per_apply() const override;
    ApplicationCheck check_application(const SystemMatrix& matrix, const Vector& r, const Vector& z,
                                       const MakeInDouble& in_double) const override;

private:
    void round_factors(SetupReport& report);

    Context context_;
    FactorStorage storage_;
    bool l1_;
    std::string name_;
    std::optional<StructMatrix> inverse_;
    std::optional<ReducedFactors> reduced_;  ///< replaces inverse_ after a set-up in reduced precision
    bool symmetric_ = false;
};

/// z = r.
class NoPreconditioner : public Preconditioner {
public:
    SetupReport setup(const SystemMatrix& matrix) override;
    void apply(const Vector& r, Vector& z) const override;
    PreconditionerTraits traits() const override { return {.fixed = true, .symmetric = true}; }
    Index bytes_per_apply() const override { return 2 * unknowns_ * Index(sizeof(double)); }
    ApplicationCheck check_application(const SystemMatrix& a, const Vector& r, const Vector& z,
                                       const MakeInDouble& /*in_double*/) const override {
        return {largest_difference(a.context(), z, r), 0.0, ""};
    }

private:
    Index unknowns_ = 0;
};

PreconditionerRow jacobi_row();
PreconditionerRow none_row();

}  // namespace hyperplane
