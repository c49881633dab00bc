// SPDX-License-Identifier: BSD-3-Clause
// The preconditioners a deck can name. Adding one: its own files and a row in registry.cpp.
#pragma once

#include "precond/row.hpp"

namespace hyperplane {

const std::vector<PreconditionerRow>& preconditioners();
const PreconditionerRow& find_preconditioner(const std::string& name);
/// Throws UsageError where preconditioner.storage is none that a row takes.
void check_storage(const PreconditionerRow& row, const Parameters& parameters);

/// Keys every preconditioner shares: preconditioner.name.
ParameterTable common_preconditioner_parameters();

}  // namespace hyperplane
