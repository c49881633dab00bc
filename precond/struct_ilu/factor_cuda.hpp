// SPDX-License-Identifier: BSD-3-Clause
// StructILU's factorisation on a GPU: shapes, launch and report on pivots. precond/struct_ilu/factor.cuh is the
// kernel's text.
#pragma once

#include <string>
#include <vector>

#include "precond/factors/pivots.hpp"
#include "precond/struct_ilu/arguments.hpp"
#include "precond/walks/tiles.hpp"

namespace hyperplane::wavefront_cuda {

/// How a point is factored: precond/struct_ilu/registers.cuh, tensor.cuh or fallback.cuh.
enum class FactorKind { registers, tensor, fallback };

struct FactorShape {
    FactorKind kind;
    TileShape tile;
    bool keep = true;  ///< E lies in shared memory
    Index shared = 0;
    int consumer_threads = 0, blocks, ring = 0, halo_warps = 0, matrix_warps = 1, stages = 3;

    FactorShape(const IluPattern& system, const Geometry& geometry, const StructIluTuning& tuning);
    /// Of consumers, producer warps, and a warp that publishes the tile's progress, unless a producer warp does.
    int threads() const {
        return consumer_threads + 32 * (halo_warps + matrix_warps + (kind == FactorKind::tensor ? 0 : 1));
    }
    /// Values of E that are kept in global memory because they do not fit shared memory.
    Index scratch(const IluPattern& system, const Geometry& geometry, const Tiles& tiles) const;

private:
    void shape_points(const IluPattern& system, const Geometry& geometry, const StructIluTuning& tuning, int entries);
    void shape_others(const IluPattern& system, const Geometry& geometry, const StructIluTuning& tuning, int entries);
};

class Factorisation {
public:
    Factorisation(const Context& context, const IluPattern& system, const Geometry& geometry,
                  const StructIluTuning& tuning);

    /// x = W, D^-1 and G of A + shift diag(A), in the places of E, D and F; D^-1 alone for D-ILU.
    void factor(const StructMatrix& a, StructMatrix& x, double shift, const PivotRules& rules, PivotInverter& inverter);

    /// Device memory held.
    static Index bytes(const IluPattern& system, const Geometry& geometry, const StructIluTuning& tuning);
    static std::vector<rtc::KernelResources> compile(const IluPattern& system, const Geometry& geometry,
                                                     const StructIluTuning& tuning, const std::string& architecture);
    std::string describe() const;

private:
    void reset();
    void report(PivotInverter& inverter) const;

    const IluPattern system_;
    FactorShape shape_;
    Tiles tiles_;
    int reach_j_, reach_k_;  // tiles that a tile's halo extends over
    DeviceTiles device_tiles_;
    Buffer<int> progress_;
    Buffer<unsigned> ticket_;
    Buffer<PivotLog> log_;
    Buffer<PivotRatio> smallest_;
    Buffer<double> scratch_;
    using Arguments = FactorArguments<rtc::most_entries>;
    rtc::Kernel<Arguments> kernel_;
    bool spoilt_ = false;  ///< in the last attempt a pivot could not be used
};

}  // namespace hyperplane::wavefront_cuda
