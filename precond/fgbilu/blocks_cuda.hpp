// SPDX-License-Identifier: BSD-3-Clause
// FGBILU's style blocks on a GPU: kernels for one hyperplane, compiled for one stencil and dof
// (precond/fgbilu/factor.cuh, precond/fgbilu/solve.cuh). A program built without CUDA does not have them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/device/rtc.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "precond/factors/pivots.hpp"
#include "precond/factors/storage.hpp"
#include "precond/fgbilu/arguments.hpp"

namespace hyperplane {

struct FgBiluFactors;
class FgBiluScratch;
class ReducedFactors;

/// How work is distributed; every choice gives the same result. 0 leaves a choice to the program.
struct FgBiluTuning {
    int parts = 0;           ///< threads that share a column in the solves; dof: an element a thread (Algorithm 10)
    int points = 0;          ///< of a thread block in the solves
    bool together = true;    ///< the coefficients of a point's block are contiguous
    bool overlapped = true;  ///< a level's kernel begins to load its coefficients before the one before it ends
};

/// The system for which kernels are compiled.
struct FgBiluSystem {
    Layout layout;
    Stencil stencil;
    int dof = 1;
    bool symmetric = false;                                   ///< one triangle is stored
    bool shares = false;                                      ///< E and F are the matrix's
    FactorStorage storage = FactorStorage::double_precision;  ///< that solves read

    /// Whether, after the factorisation, W = E D^-1 and G = D^-1 F replace E and F: if these are stored in double
    /// precision and are not the matrix's. With one unknown that would save too little in a solve, a multiplication for
    /// each level.
    bool becomes_unit() const { return !shares && !is_reduced(storage) && dof > 1; }
    /// Whether solves read factors in the order [entry][slot][row][col]. The order is [entry][row][col][slot] if one
    /// triangle is stored, whose blocks are also read as transposes, and for up to four unknowns, where it is as fast.
    /// In reduced precision no factor is the matrix's.
    bool together(const FgBiluTuning& tuning) const {
        return can_lie_together(tuning) && (!shares || is_reduced(storage));
    }
    /// Whether the factorisation writes factors, in double precision, in that order.
    bool made_together(const FgBiluTuning& tuning) const { return can_lie_together(tuning) && !shares; }
    friend bool operator==(const FgBiluSystem& a, const FgBiluSystem& b) {
        return a.layout == b.layout && a.stencil.offsets() == b.stencil.offsets() && a.dof == b.dof &&
               a.symmetric == b.symmetric && a.shares == b.shares && a.storage == b.storage;
    }

private:
    bool can_lie_together(const FgBiluTuning& tuning) const { return tuning.together && dof > 4 && !symmetric; }
};

class FgBiluCuda {
public:
    FgBiluCuda(const FgBiluSystem& system, const FgBiluTuning& tuning);

    bool serves(const FgBiluSystem& system) const { return system_ == system; }
    bool made_together() const { return system_.made_together(tuning_); }
    bool makes_unit() const { return system_.becomes_unit(); }
    /// Applies Algorithm 9 to X; then, if becomes_unit, W and G replace E and F.
    void factor(const FgBiluFactors& factors, FgBiluScratch& scratch, const PivotRules& rules) const;
    /// Applies Algorithm 10 or, with W and G, v = r - W v and z = D^-1 v - G z.
    void solve(const FgBiluFactors& factors, const double* r, double* z) const;
    /// The same with factors in reduced precision, whose order is that of FgBiluSystem::together.
    void solve(const ReducedFactors& factors, const double* r, double* z) const;

    /// Compiles every kernel for an architecture, without a device; in reduced precision those that double
    /// precision does not have.
    static std::vector<rtc::KernelResources> compile(const FgBiluSystem& system, const FgBiluTuning& tuning,
                                                     const std::string& architecture);

private:
    FgBiluSystem system_;
    FgBiluTuning tuning_;
    using Kernel = rtc::Kernel<FgBiluArguments<const void, rtc::most_entries>>;
    Kernel factor_, lower_, upper_, unit_triangles_;  ///< the last one only if becomes_unit
};

}  // namespace hyperplane
