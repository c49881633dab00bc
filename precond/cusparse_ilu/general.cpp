// SPDX-License-Identifier: BSD-3-Clause
#include "precond/cusparse_ilu/general.hpp"

#include "core/error.hpp"

namespace hyperplane {

void GeneralCusparseIlu::check(const CusparseOptions& options) {
    if (!is_reduced(options.storage)) return;
    throw UsageError(options.where_storage +
                     ": cusparse_ilu keeps the factors of general matrices in double precision alone; leave the key "
                     "out, or set matrix.format = structured for a problem on a grid");
}

PreconditionerPlan GeneralCusparseIlu::plan(const CusparseOptions& options, const PreconditionerSetting& setting) {
    check(options);
    const MatrixShape& a = setting.matrix;
    const FilledPattern filled = filled_pattern(setting.context.host(), a.pattern(), options.fill_level, "factor");
    options.require_factorisable(CompressedRows::scalars(filled, a.dof(), options.part(a.symmetric())));
    PreconditionerPlan plan;
    plan.space = a.natural_space();
    plan.bytes = CompressedRows::bytes(filled, a.dof(), options.format, options.part(a.symmetric())) +
                 3 * a.unknowns() * Index(sizeof(double));
    plan.bytes_per_apply = CusparseIlu::fewest_bytes(filled.pattern->blocks(), a.dof(), a.block_rows());
    plan.traits = {.fixed = true, .symmetric = a.symmetric()};
    return plan;
}

}  // namespace hyperplane
