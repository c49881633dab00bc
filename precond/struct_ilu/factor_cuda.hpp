// SPDX-License-Identifier: BSD-3-Clause
// The factorisation of StructILU on a GPU: shapes, launch and what is told of pivots; precond/struct_ilu/factor.cuh
// begins the kernels' text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "precond/factors/pivots.hpp"
#include "precond/walks/tiles.hpp"

namespace hyperplane::struct_ilu {

/// Which of the texts serves: all blocks of a point in registers, by rows or on tensor cores, or E alone kept.
enum class FactorKind { points, tensor, rows };

struct FactorShape {
    FactorKind kind;
    TileShape tile;
    bool keep = true;  ///< E lies in shared memory
    Index shared = 0;
    int worker_threads = 0, blocks, ring = 0, receivers = 0, fetchers = 1, stages = 3;

    FactorShape(const IluPattern& system, const Geometry& geometry, const StructIluTuning& tuning);
    /// Those that work, warps that receive and fetch for them, and one that tells this tile's progress, or a fetcher
    /// does.
    int threads() const { return worker_threads + 32 * (receivers + fetchers + (kind == FactorKind::tensor ? 0 : 1)); }
    /// Values of E that do not fit shared memory.
    Index scratch(const IluPattern& system, const Geometry& geometry, const Tiles& tiles) const;

private:
    void shape_points(const IluPattern& system, const Geometry& geometry, const StructIluTuning& tuning, int entries);
    void shape_others(const IluPattern& system, const Geometry& geometry, const StructIluTuning& tuning, int entries);
};

/// precond/struct_ilu/factor.cuh's Smallest.
struct Smallest {
    double ratio;
    long long point;
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
    Buffer<Smallest> smallest_;
    Buffer<double> scratch_;
    rtc::Kernel kernel_;
    bool spoilt_ = false;  ///< the last attempt met a pivot it could not use
};

}  // namespace hyperplane::struct_ilu
