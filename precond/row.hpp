// SPDX-License-Identifier: BSD-3-Clause
// A row of the table of preconditioners (precond/registry.hpp): what the program knows of one before there is a matrix.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

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
using CreatePreconditioner =
    std::function<std::unique_ptr<Preconditioner>(const Parameters&, const PreconditionerSetting&)>;

/// What is known of a preconditioner before anything is allocated.
struct PreconditionerPlan {
    Layout layout;              ///< the layout it wants matrix and vectors in
    Index bytes = 0;            ///< it will hold after setup, besides the matrix
    Index setup_bytes = 0;      ///< more that it holds during a setup
    Index bytes_per_apply = 0;  ///< fewest one apply will move; 0: those it holds and two vectors
    PreconditionerTraits traits;
};

using PlanPreconditioner = std::function<PreconditionerPlan(const Parameters&, const PreconditionerSetting&)>;

struct PreconditionerRow : RegistryRow<CreatePreconditioner> {
    PlanPreconditioner plan;
    std::vector<FactorStorage> storages{FactorStorage::double_precision};  ///< of its factors; empty: it has none
    std::string storage_note;  ///< where they are not widened when read; told with a refusal, too
};

}  // namespace hyperplane
