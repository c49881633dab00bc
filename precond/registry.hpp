// SPDX-License-Identifier: BSD-3-Clause
// The preconditioners a deck can name. Adding one: its own files and a row in registry.cpp.
#pragma once

#include <memory>

#include "core/interfaces/linear_operator.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "core/parameters/registry.hpp"
#include "precond/factors/storage.hpp"

namespace hyperplane {

/// What a preconditioner needs before there is a matrix.
struct PreconditionerSetting {
    Context context;
    Grid grid;
    Stencil stencil;  ///< of the matrix that will be factored
    int dof;
    bool symmetric;
};

/// Makes a preconditioner; throws UsageError for parameters it cannot serve.
using CreatePreconditioner = std::unique_ptr<Preconditioner> (*)(const Parameters&, const PreconditionerSetting&);

/// What is known of a preconditioner before anything is allocated.
struct PreconditionerPlan {
    Layout layout;              ///< the layout it wants matrix and vectors in
    Index bytes = 0;            ///< it will hold after setup, besides the matrix
    Index setup_bytes = 0;      ///< more that it holds during a setup
    Index bytes_per_apply = 0;  ///< fewest one apply will move; 0: those it holds and two vectors
    PreconditionerTraits traits;
};

using PlanPreconditioner = PreconditionerPlan (*)(const Parameters&, const PreconditionerSetting&);

struct PreconditionerRow : RegistryRow<CreatePreconditioner> {
    PlanPreconditioner plan;
    std::vector<FactorStorage> storages{FactorStorage::double_precision};  ///< of its factors; empty: it has none
    std::string storage_note;  ///< where they are not widened when read; told with a refusal, too
};

const std::vector<PreconditionerRow>& preconditioners();
const PreconditionerRow& find_preconditioner(const std::string& name);
/// Throws UsageError where preconditioner.storage is none that a row takes.
void check_storage(const PreconditionerRow& row, const Parameters& parameters);

/// Keys every preconditioner shares: preconditioner.name.
ParameterTable common_preconditioner_parameters();

}  // namespace hyperplane
