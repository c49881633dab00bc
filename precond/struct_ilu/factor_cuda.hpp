// SPDX-License-Identifier: BSD-3-Clause
// StructILU's factorisation on a GPU: the choice of shapes, the launch and the report on pivots. The kernel is
// precond/struct_ilu/factor.cuh.
#pragma once

#include <string>

#include "precond/factors/pivot_record.hpp"
#include "precond/factors/rank_planes_cuda.hpp"
#include "precond/struct_ilu/arguments.hpp"
#include "precond/struct_ilu/intra_row.hpp"
#include "precond/tuning.hpp"
#include "precond/walks/tiles.hpp"

namespace hyperplane::wavefront_cuda {

/// How a point is factored: precond/struct_ilu/registers.cuh, tensor.cuh or fallback.cuh.
enum class FactorKind { registers, tensor, fallback };

struct FactorShape {
    FactorKind kind;
    TileShape tile;
    bool keep = true;  ///< E is in shared memory
    Index shared = 0;
    bool pipelined = false;  ///< groups overlap the rows of two levels
    int groups = 1;          ///< of consumer threads that share the entries of a row
    int row_waiting = 0;     ///< operations that one wait of the groups for each other costs; 0: a stage is a level
    int consumer_threads = 0, blocks, ring = 0, halo_warps = 0, matrix_warps = 1, stages = 3;

    FactorShape(const IluPattern& system, const Geometry& geometry, const StructIluTuning& tuning);
    /// How the groups share a row.
    IntraRowSchedule schedule(const IluPattern& system) const;
    /// Number of threads of consumers, of producer warps, and of a warp that publishes the tile's progress, unless a
    /// producer warp does that.
    int threads() const {
        return groups * consumer_threads + 32 * (halo_warps + matrix_warps + (kind == FactorKind::tensor ? 0 : 1));
    }
    /// Number of values of E in global memory, if they do not fit in shared memory.
    Index scratch(const IluPattern& system, const Geometry& geometry, const Tiles& tiles) const;

private:
    void shape_points(const IluPattern& system, const Geometry& geometry, const StructIluTuning& tuning, int entries);
    void shape_others(const IluPattern& system, const Geometry& geometry, const StructIluTuning& tuning, int entries);
};

class Factorisation {
public:
    Factorisation(const Context& context, const IluPattern& system, const Geometry& geometry,
                  const StructIluTuning& tuning);

    /// Computes W, D^-1 and G of A + shift diag(A) in the places of E, D and F of x; for D-ILU D^-1 alone.
    void factor(const StructMatrix& a, StructMatrix& x, double shift, const PivotRules& rules, PivotInverter& inverter);

    /// Device memory held.
    static Index bytes(const IluPattern& system, const Geometry& geometry, const StructIluTuning& tuning);
    static rtc::Programs programs(const IluPattern& system, const Geometry& geometry, const StructIluTuning& tuning);
    std::string describe() const;

private:
    void reset();
    RankPlanes planes_of(StructMatrix& x) const;

    const IluPattern system_;
    FactorShape shape_;
    Tiles tiles_;
    int reach_j_, reach_k_;  // number of tiles over which a tile's halo extends
    DeviceTiles device_tiles_;
    Buffer<int> progress_;
    Buffer<unsigned> ticket_;
    PivotRecord record_;  ///< a part for each tile
    Buffer<double> scratch_;
    using Arguments = FactorArguments<rtc::most_entries>;
    rtc::Kernel<Arguments> kernel_;
    bool spoilt_ = false;  ///< in the last attempt a pivot could not be used
};

}  // namespace hyperplane::wavefront_cuda
