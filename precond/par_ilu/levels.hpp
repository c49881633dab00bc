// SPDX-License-Identifier: BSD-3-Clause
// All fixed-point sweeps of a level before those of the next level, on a GPU. The kernel is precond/par_ilu/levels.cuh.
#pragma once

#include "core/device/rtc.hpp"
#include "precond/factors/pattern.hpp"
#include "precond/par_ilu/arguments.hpp"

namespace hyperplane {

/// In which order sweeps visit points: one sweep after the other over all points, or all sweeps of a level before the
/// next level. Results have the same bits. `by_size` chooses what is expected to be faster.
enum class FactorSweepOrder { by_size, sweep_by_sweep, level_by_level };

class FactorSweepLevels {
public:
    using Arguments = FactorSweepArguments<rtc::most_entries>;

    /// Whether sweeps go level by level: only those of six to eight unknowns a point in the hyperplane layout, of
    /// matrices that store both triangles, and of stencils with at most 13 entries. (Compiled for five unknowns, the
    /// kernel ended with an illegal instruction on an H200; why was not found.)
    static bool serves(const IluPattern& shape, FactorSweepOrder order);
    /// `sweeps`: the definitions of kernels that sweep over all points. `room`: bytes of shared memory that a thread
    /// block can have.
    FactorSweepLevels(const Context& context, const IluPattern& shape, const rtc::Definitions& sweeps, Index room);
    static rtc::Program program(const IluPattern& shape, const rtc::Definitions& sweeps);

    /// Whether make() makes so many sweeps.
    bool serves(int sweeps) const;
    /// Makes the guess, `sweeps` sweeps and unit triangles in `after` of the arguments' entries, and reports on pivots.
    /// The arguments lack what `level` holds. `ring` is memory of a set of factors, which is overwritten.
    void make(Arguments arguments, double* ring, int sweeps) const;

private:
    /// Number of values of the ring, and of the coefficients of one.
    Index ring_values(int sweeps) const;
    Index ring_stride() const;

    IluPattern shape_;
    Index room_;
    rtc::Kernel<Arguments> kernel_;
};

}  // namespace hyperplane
