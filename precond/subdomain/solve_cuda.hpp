// SPDX-License-Identifier: BSD-3-Clause
// The solves of subdomains on a GPU: the choice of shapes, tables and launches. The kernels that go level by level are
// in precond/subdomain/solve.cuh, the others in precond/reproductions/spin_and_dag.cuh.
#pragma once

#include <vector>

#include "core/device/rtc.hpp"
#include "precond/subdomain/arguments.hpp"
#include "precond/subdomain/factors.hpp"
#include "precond/subdomain_variant.hpp"
#include "precond/tuning.hpp"

namespace hyperplane {

inline SubdomainOrder::Rows rows_of(Backend backend, SubdomainVariant variant) {
    using enum SubdomainOrder::Rows;
    return backend == Backend::cpu ? by_line : goes_by_steps(variant) ? by_step : by_point;
}

/// The numbers for which all kernels of subdomains of one shape are compiled.
struct SubdomainShape {
    Partition partition;
    Stencil stencil;
    SubdomainOrder order;
    SubdomainCells cells;
    LayoutKind layout;  ///< layout of vectors

    /// `stencil` is Partition::within of the matrix's.
    SubdomainShape(const Partition& partition, const Stencil& stencil, int dof, LayoutKind layout,
                   SubdomainVariant variant, FactorStorage storage);
    /// Values of a subdomain's vector in shared memory.
    Index vector() const;
    /// Where the cells of each step begin in the steps' order, and the end. A step's last cell is repeated until warps
    /// are full.
    std::vector<int> cells_begin() const;
    int most_rows() const { return whole_warps(order.most_points() * order.dof); }
    static int whole_warps(int rows) { return (rows + 31) / 32 * 32; }
    bool unrolled() const { return order.lower * order.dof <= 112; }
    /// The definitions that all kernels share (precond/subdomain/cells.cuh).
    rtc::Definitions definitions(int threads) const;
};

/// Kernels that solve subdomains of one shape, one after the other, and how they are launched.
struct SubdomainPrograms {
    rtc::Source source;
    std::vector<rtc::Definitions> definitions;  ///< of each kernel
    const char* kernel;
    unsigned threads;
    Index shared;            ///< bytes
    std::vector<int> cells;  ///< of the points, in the order in which the kernels read them
    Index graph = 0;         ///< number of ints of a subdomain's graphs, if the kernels read such
};

class SubdomainSolveCuda {
public:
    using Arguments = SubdomainArguments<const void>;

    /// `layout` is that of the vectors.
    SubdomainSolveCuda(const Context& context, const SubdomainFactors& factors, LayoutKind layout,
                       SubdomainVariant variant, const SubdomainTuning& tuning);

    LayoutKind layout() const { return layout_; }

    void apply(const SubdomainFactors& factors, const Vector& r, Vector& z) const;
    /// y = (I + W)^-1 r, by the first of variant unfused's kernels.
    void lower_solve(const SubdomainFactors& factors, const Vector& r, Vector& y) const;

    /// Device memory held. `stencil` is Partition::within of the matrix's.
    static Index bytes(const Partition& partition, const Stencil& stencil, int dof, SubdomainVariant variant,
                       FactorStorage storage);
    /// What NVRTC compiles for vectors in natural order.
    static rtc::Programs programs(const Partition& partition, const Stencil& stencil, int dof, SubdomainVariant variant,
                                  FactorStorage storage, const SubdomainTuning& tuning = {});

private:
    void launch(const rtc::Kernel<Arguments>& kernel, const SubdomainFactors& factors, const Vector& in,
                Vector& out) const;

    LayoutKind layout_;
    unsigned threads_;
    Index shared_;
    Buffer<int> cells_;                            ///< of the points in the order of steps
    Buffer<int> graph_;                            ///< of every subdomain, for variants that need it
    std::vector<rtc::Kernel<Arguments>> kernels_;  ///< applied one after the other
};

}  // namespace hyperplane
