// SPDX-License-Identifier: BSD-3-Clause
// StructILU: incomplete LU of a structured block matrix, dependencies kept, parallel over hyperplanes.
//
// Luo et al., "StructILU", ICS 2025: Algorithms 1 and 2, section 4.1. Written as Saad, Iterative
// Methods, section 10.3 does for ILU(0), for blocks and any fill level:
//
//     M = (D + E) D^-1 (D + F)
//
// E and F are the strict lower and upper parts of the factored matrix, D its block pivots. For each
// point p in natural order, for each lower offset l and upper offset u with e = l + u in the stencil:
//
//     X_e(p) -= E_l(p) D^-1(p+l) F_u(p+l)          X = A + shift diag(A) at first
//     D^-1(p) = inverse of X_0(p)
//
// Apply, z = M^-1 r:
//
//     lower   y(p) = D^-1(p) (r(p) - sum_l E_l(p) y(p+l))            points ascending
//     upper   z(p) = y(p) - D^-1(p) sum_u F_u(p) z(p+u)              points descending
//
// Fill level k factors on the stencil's level-k pattern, zero-padded (star7's level 1 is diamond13).
// Where elimination changes the diagonal alone (star7, k = 0) E and F are the matrix's own entries
// and only D^-1 is stored (D-ILU). A matrix with `lower` storage gives incomplete Cholesky: F = E^T
// is read from E. Offsets that leave the grid or wrap around it are skipped.
//
// In storage of fewer bits (precond/factors/reduced.hpp) the factors are computed as they always are, then kept as
// M = (I + W) D (I + G), W = E D^-1 and G = D^-1 F, rounded; the sweeps are then those of unit_triangular().
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/interfaces/linear_operator.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "precond/factors/pivots.hpp"
#include "precond/factors/reduced.hpp"
#include "precond/par_ilu/sweeps.hpp"
#include "precond/registry.hpp"
#include "precond/struct_ilu/cuda.hpp"
#include "precond/walks/wavefront.hpp"

namespace hyperplane {

struct StructIluOptions {
    int fill_level = 0;
    double shift = 0.0;          ///< alpha >= 0: A + alpha diag(A) is factored, A itself never changed
    bool shift_is_auto = false;  ///< suggest_shift sets it
    PivotRules pivots;
    FactorStorage storage = FactorStorage::double_precision;
    StructIluTuning tuning;  ///< of the kernels on a GPU
    int sweeps = 0;          ///< of precond/par_ilu/sweeps.hpp, in place of Algorithm 1; 0: exact
    FactorSweepMode sweep_mode = FactorSweepMode::sync;
    std::string name = "struct_ilu";  ///< what messages call it
};

class StructIlu : public Preconditioner {
public:
    StructIlu(const Context& context, const StructIluOptions& options);

    SetupReport setup(const StructMatrix& a) override;
    void suggest_shift(double alpha) override {
        if (options_.shift_is_auto) options_.shift = alpha;
    }
    void apply(const Vector& r, Vector& z) const override;
    /// For a symmetric matrix r^T z falls out of the lower sweep.
    void apply_dot(const Vector& r, Vector& z, double* rz) const override;
    int vectors_of_dot() const override;
    SweepCounts sweeps() const override;
    void set_setup_sweeps(int count) override {
        if (options_.sweeps > 0) options_.sweeps = count;
    }
    PreconditionerTraits traits() const override { return {.fixed = true, .symmetric = a_ && a_->symmetric()}; }
    Index bytes_per_apply() const override;

