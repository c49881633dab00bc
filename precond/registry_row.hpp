// SPDX-License-Identifier: BSD-3-Clause
// A row of the registry of preconditioners (precond/registry.hpp): what the program knows about a preconditioner before
// there is a matrix.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/interfaces/preconditioner.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "core/parameters/registry.hpp"
#include "core/ranks/cuts.hpp"
#include "precond/counted_plan.hpp"
#include "precond/factors/storage.hpp"
#include "precond/kernel_set.hpp"

namespace hyperplane {

/// What is known about the matrix when a preconditioner is constructed or planned.
struct PreconditionerSetting {
    Context context;
    MatrixShape matrix;
    bool eisenstat = false;       ///< whether the solver needs M's Eisenstat form (LinearOperator::eisenstat)
    bool single_vectors = false;  ///< whether M is applied to vectors in single precision, too (SmootherPasses)
    /// The layout of the matrix, where a deck has chosen one in place of the preferred one.
    std::optional<LayoutKind> chosen_layout = {};
    std::string unsymmetric_by = {};  ///< the scaling that has made a symmetric matrix unsymmetric; else empty

    /// A layout of the matrix's grid; where the context is that of one of several ranks, of its part.
    Layout layout(LayoutKind kind, LevelMap levels) const {
        return part_of(context, Layout(kind, matrix.grid(), levels), matrix.halo());
    }
    Layout natural_layout() const { return layout(LayoutKind::natural, matrix.stencil().level_map()); }
};

/// Makes a preconditioner. Throws UsageError for parameters that it does not support.
using CreatePreconditioner =
    std::function<std::unique_ptr<Preconditioner>(const Parameters&, const PreconditionerSetting&)>;

/// What a plan has computed and the first set-up takes over.
struct KeptByPlan {
    virtual ~KeptByPlan() = default;
    virtual Index bytes() const = 0;  ///< that it holds now
};

/// What is known about a preconditioner before anything is allocated.
struct PreconditionerPlan {
    IndexSpace space;            ///< of matrix and vectors, in the preferred layout
    Index bytes = 0;             ///< held after a set-up, besides the matrix
    Index most_bytes = 0;        ///< held at most, if that depends on the matrix or on what the set-up finds; else 0
    const char* most_when = "";  ///< the condition for that, as in "couplings are weak along some axes"
    Index setup_bytes = 0;       ///< held in addition during a set-up
    Index host_bytes = 0;        ///< what a preconditioner on a GPU holds in the host's memory during a set-up
    const char* host_use = "";   ///< what these are for, as in "the inverse of the coarsest grid"
    Index bytes_per_apply = 0;   ///< fewest that one application moves; 0 stands for `bytes` and two vectors
    PreconditionerTraits traits;
    std::shared_ptr<const KeptByPlan> kept;              ///< may be null
    std::vector<std::pair<std::string, Index>> parts{};  ///< of `bytes`, where they are told one by one, by their names
    std::string warning{};  ///< what a user should know before the set-up, as that it takes long, and what to do
};

using PlanPreconditioner = std::function<PreconditionerPlan(const Parameters&, const PreconditionerSetting&)>;

/// Changes how a preconditioner that has not been set up yet runs its kernels; benchmarks compare such ways.
struct NamedTuning {
    std::string name;
    std::function<void(Preconditioner&)> apply;
};

struct PreconditionerRow : RegistryRow<CreatePreconditioner> {
    PlanPreconditioner plan;
    PlanByCounts plan_by_counts;  ///< empty: the numbers of rows and blocks of a general matrix do not bound its memory
    std::vector<FactorStorage> storages{FactorStorage::double_precision};  ///< supported; empty: no factors
    std::vector<MatrixKind> kinds{MatrixKind::structured};                 ///< the kinds of matrices that it takes
    bool needs_symmetry = false;                                           ///< takes symmetric matrices alone
    /// An exact incomplete elimination: for an M-matrix, A = M - (M - A) is a regular splitting (Meijerink and van der
    /// Vorst 1977), so the eigenvalues of M^-1 A lie in (0, 2).
    bool regular_splitting = false;
    bool on_ranks = false;  ///< runs on several ranks that share a grid
    /// Keys of [preconditioner], each with the only value that works on several ranks.
    std::vector<std::pair<std::string, std::string>> only_on_ranks;
    bool boosts_general_alone = false;  ///< pivot_policy = boost is for general matrices alone
    bool on_general_ranks = false;      ///< runs on several ranks that share the rows of a general matrix
    /// If ranks may be cut only at multiples of some number of planes, that number (core/ranks/aligned.hpp).
    std::function<int(const Parameters&, const PreconditionerSetting&)> planes_together;
    bool uneven_on_ranks =
        false;                 ///< the parts of ranks may differ so that another than the last one needs most memory
    std::string storage_note;  ///< how factors are used if not widened when read; also part of refusals
    /// Another library's, on GPUs alone, which others are compared with.
    bool baseline = false;
    bool exports_factors = false;  ///< of general matrices: L, D and U
    /// What does the same for general matrices, if this one does not take them, as a sentence for its refusal.
    std::string general_counterpart;
    /// The preconditioner with the same factors, if no loop over points can read this one's; for checks.
    std::string same_factors;
    std::string same_general_factors;  ///< the same for general matrices
    std::vector<NamedTuning> tunings;  ///< for `bench --tunings`
    /// Choices of its keys, "key=value", with which `compare --auto` tries it as well as with the defaults.
    std::vector<std::string> variants;
    /// The same, which it tries where a set-up without them has failed for a symmetric matrix.
    std::vector<std::string> variants_after_failure;
    /// Solvers with keys that need what this preconditioner offers, such as "cg:eisenstat=true"; `compare --auto` tries
    /// them with it as well.
    std::vector<std::string> solver_variants;
    bool takes(MatrixKind kind) const { return std::find(kinds.begin(), kinds.end(), kind) != kinds.end(); }
    /// The kernels that NVRTC compiles for a deck on a GPU, known without one; empty if there are none.
    std::function<std::vector<KernelSet>(const Parameters&, const PreconditionerSetting&)> kernels;
};

}  // namespace hyperplane
