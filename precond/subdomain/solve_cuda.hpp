// SPDX-License-Identifier: BSD-3-Clause
// The solves of subdomains on a GPU: the choice of shapes, tables and launches. The kernels that go level by level are
// in precond/subdomain/solve.cuh, the others in precond/reproductions/spin_and_dag.cuh.
#pragma once

#include <string>
#include <vector>

#include "core/device/rtc.hpp"
#include "precond/subdomain/arguments.hpp"
#include "precond/subdomain/factors.hpp"

namespace hyperplane {

/// How a thread block orders the work on its subdomain. All variants compute M^-1 r; `dag_edge` adds in an order that
/// varies from run to run, and so do the last bits of its results.
enum class SubdomainVariant {
    level,       ///< by levels that follow from the stencil; coefficients are copied ahead in bulk
    unfused,     ///< the same in two kernels: first the lower solve, then scaling and upper solve
    spin,        ///< a warp for each point, which waits for those it needs (section 4.1, Algorithm 1)
    dag_vertex,  ///< by levels found in the pattern's graph (4.2.1, Algorithm 2), a thread for each row (4.2.3)
    dag_edge     ///< the same with a thread for each row of a nonzero block, and atomic additions (4.2.4)
};

/// Whether a variant goes level by level, with factors stored in that order.
inline bool goes_by_steps(SubdomainVariant variant) {
    return variant == SubdomainVariant::level || variant == SubdomainVariant::unfused;
}
inline SubdomainOrder::Rows rows_of(Backend backend, SubdomainVariant variant) {
    using enum SubdomainOrder::Rows;
    return backend == Backend::cpu ? by_line : goes_by_steps(variant) ? by_step : by_point;
}

/// How the kernels that go level by level use a multiprocessor. M does not depend on it, to the last bit.
struct SubdomainTuning {
    int workers = 0;        ///< consumer threads of a thread block, a multiple of 32; 0: one for each row
    Index ring = 8 * 1024;  ///< bytes in flight that a block should have, even if fewer blocks are resident
};

class SubdomainSolveCuda {
public:
    using Arguments = SubdomainArguments<const void>;

    /// `layout` is that of the vectors.
    SubdomainSolveCuda(const Context& context, const SubdomainFactors& factors, LayoutKind layout,
                       SubdomainVariant variant, const SubdomainTuning& tuning);

    LayoutKind layout() const { return layout_; }

    void apply(const SubdomainFactors& factors, const Vector& r, Vector& z) const;

    /// Device memory held. `stencil` is Partition::within of the matrix's.
    static Index bytes(const Partition& partition, const Stencil& stencil, int dof, SubdomainVariant variant,
                       FactorStorage storage);
    /// Compiles the kernels for an architecture, without a device; vectors in natural order.
    static std::vector<rtc::KernelResources> compile(const Partition& partition, const Stencil& stencil, int dof,
                                                     SubdomainVariant variant, FactorStorage storage,
                                                     const std::string& architecture,
                                                     const SubdomainTuning& tuning = {});

private:
    LayoutKind layout_;
    unsigned threads_;
    Index shared_;
    Buffer<int> cells_;                            ///< of the points in the order of steps
    Buffer<int> graph_;                            ///< of every subdomain, for variants that need it
    std::vector<rtc::Kernel<Arguments>> kernels_;  ///< applied one after the other
};

}  // namespace hyperplane
