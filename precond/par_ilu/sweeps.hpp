// SPDX-License-Identifier: BSD-3-Clause
// Factorisation by fixed-point sweeps over all stored entries at once.
//
// Chow, Patel, "Fine-grained parallel incomplete LU factorization", SIAM J. Sci. Comput. 37, 2015: equations (2.4) and
// (2.5), (L U)_ij = a_ij on the pattern, as a fixed point x = G(x). For blocks, M = (D + E) D^-1 (D + F), with the
// unknowns E = L D, D and F:
//
//     X_e(p) <- A_e(p) - sum over l + u = e of E_l(p) D^-1(p+l) F_u(p+l)        at all points and entries e
//
// The paper's unknown is l_ij = e_ij / d_jj; with e_ij a pivot is used one sweep after it was made instead of two. The
// sweeps begin with X = A, which is the paper's guess, the triangles of A scaled to a unit diagonal. A fixed point is
// ILU(k); an entry is final one sweep after all those it depends on are, so finitely many sweeps are exact. With one
// triangle stored, F = E^T is kept by every sweep (incomplete Cholesky); for D-ILU only D changes.
//
// sync: every right-hand side is of the sweep before. Deterministic.
// async: entries replace the old ones as soon as they are made, and others read whatever is there (Algorithm 2). Not
// deterministic; M, once made, is an operator like any other. On a CPU those of a run of points replace theirs
// together; on one thread runs, and the points of a run, follow each other in an order of their dependencies, so that
// each finds the new entries of those before it. Of a symmetric matrix a block D^-1 that was read while it changed need
// not be symmetric, nor what is made of it; in the end they are made so.
//
// A pivot that cannot be used is boosted (precond/factors/pivots.hpp) in all sweeps but the last, since those are
// guesses; the last one's are reported.
//
// Where no pair (l, u) leads to an entry it is A's in every sweep. Sweeps over up to 8 unknowns a point on a GPU have
// kernels of their own (precond/par_ilu/sweeps_cuda.hpp), others there are loops over points
// (precond/par_ilu/sweep_point.hpp); on a CPU a run of points is swept at once (precond/par_ilu/sweep_cpu.cpp).
#pragma once

#include <memory>

#include "core/vector/point_values.hpp"
#include "precond/factors/pivots.hpp"
#include "precond/factors/view.hpp"
#include "precond/par_ilu/sweeps_cuda.hpp"

namespace hyperplane {

enum class FactorSweepMode { sync, async };

class FactorSweeps {
public:
    FactorSweeps(const Context& context, const IluPattern& pattern);

    using Target = FactorTarget;
    /// `sweeps` sweeps on A + alpha diag(A), whose last one writes to `result`; `spare` is used where needs_spare().
    /// Pivots are reported to `inverter`.
    void run(const StructMatrix& a, const Target& result, const Target& spare, int sweeps, FactorSweepMode mode,
             double alpha, const PivotRules& rules, PivotInverter& inverter);
    /// sync: a sweep reads one and writes the other. async: points outside of kernels are made there before they
    /// replace old ones.
    static bool needs_spare(const IluPattern& shape, Backend backend, FactorSweepMode mode);
    bool needs_spare(FactorSweepMode mode) const { return needs_spare(shape_, context_.backend(), mode); }
    /// Exact elimination, a level of `levels` after the other, each entry of a point's row final before it is used: the
    /// fixed point in one pass. Pivots are reported, never boosted.
    void eliminate_by_level(const StructMatrix& a, const Layout& levels, const Target& factors, double alpha,
                            const PivotRules& rules, PivotInverter& inverter);
    /// E becomes W = E D^-1 and F becomes G = D^-1 F, in place.
    void make_unit(const Target& factors);

    bool serves(const IluPattern& pattern) const { return pattern == shape_; }
    /// Fewest bytes of a sweep: the factors read, and of entries that it changes A read and the new ones written.
    Index bytes_of_sweep() const;
    /// What it holds, and what the first run adds to that until it is released.
    static Index bytes(const IluPattern& shape);
    static Index scratch_bytes(const IluPattern& shape, Backend backend);
    void release_scratch() { scratch_ = {}; }

private:
    struct Pass {
        bool updates, last;
        const Layout* levels;          ///< in whose order the points come; null: all at once
        const Target* then = nullptr;  ///< where a point goes that has been made
    };
    void pass(const StructMatrix& a, const Target& from, const Target& to, double alpha, const PivotRules& rules,
              const Pass& pass);
    void run_loops(const StructMatrix& a, const Target& result, const Target& spare, int sweeps, FactorSweepMode mode,
                   double alpha, const PivotRules& rules);
    void run_kernels(const StructMatrix& a, const Target& result, const Target& spare, int sweeps, FactorSweepMode mode,
                     double alpha, const PivotRules& rules);
    void make_pivots_symmetric(const Target& factors) const;
    void report(const StructMatrix& a, PivotInverter& inverter) const;

    Context context_;
    IluPattern shape_;
    std::shared_ptr<FactorSweepsCuda> cuda_;  ///< kernels, where there are some
    Buffer<double> scratch_;                  ///< theirs
    Buffer<Int3> offsets_;
    Buffer<int>
        tables_;  ///< of each entry A's entry or -1; of each lower entry where its updates begin; the updates (u, e)
    PointValues ratios_, failures_;  ///< of the last sweep: smallest |pivot| / |diagonal of A|; -1 where one failed
    Vector failed_;                  ///< and there its component and its value
};

}  // namespace hyperplane
