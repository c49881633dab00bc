// SPDX-License-Identifier: BSD-3-Clause
// [scaling]: a preconditioner of a scaled matrix, for the matrix as it was given.
//
//     A~ = R A C,  M~ a preconditioner of A~,  M = R^-1 M~ C^-1,  z = M^-1 r = C M~^-1 R r
//
// R and C are diagonal. The Krylov method multiplies with A itself, so its residuals are those of the user's system,
// and x needs no scaling back: in exact arithmetic x lies in the same Krylov space as if R A C y = R b had been solved,
// and what a method minimises is the user's residual. Scales are powers of two: scaling rounds nothing, a symmetric
// matrix stays symmetric to the last bit, and an elimination without thresholds gives the same z to the last bit. What
// changes is whatever compares values of different rows: pivots judged within a block, thresholds; and `none`, which
// becomes a diagonal preconditioner.
#pragma once

#include <memory>

#include "core/matrix/bsr_matrix.hpp"
#include "precond/counted_plan.hpp"
#include "precond/registry_row.hpp"

namespace hyperplane {

/// Exponents of the powers of two that rows and columns are multiplied with; empty: all are 0.
struct Scales {
    std::vector<int> row, column;
};
/// For a matrix that the host can read; of a rank's rows, the scales of these. Throws SetupError if there are none.
using MakeScales = std::function<Scales(const BsrMatrix&)>;

/// What C is: the identity; R; or a diagonal of its own, which is equal to R if A is symmetric.
enum class ColumnScales { none, those_of_rows, own };

/// A row of the registry of scalings.
struct ScalingRow : RegistryRow<MakeScales> {
    ColumnScales columns = ColumnScales::those_of_rows;
    /// What finding the scales holds at most, of a matrix with so many rows and blocks on all ranks; empty: nothing.
    std::function<Index(const BlockCounts& all, bool on_ranks)> setup_bytes;

    /// Whether a symmetric matrix stays symmetric.
    bool keeps_symmetry() const { return columns != ColumnScales::none; }
};

/// The first row is `none`.
const std::vector<ScalingRow>& scalings();
/// Key `name` of [scaling].
ParameterTable common_scaling_parameters();

/// Whether the deck asks for a scaling.
bool scales(const Parameters& parameters);

/// The setting of the preconditioner within the scaling that the deck names: that of the scaled matrix. Throws
/// UsageError if the matrix is one that cannot be scaled.
PreconditionerSetting scaled_setting(const Parameters& parameters, const PreconditionerSetting& setting);

/// Adds to the plan of a preconditioner what the scaling that the deck names holds on a CPU.
void add_scaling(const Parameters& parameters, const BlockCounts& a, CountedPlan& plan);

/// Plan and preconditioner of `row` within the scaling that the deck names.
PreconditionerPlan plan_scaled(const PreconditionerRow& row, const Parameters& parameters,
                               const PreconditionerSetting& setting);
std::unique_ptr<Preconditioner> create_scaled(const PreconditionerRow& row, const Parameters& parameters,
                                              const PreconditionerSetting& setting);

}  // namespace hyperplane
