// SPDX-License-Identifier: BSD-3-Clause
// The solves of subdomains on a GPU: shapes, tables and launches. precond/subdomain/solve.cuh is the text of the
// kernels that go level by level, precond/subdomain/spin_and_dag.cuh that of the others.
#pragma once

#include <string>
#include <vector>

#include "core/device/rtc.hpp"
#include "precond/subdomain/arguments.hpp"
#include "precond/subdomain/factors.hpp"

namespace hyperplane {

/// How a GPU's block of threads walks its subdomain. All give M^-1 r; `dag_edge` adds in an order that varies, so its
/// last bits do.
enum class SubdomainVariant {
    level,       ///< level by level, known from the stencil; coefficients are copied ahead in bulk
    unfused,     ///< the same in two kernels: lower solve; scaling and upper solve
    spin,        ///< a warp a row, which waits for the rows it needs (section 4.1, Algorithm 1)
    dag_vertex,  ///< levels found in the pattern's graph (4.2.1, Algorithm 2), a thread a row (4.2.3)
    dag_edge     ///< the same, a thread a nonzero block's row, sums by atomic additions (4.2.4)
};

/// Whether a variant proceeds level by level, with factors in that order.
inline bool goes_by_steps(SubdomainVariant variant) {
    return variant == SubdomainVariant::level || variant == SubdomainVariant::unfused;
}
inline SubdomainOrder::Rows rows_of(Backend backend, SubdomainVariant variant) {
    using enum SubdomainOrder::Rows;
    return backend == Backend::cpu ? by_line : goes_by_steps(variant) ? by_step : by_point;
}

/// How the kernels that go level by level use a multiprocessor; M is the same, to the last bit.
struct SubdomainTuning {
    int workers = 0;        ///< threads that solve a subdomain, whole warps; 0: one a row
    Index ring = 8 * 1024;  ///< bytes of coefficients in flight for which fewer blocks are taken
};

class SubdomainSolveCuda {
public:
    using Arguments = SubdomainArguments<const void>;

    /// For vectors of one layout.
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
    Buffer<int> cells_;                            ///< of the points in the steps' order
    Buffer<int> graph_;                            ///< of every subdomain, for variants that use one
    std::vector<rtc::Kernel<Arguments>> kernels_;  ///< applied one after the other
};

}  // namespace hyperplane
