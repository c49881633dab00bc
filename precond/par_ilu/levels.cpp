// SPDX-License-Identifier: BSD-3-Clause
#include "precond/par_ilu/levels.hpp"

#include <algorithm>
#include <set>

#include "core/grid/slots.hpp"
#include "precond/kernel_set.hpp"
#include "precond/walks/level_columns.hpp"

namespace hyperplane {
namespace {

constexpr int level_points = 4;     // of a thread block, each with a warp
constexpr int least_points = 1500;  // of a level, in the mean: with fewer, sweeps over all points are faster

/// Number of levels from the earliest one that a point reads to its own, both included.
int levels_read(const IluPattern& shape) {
    int back = 0;
    for (const Int3 o : shape.stencil.offsets()) back = std::max(back, shape.layout.levels().level(o));
    return 1 + back;
}

rtc::Source level_source() {
    return precond_source("precond/par_ilu/levels.cuh");
}
rtc::Definitions level_definitions(const IluPattern& shape, rtc::Definitions all) {
    all.insert({{"RING_LEVELS", std::to_string(levels_read(shape))},
                {"OVERLAPPED", "1"},
                {"LEVEL_POINTS", std::to_string(level_points)}});
    return all;
}

/// Bytes of a thread block: A's blocks, and X_0 of the guess and of all sweeps.
Index shared_bytes_of_level(const IluPattern& shape, int sweeps) {
    const Index block = (shape.dof * shape.dof + 1) / 2 * 2 + 2;  // staged_size of precond/par_ilu/tensor.cuh
    int kept = 0;
    const Eliminations pairs = shape.eliminations();
    const std::vector<int> changed = pairs.changed_entries();
    for (const int u : pairs.u) kept += !std::binary_search(changed.begin(), changed.end(), u);
    return (shape.stencil.size() + sweeps + 1 + kept) * level_points * block * Index(sizeof(double));
}

}  // namespace

bool FactorSweepLevels::serves(const IluPattern& shape, FactorSweepOrder order) {
    const int lower = shape.stencil.lower_size();
    if (order == FactorSweepOrder::sweep_by_sweep || shape.layout.kind() != LayoutKind::hyperplane || shape.symmetric ||
        shape.shares || shape.of_rank || shape.dof < 6 || shape.dof > 8 || lower < 1 || lower > 6)
        return false;
    return order == FactorSweepOrder::level_by_level ||
           shape.layout.slots() >= Index(least_points) * shape.layout.level_count();
}

FactorSweepLevels::FactorSweepLevels(const Context& context, const IluPattern& shape, const rtc::Definitions& sweeps,
                                     Index room)
    : shape_(shape),
      room_(room),
      kernel_(context, level_source(), level_definitions(shape, sweeps), "sweeps_of_level") {}

rtc::Program FactorSweepLevels::program(const IluPattern& shape, const rtc::Definitions& sweeps) {
    return {level_source(), level_definitions(shape, sweeps)};
}

Index FactorSweepLevels::ring_values(int sweeps) const {
    const Eliminations pairs = shape_.eliminations();
    const std::vector<int> changed = pairs.changed_entries();
    Index values = sweeps;  // D^-1
    for (const int u : std::set<int>(pairs.u.begin(), pairs.u.end()))
        values += std::binary_search(changed.begin(), changed.end(), u) ? sweeps : 1;
    return values;
}
Index FactorSweepLevels::ring_stride() const {
    const Grid& g = shape_.layout.grid();
    return Index(levels_read(shape_)) * g.ny * g.nz * shape_.dof * shape_.dof;
}

bool FactorSweepLevels::serves(int sweeps) const {
    const Index of_factors = shape_.kept() * shape_.layout.slots() * shape_.dof * shape_.dof;
    return shared_bytes_of_level(shape_, sweeps) <= room_ && ring_values(sweeps) * ring_stride() <= of_factors;
}

void FactorSweepLevels::make(Arguments arguments, double* ring, int sweeps) const {
    LevelOfSweeps& its = arguments.level;
    its.ring = ring;
    its.stride = unsigned(ring_stride());
    its.sweeps = sweeps;
    const Grid& grid = shape_.layout.grid();
    const Index shared = shared_bytes_of_level(shape_, sweeps);
    kernel_.allow_shared(shared);
    // The first level's kernel must not overlap the kernels before it.
    const bool can_overlap = kernel_.stream().properties().major >= 9;
    for (int level = 0; level < shape_.layout.level_count(); ++level) {
        its.plane = hyperplane_of(shape_.layout, level);
        its.base = hyperplane_slot(level, 0, 0, grid.nx, grid.ny, grid.nz);
        const unsigned blocks = unsigned((its.plane.columns + level_points - 1) / level_points);
        if (blocks > 0)
            kernel_.launch({blocks}, unsigned(32 * level_points), shared, arguments, can_overlap && level > 0);
    }
}

}  // namespace hyperplane
