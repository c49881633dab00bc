// SPDX-License-Identifier: BSD-3-Clause
// The preconditioners that a deck can name. A new one consists of its own files and a row in registry.cpp.
#pragma once

#include "precond/registry_row.hpp"

namespace hyperplane {

const std::vector<PreconditionerRow>& preconditioners();
const PreconditionerRow& find_preconditioner(const std::string& name);
/// The preconditioners that multigrid takes as smoothers.
std::vector<PreconditionerRow> smoothers();
/// Throws UsageError if the row does not support the deck's preconditioner.storage.
void check_storage(const PreconditionerRow& row, const Parameters& parameters);
/// Returns the preconditioner's name for Solver::check. If M is fixed and not symmetric positive definite, the keys
/// that make it so follow: "sync_free_ilu with indefinite = true".
std::string name_with_causes(const PreconditionerRow& row, const Parameters& parameters,
                             const PreconditionerTraits& traits);
/// Throws UsageError, naming the rows that would do, if a row does not take this kind of matrix or needs a symmetric
/// one and this one is not.
void check_matrix(const PreconditionerRow& row, const PreconditionerSetting& setting);
/// The same for a row that the deck names by `key` and that is one of `rows`.
void check_matrix(const PreconditionerRow& row, const PreconditionerSetting& setting, const char* key,
                  const std::vector<PreconditionerRow>& rows);

/// The memory of the deck's preconditioner within its scaling, of a general matrix of which only the numbers of rows
/// and blocks are known. Throws UsageError if these do not bound it.
CountedPlan plan_by_counts(const Parameters& parameters, const Context& context, const BlockCounts& a);

/// The name of the preconditioner that matrices of a kind have by default.
std::string default_preconditioner(MatrixKind kind);
/// The key that all preconditioners share: preconditioner.name, with the default for matrices of a kind.
ParameterTable common_preconditioner_parameters(MatrixKind kind = MatrixKind::structured);

}  // namespace hyperplane
