// SPDX-License-Identifier: BSD-3-Clause
// Fixed-point sweeps over factors on a GPU; precond/par_ilu/sweep.cuh is the kernels' text.
#pragma once

#include <string>
#include <vector>

#include "core/device/rtc.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "precond/factors/ilu_factors.hpp"
#include "precond/factors/pivots.hpp"
#include "precond/factors/view.hpp"
#include "precond/par_ilu/arguments.hpp"

namespace hyperplane {

class FactorSweepsCuda {
public:
    explicit FactorSweepsCuda(const IluPattern& shape);

    /// Blocks of up to 8 unknowns, stencils whose pairs can be unrolled.
    static bool serves(const IluPattern& shape);

    enum class Pass { guess, sweep, last };
    using Factors = FactorTarget;  ///< `triangles` is A's for D-ILU
    /// What the last sweep reports on each slot: the smallest ratio of a pivot to A's diagonal entry; -1 where one
    /// failed, else 0; and there its component, in the second half its value.
    struct PivotRecords {
        double *ratio, *failure, *failed;
    };
    /// X = A and D^-1, in `to`; a sweep, in which entries that never change are read from `guessed` and not written;
    /// the last one, which writes all.
    /// `scratch` has scratch_size(shape) values, which the guess writes and sweeps read.
    void run(Pass pass, const StructMatrix& a, double* scratch, const Factors& guessed, const Factors& from,
             const Factors& to, double alpha, const PivotRules& rules, const PivotRecords& records) const;
    /// Of staged sweeps: A's entries that they change, as factors lie, and a counter of runs; else 0.
    static Index scratch_size(const IluPattern& shape);
    /// E becomes W = E D^-1 and F becomes G = D^-1 F, in place.
    void make_unit(const Factors& factors) const;

    /// Compiles the kernels for an architecture, without a device.
    static std::vector<rtc::KernelResources> compile(const IluPattern& shape, const std::string& architecture);

private:
    struct Cut {
        unsigned blocks, threads;  ///< 0 blocks: one for each chunk of points
        Index shared;              ///< bytes
    };
    using Arguments = FixedPointArguments<rtc::most_entries>;
    using Kernel = rtc::Kernel<Arguments>;
    /// Whether sweeps change an entry.
    bool changes(int entry) const;
    /// All that does not depend on A.
    Arguments arguments_of(const Factors& guessed, const Factors& from, const Factors& to) const;
    void launch(const Kernel& kernel, const Cut& cut, const Arguments& arguments) const;

    IluPattern shape_;
    std::vector<int> changed_;
    Index row_bytes_ = 0;  ///< of shared memory where sweeps are staged, else 0
    Kernel guess_, sweep_, last_, unit_;
};

}  // namespace hyperplane
