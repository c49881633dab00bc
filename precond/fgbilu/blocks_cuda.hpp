// SPDX-License-Identifier: BSD-3-Clause
// FGBILU's style blocks on a GPU: kernels for one hyperplane, compiled for one stencil and dof
// (precond/fgbilu/factor.cuh, precond/fgbilu/factor_points.cuh, precond/fgbilu/solve.cuh). A program built without CUDA
// does not have them.
#pragma once

#include <memory>

#include "core/device/rtc.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "precond/factors/pattern.hpp"
#include "precond/factors/pivot_record.hpp"
#include "precond/fgbilu/arguments.hpp"
#include "precond/fgbilu/levels.hpp"
#include "precond/triangular/edges_between_ranks.hpp"
#include "precond/tuning.hpp"

namespace hyperplane {

class RankPlanes;
class ReducedFactors;

/// Whether, after the factorisation, W = E D^-1 and G = D^-1 F replace E and F: if these are stored in double precision
/// and are not the matrix's. With one unknown that would save too little in a solve, a multiplication for each level.
inline bool becomes_unit(const IluPattern& p) {
    return !p.shares && !is_reduced(p.storage) && p.dof > 1;
}
/// Whether the factorisation writes factors, in double precision, in the order [entry][slot][row][col]. The order is
/// [entry][row][col][slot] if one triangle is stored, whose blocks are also read as transposes, and for up to four
/// unknowns, where it is as fast.
inline bool made_together(const IluPattern& p, const FgBiluTuning& tuning) {
    return tuning.together && p.dof > 4 && !p.symmetric && !p.shares;
}
/// Whether a warp factors a point, on tensor cores (precond/fgbilu/factor_points.cuh); else a thread has an element.
inline bool factors_points(const IluPattern& p, const FgBiluTuning& tuning) {
    return made_together(p, tuning) && p.dof <= 8;
}
/// Whether solves read factors in that order. In reduced precision no factor is the matrix's.
inline bool lies_together(const IluPattern& p, const FgBiluTuning& tuning) {
    return tuning.together && p.dof > 4 && !p.symmetric && (!p.shares || is_reduced(p.storage));
}

class FgBiluCuda {
public:
    FgBiluCuda(const Context& context, const IluPattern& system, const FgBiluTuning& tuning);

    bool made_together() const { return hyperplane::made_together(system_, tuning_); }
    bool makes_unit() const { return becomes_unit(system_); }
    /// Whether factor() reads A; otherwise it reads X = A + alpha diag(A) in the memory of the factors.
    bool reads_matrix() const { return factors_points(system_, tuning_); }
    /// Applies Algorithm 9; if becomes_unit, W and G replace E and F.
    void factor(const FgBiluFactors& factors, double alpha, PivotRecord& record, const PivotRules& rules) const;
    /// Applies Algorithm 10 or, with W and G, v = r - W v and z = D^-1 v - G z.
    void solve(const FgBiluFactors& factors, const double* r, double* z) const;
    /// The same with factors in reduced precision, whose order is that of lies_together.
    void solve(const ReducedFactors& factors, const double* r, double* z) const;

    /// Device memory held on one of several ranks.
    static Index bytes(const IluPattern& system);
    /// What NVRTC compiles.
    static rtc::Programs programs(const IluPattern& system);

private:
    using Arguments = FgBiluArguments<const void, rtc::most_entries>;
    using Kernel = rtc::Kernel<Arguments>;
    struct LevelKernel;
    /// The arguments that all kernels have in common.
    Arguments arguments() const;
    Arguments arguments(const FgBiluFactors& factors) const;
    /// Launches a kernel for one level after the other.
    void launch_levels(const LevelKernel& of_level, bool upwards, bool overlapped, Arguments& arguments) const;
    /// Solves with one triangle.
    void solve(bool lower, Arguments& arguments, const double* r, double* z) const;
    /// The factors as ranks copy them from each other.
    RankPlanes planes_of(const FgBiluFactors& factors) const;

    Context context_;
    IluPattern system_;
    FgBiluTuning tuning_;
    Kernel factor_, lower_, upper_, unit_triangles_;    ///< the last one only if becomes_unit
    std::unique_ptr<EdgesBetweenRanks> between_ranks_;  ///< where ranks have planes of each other
    mutable Buffer<unsigned long long> epochs_;         ///< of the lower solve and of the upper one, on ranks
};

}  // namespace hyperplane
