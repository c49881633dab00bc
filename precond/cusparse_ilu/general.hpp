// SPDX-License-Identifier: BSD-3-Clause
// cusparse_ilu of general matrices: the same routines on a matrix that comes as compressed rows, in the order in which
// it is solved. The pattern of the fill level is that of sync_free_ilu; entries that the matrix does not have are zero.
#pragma once

#include <memory>

#include "precond/cusparse_ilu/cusparse_ilu.hpp"

namespace hyperplane {

class GeneralCusparseIlu : public Preconditioner {
public:
    /// Checks the options.
    GeneralCusparseIlu(const Context& context, const CusparseOptions& options);
    ~GeneralCusparseIlu() override;

    SetupReport setup(const SystemMatrix& matrix) override;
    void apply(const Vector& r, Vector& z) const override;
    PreconditionerTraits traits() const override;
    Index bytes_per_apply() const override;
    /// By the factors of sync_free_ilu, which `in_double` makes.
    ApplicationCheck check_application(const SystemMatrix& a, const Vector& r, const Vector& z,
                                       const MakeInDouble& in_double) const override;
    /// The factorisation alone, without the analysis and without copying the matrix.
    NumericSetup numeric_setup(const SystemMatrix& matrix) override;
    /// The two solves alone, with the vector that the last apply loaded.
    void apply_unconverted(const Vector& r, Vector& z) const override;

    /// Throws UsageError if storage is not double.
    static void check(const CusparseOptions& options);
    static PreconditionerPlan plan(const CusparseOptions& options, const PreconditionerSetting& setting);

private:
    struct Device;
    Context context_;
    CusparseOptions options_;
    std::unique_ptr<Device> device_;
};

}  // namespace hyperplane
