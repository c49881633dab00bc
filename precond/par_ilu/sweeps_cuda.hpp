// SPDX-License-Identifier: BSD-3-Clause
// Fixed-point sweeps over factors on a GPU. The kernels are in precond/par_ilu/sweep.cuh.
#pragma once

#include <optional>
#include <vector>

#include "core/device/rtc.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "precond/factors/ilu_factors.hpp"
#include "precond/factors/pivots.hpp"
#include "precond/factors/view.hpp"
#include "precond/par_ilu/arguments.hpp"
#include "precond/par_ilu/levels.hpp"

namespace hyperplane {

class FactorSweepsCuda {
public:
    FactorSweepsCuda(const Context& context, const IluPattern& shape, FactorSweepOrder order);

    /// Whether there are kernels: for at most 8 unknowns a point, and for stencils whose loops over pairs can be
    /// unrolled.
    static bool serves(const IluPattern& shape);

    /// One of the passes over all points, of which `left` are to follow: the initial guess, and then all sweeps.
    struct Pass {
        int left, sweeps;

        bool is_guess() const { return left == sweeps; }
        bool is_first() const { return left == sweeps - 1; }
        bool is_last() const { return left == 0; }
    };
    using Factors = FactorTarget;  ///< for D-ILU `triangles` is A
    /// What the last sweep reports on the pivots of each slot: the smallest ratio of a pivot to A's diagonal
    /// coefficient; -1 if a pivot failed, else 0; the component of the pivot that failed and, in the second half of
    /// `failed`, its value.
    struct PivotRecords {
        double *ratio, *failure, *failed;
    };
    /// The guess writes X = A, and D^-1, to `to`, but entries that never change to `unchanged`. A sweep computes all
    /// entries that change from those of `from`, and reads the others there. `scratch` has scratch_size() values, which
    /// the guess writes and sweeps read. Where it has A's entries, they are the guess of all entries that change but
    /// the diagonal, unless sweeps are in place. The last sweep reports on pivots.
    void run(Pass pass, const StructMatrix& a, double* scratch, const Factors& unchanged, const Factors& from,
             const Factors& to, double alpha, const PivotRules& rules, const PivotRecords& records) const;
    /// Number of scratch values. Staged sweeps need A's entries that they change, in the order of factors, and a
    /// counter of runs; other sweeps need none.
    static Index scratch_size(const Context& context, const IluPattern& shape);
    /// Replaces E by W = E D^-1 and F by G = D^-1 F. For more than two unknowns it adds coefficients of E and F that
    /// are not finite to what the last sweep has reported.
    void make_unit(const Factors& factors, const PivotRecords& records) const;

    /// Whether make_by_levels makes so many sweeps.
    bool goes_by_levels(int sweeps) const { return levels_ && levels_->serves(sweeps); }
    /// Makes the guess, `sweeps` sweeps and unit triangles in `result`, and reports on pivots, level by level.
    /// goes_by_levels(sweeps) must hold. `spare` is memory of kept() entries, which is overwritten.
    void make_by_levels(const StructMatrix& a, const Factors& result, const Factors& spare, int sweeps, double alpha,
                        const PivotRules& rules, const PivotRecords& records) const;

    /// What NVRTC compiles.
    static rtc::Programs programs(const IluPattern& shape);

private:
    struct Cut {
        unsigned blocks = 0, threads = 0;  ///< `blocks` = 0 stands for one block for each chunk of points
        Index shared = 0;                  ///< bytes
        int points = 0;                    ///< of a chunk
    };
    using Arguments = FactorSweepArguments<rtc::most_entries>;
    using Kernel = rtc::Kernel<Arguments>;
    /// Whether sweeps change an entry.
    bool changes(int entry) const;
    /// The arguments that do not depend on A.
    Arguments arguments_of(const Factors& unchanged, const Factors& from, const Factors& to) const;
    static void set(double alpha, const PivotRules& rules, Index a_stride, Arguments& arguments);
    static void report_to(const PivotRecords& records, Arguments& arguments);
    struct Launch {
        Kernel kernel;
        Cut cut;
    };
    void launch(const Launch& pass, const Arguments& arguments) const;

    IluPattern shape_;
    std::vector<int> changed_;
    bool by_rows_ = false;  ///< whether sweeps are staged
    Launch guess_, sweep_, last_, unit_;
    std::optional<FactorSweepLevels> levels_;  ///< of sweeps level by level, if there are any
};

}  // namespace hyperplane
