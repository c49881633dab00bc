// SPDX-License-Identifier: BSD-3-Clause
// Factorisation by fixed-point sweeps over all stored entries at once.
//
// Chow, Patel, "Fine-grained parallel incomplete LU factorization", SIAM J. Sci. Comput. 37, 2015: equations (2.4) and
// (2.5), (L U)_ij = a_ij on the pattern, as a fixed point x = G(x). For blocks, M = (D + E) D^-1 (D + F), with the
// unknowns E = L D, D and F:
//
//     X_e(p) <- A_e(p) - sum over l + u = e of E_l(p) D^-1(p+l) F_u(p+l)        at all points and entries e
//
// The paper's unknown is l_ij = e_ij / d_jj. With e_ij as unknown, a pivot is used one sweep after it was computed
// instead of two. The sweeps begin with X = A. This is the paper's initial guess, the triangles of A scaled to a unit
// diagonal. The fixed point is ILU(k). An entry is final one sweep after all entries on which it depends, so finitely
// many sweeps give the exact factors. If one triangle is stored, every sweep preserves F = E^T (incomplete Cholesky);
// for D-ILU only D changes.
//
// sync: right-hand sides have values of the sweep before only. Results are deterministic.
// async: new entries replace the old ones as soon as they are computed, and whatever is computed later reads them
// (Algorithm 2). Results are not deterministic, but once it is set up, M is a fixed operator. On a CPU the entries of a
// run of points are replaced together. On a single thread runs, and the points of a run, are computed in an order of
// their dependencies, so that each reads the new entries of those before it. For a symmetric matrix a block D^-1 that
// was read while it changed need not be symmetric, nor need a block computed from it; after the last sweep the blocks
// D^-1 are made symmetric.
//
// In all sweeps but the last, whose results are mere guesses, a pivot that cannot be used is boosted
// (precond/factors/pivots.hpp). In the last sweep such pivots are reported.
//
// An entry to which no pair (l, u) leads is A's in every sweep. On a GPU, sweeps for up to 8 unknowns a point have
// kernels of their own (precond/par_ilu/sweeps_cuda.hpp), some of which make all sweeps of a level at once
// (precond/par_ilu/levels.hpp), and others are loops over points (precond/par_ilu/sweep_point.hpp). On a CPU a sweep
// computes a run of points at once (precond/par_ilu/sweep_cpu.cpp).
#pragma once

#include <memory>
#include <vector>

#include "core/vector/point_values.hpp"
#include "precond/factors/pivots.hpp"
#include "precond/factors/view.hpp"
#include "precond/kernel_set.hpp"
#include "precond/par_ilu/sweeps_cuda.hpp"

namespace hyperplane {

namespace par_ilu {
template <int m>
struct SweepRow;
}

enum class FactorSweepMode { sync, async };

/// Sweeps for the factors of one pattern, with the memory that they need beside the factors.
class FactorSweeps {
public:
    /// `order`: of synchronous sweeps on a GPU.
    FactorSweeps(const Context& context, const IluPattern& pattern, FactorSweepOrder order = FactorSweepOrder::by_size);

    /// Computes `sweeps` sweeps on A + alpha diag(A), of which the last one writes to `result`. `spare` is used if
    /// needs_spare(). With `unit`, make_unit follows. Pivots are reported to `inverter`.
    void run(const StructMatrix& a, const FactorTarget& result, const FactorTarget& spare, int sweeps,
             FactorSweepMode mode, double alpha, const PivotRules& rules, PivotInverter& inverter, bool unit = false);
    /// Whether sweeps need a second set of factors. A synchronous sweep reads one set and writes the other. An
    /// asynchronous sweep without kernels of its own computes a point's entries there before they replace the old ones.
    static bool needs_spare(const IluPattern& shape, Backend backend, FactorSweepMode mode);
    bool needs_spare(FactorSweepMode mode) const { return needs_spare(shape_, context_.backend(), mode); }
    /// One pass over all points, which reads `from` and writes `to`; without updates it computes the initial guess, and
    /// the last one records pivots.
    par_ilu::SweepRow<0> row(const StructMatrix& a, const FactorTarget& from, const FactorTarget& to, double alpha,
                             const PivotRules& rules, bool updates, bool last);
    /// Hands the pivots that a last pass has recorded to an inverter.
    void report(const StructMatrix& a, PivotInverter& inverter);
    /// Replaces E by W = E D^-1 and F by G = D^-1 F.
    void make_unit(const FactorTarget& factors);

    bool serves(const IluPattern& pattern) const { return pattern == shape_; }
    /// What NVRTC compiles for sweeps of factors of this pattern on a GPU; empty where they are loops over points.
    static std::vector<KernelSet> kernels(const IluPattern& factored);
    /// Fewest bytes that a sweep over all points moves: it reads the factors and, for the entries that it changes,
    /// reads A and writes the new values.
    Index bytes_of_sweep() const;
    /// Bytes held, and bytes that the first run allocates in addition, until release_scratch is called.
    static Index bytes(const IluPattern& shape);
    static Index scratch_bytes(const Context& context, const IluPattern& shape);
    void release_scratch() { scratch_ = {}; }

private:
    void run_loops(const StructMatrix& a, const FactorTarget& result, const FactorTarget& spare, int sweeps,
                   FactorSweepMode mode, double alpha, const PivotRules& rules);
    void run_kernels(const StructMatrix& a, const FactorTarget& result, const FactorTarget& spare, int sweeps,
                     FactorSweepMode mode, double alpha, const PivotRules& rules);
    /// Exchanges, after a sweep, the factors near the cuts that other ranks read; `changed_alone`: on a GPU, those that
    /// sweeps change.
    void share_halos(const FactorTarget& factors, bool changed_alone) const;
    FactorSweepsCuda::PivotRecords records();
    /// A's blocks, by the slots of the pattern's layout.
    ConstBlockView blocks_of(const StructMatrix& a) const;
    void make_pivots_symmetric(const FactorTarget& factors) const;

    Context context_;
    IluPattern shape_;
    std::shared_ptr<FactorSweepsCuda> cuda_;  ///< kernels, if there are any for the pattern
    Buffer<double> scratch_;                  ///< of the kernels
    Buffer<Int3> offsets_;
    Buffer<int> tables_;             ///< update_tables of precond/factors/eliminations.hpp
    PointValues ratios_, failures_;  ///< in the last sweep: smallest |pivot| / |diagonal of A|; -1 if a pivot failed
    Vector failed_;                  ///< component and value of a pivot that failed
};

}  // namespace hyperplane