    /// One sweep alone, for benchmarks and tests; see the head of this file.
    void lower_solve(const Vector& r, Vector& y) const;
    void upper_solve(Vector& z) const;  ///< in place: y in, z out
    const Stencil& stencil() const { return stencil_; }
    /// On a GPU the factors of other matrices than D-ILU's, and all in storage of fewer bits, are kept as
    /// M = (I + W) D (I + G), W = E D^-1 and G = D^-1 F, so that both sweeps are unit triangular: lower_solve gives D
    /// y, upper_solve takes it.
    bool unit_triangular() const { return narrow_ || (cuda_ && factor_); }
    static bool unit_triangular(const StructIluOptions& options, const PreconditionerSetting& setting);
    /// Copies on the host: E, D^-1 and F, or W, D^-1 and G, as entries of stencil(); D^-1 alone for D-ILU.
    StructMatrix factors_on_host() const;
    /// The kernels in use on a GPU, their tiles and shared memory; empty on a CPU.
    std::string describe() const;
    /// E and F, entries of stencil(); the matrix itself for D-ILU. This and the next three are of storage = double.
    const StructMatrix& triangles() const { return factor_ ? *factor_ : *a_; }
    /// Coefficient (row, col) of D^-1 at a point.
    double inverse_pivot(Int3 point, int row, int col) const;

    /// D^-1 is entry pivot_entry() of this.
    const StructMatrix& pivots() const { return factor_ ? *factor_ : *inverse_; }
    int pivot_entry() const { return factor_ ? stencil_.diagonal() : 0; }

    /// What `storage` keeps of the factors; null where it is double.
    const NarrowFactors* narrow_factors() const { return narrow_ ? &*narrow_ : nullptr; }
    /// The factors where they lie; `offsets` are those of stencil(), in the context's memory.
    FactorView view(const Int3* offsets) const;

    static PreconditionerPlan plan(const StructIluOptions& options, const PreconditionerSetting& setting);

private:
    void prepare(const StructMatrix& a);
    /// X = A + alpha diag(A) on the filled pattern.
    void copy_matrix(double alpha);
    /// Algorithm 1 on X.
    void factor(PivotInverter& inverter);

    StructIluSystem system() const;
    StructIluCuda::Factors cuda_factors() const;
    /// Rounds the factors and releases them.
    void narrow(SetupReport& report);
    StructMatrix& held() { return factor_ ? *factor_ : *inverse_; }
    /// The blocks of a matrix that holds factors, as the kernels of its backend keep them.
    ConstBlockView blocks(const StructMatrix& x) const;
    /// `options_.sweeps` sweeps instead of Algorithm 1.
    void build_by_sweeps(double alpha, PivotInverter& inverter);
    /// `options_.tuning.by_level`
    void build_by_level(double alpha, PivotInverter& inverter);
    void solve_by_level(Direction direction, const Vector& in, Vector& out) const;
    /// Where sweeps write to a matrix that holds factors.
    FactorSweeps::Target target(StructMatrix& x) const;
    /// The factors of A + alpha diag(A).
    void build(double alpha, PivotInverter& inverter);
    void lower_solve_cpu(const Vector& r, Vector& y) const;
    void upper_solve_cpu(Vector& z) const;
    /// The same of narrow_; `of_line`: v^T D^-1 v of each line along x.
    void narrow_lower_cpu(const Vector& r, Vector& v) const;
    void narrow_upper_cpu(Vector& z, std::vector<double>* of_line = nullptr) const;

    Context context_;
    StructIluOptions options_;
    const StructMatrix* a_ = nullptr;
    Stencil stencil_{"point", {{0, 0, 0}}};
    std::optional<StructMatrix> factor_;   ///< E and F on the filled pattern; none for D-ILU
    std::optional<StructMatrix> inverse_;  ///< D^-1
    std::optional<StructMatrix> spare_;    ///< sweeps read one and write the other
    std::optional<NarrowFactors> narrow_;  ///< in place of factor_ and inverse_ once set up, where storage asks for it
    std::shared_ptr<FactorSweeps> sweeps_;
    Buffer<Int3> offsets_;                 ///< of the factors' stencil, for solves by level
    std::shared_ptr<StructIluCuda> cuda_;  ///< kernels, where the matrix is on a GPU
};

/// What a deck can say about the factorisation.
const ParameterTable& struct_ilu_parameters();
StructIluOptions struct_ilu_options(const Parameters& parameters);

/// Rows of the registration table.
PreconditionerRow struct_ilu_row();

}  // namespace hyperplane
