// SPDX-License-Identifier: BSD-3-Clause
// multigrid: cycles over a hierarchy of grids that follows from the matrix alone, with any preconditioner as smoother
// that takes matrices on a grid.
//
// Black-box interpolation, Galerkin products and coarsening along strong couplings (hierarchy.hpp). One application is
// one cycle from z = 0. On a grid with matrix A, smoother S and interpolation P to the next grid, a cycle is
//
//     1. x = smoothed from zero by pre_smoothing steps of S
//     2. the next grid's right-hand side is P^T (b - A x)
//     3. the next grid's cycle, twice in a W-cycle; in an F-cycle an F-cycle and then a V-cycle
//     4. x = x + P times its result
//     5. x = smoothed by post_smoothing steps of S
//
// and on the last grid x = A^-1 b, or what some steps of l1 Jacobi from zero give. For a symmetric matrix V- and
// W-cycles are symmetric if S is and both numbers of steps are equal, and positive definite if the eigenvalues of the
// smoother's omega M^-1 A are below 2.
//
// With vectors in single precision all of this is done on matrices and vectors that are stored in single precision, and
// summed in double precision: the cycle is then linear and symmetric but for the rounding of stored values. What enters
// is divided by a power of two near its norm, and the result is multiplied by it, so that the few exponents of single
// precision do.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/timer.hpp"
#include "precond/multigrid/hierarchy.hpp"
#include "precond/registry_row.hpp"

namespace hyperplane {

enum class CycleKind { v, w, f };

/// How often a cycle works on a grid, of which `last` is the coarsest: w goes twice from each grid to the next one, f
/// goes once more from each, as v does; the last grid is worked on once each time.
inline double visits_of(CycleKind cycle, int grid, bool last) {
    const int ways = last ? std::max(grid - 1, 0) : grid;
    return cycle == CycleKind::v ? 1.0 : cycle == CycleKind::w ? std::exp2(ways) : 1.0 + ways;
}

struct MultigridOptions {
    CycleKind cycle = CycleKind::v;
    int pre_smoothing = 1, post_smoothing = 1;
    int coarsest_sweeps = 0;  ///< of l1 Jacobi on the last grid; 0: its matrix is inverted
    multigrid::CoarseningOptions coarsening;
    multigrid::SmootherOptions smoothing;
    std::vector<std::string> keys_of_cycles;  ///< given keys that mean nothing where the finest grid is the last one
};

class Multigrid : public Preconditioner {
public:
    Multigrid(const MultigridOptions& options, multigrid::SmootherChoices smoothers, bool symmetric);

    SetupReport setup(const SystemMatrix& matrix) override;
    void suggest_shift(double alpha) override { options_.smoothing.suggested_shift = alpha; }
    void follow_matrix() override { hierarchy_.follow_finest_matrix(); }
    void apply(const Vector& r, Vector& z) const override { apply_to(r, z, nullptr); }
    void apply_dot(const Vector& r, Vector& z, double* rz) const override { apply_to(r, z, rz); }
    int vectors_of_dot() const override { return options_.coarsening.single(0) ? 1 : 2; }
    PreconditionerTraits traits() const override { return traits_; }
    Index bytes_per_apply() const override;
    /// By the same cycle in slow loops over points; the smoothers' applications are checked by their own checks.
    ApplicationCheck check_application(const SystemMatrix& a, const Vector& r, const Vector& z,
                                       const MakeInDouble& in_double) const override;

    /// A row for each grid, with a name such as "grid 1, 17 x 9 x 5", the time of its smoothing, residuals and
    /// transfers, and the number of visits.
    std::vector<TimerRow> take_part_times() override;

    /// What a cycle does on the last grid, and the bytes that it moves.
    void solve_coarsest(const Vector& b, Vector& x) const { solve_coarsest_of(b, x); }
    void solve_coarsest(const SingleVector& b, SingleVector& x) const { solve_coarsest_of(b, x); }
    Index coarsest_bytes() const;
    const multigrid::Hierarchy& hierarchy() const { return hierarchy_; }
    multigrid::Hierarchy& hierarchy() { return hierarchy_; }
    const MultigridOptions& options() const { return options_; }

    /// The traits of cycles whose smoothers have these traits.
    static PreconditionerTraits traits(const MultigridOptions& options,
                                       const std::vector<PreconditionerTraits>& smoothers, bool symmetric);

private:
    /// The time spent on one grid since take_part_times(). Name and bytes are kept here because that may be called when
    /// the matrix has been released.
    struct GridTime {
        std::string name;
        Index bytes_of_visit = 0;
        double seconds = 0.0;
        Index visits = 0;
    };
    class GridClock;

    /// z = M^-1 r and, unless that is null, *rz = r^T z.
    void apply_to(const Vector& r, Vector& z, double* rz) const;
    /// A cycle from x, or from zero, and b^T x, unless that is null.
    void cycle(int grid, const Vector& b, Vector& x, CycleKind kind, bool from_zero, double* bx = nullptr) const;
    void cycle(int grid, const SingleVector& b, SingleVector& x, CycleKind kind, bool from_zero) const {
        cycle_of(grid, b, x, kind, from_zero);
    }
    template <class AnyVector>
    void solve_coarsest_of(const AnyVector& b, AnyVector& x) const;
    /// b of the next grid from b - A x.
    template <class AnyVector>
    void restrict_residual(int grid, const AnyVector& b, const AnyVector& x) const;
    template <class AnyVector>
    void cycle_of(int grid, const AnyVector& b, AnyVector& x, CycleKind kind, bool from_zero) const;

    /// The least bytes that a visit of a grid moves in a cycle.
    Index visit_bytes(int grid) const;
    /// Adds the times of the grids to part_times_.
    void close_times();

    MultigridOptions options_;
    multigrid::SmootherChoices smoothers_;
    PreconditionerTraits traits_;
    mutable multigrid::Hierarchy hierarchy_;  // the vectors of its grids are scratch
    mutable std::vector<GridTime> times_;     ///< of the grids of the last set-up
    TimerTree part_times_;                    ///< of the grids of earlier set-ups
};

/// Applies the checks of the registry to a smoother's row (check_storage, check_matrix), which the deck names by `key`.
using CheckSmoother =
    std::function<void(const PreconditionerRow&, const Parameters&, const PreconditionerSetting&, const char* key)>;

/// `others`: the rows of all other preconditioners.
PreconditionerRow multigrid_row(const std::vector<PreconditionerRow>& others, const CheckSmoother& check);
/// Why a preconditioner cannot be a smoother, "it takes general matrices alone"; empty if it can.
std::string why_no_smoother(const PreconditionerRow& row);
/// The refusal of a preconditioner that cannot, with that reason.
std::string refusal_as_smoother(const std::string& name, const std::string& why);
/// The keys of a row as keys of the section [smoother], with defaults for smoothing: pivots that cannot be used are
/// replaced where they are.
ParameterTable smoother_parameters(const PreconditionerRow& row);

}  // namespace hyperplane
