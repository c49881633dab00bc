// SPDX-License-Identifier: BSD-3-Clause
// The variants spin, dag_vertex and dag_edge of subdomain_ildu0 on parts of a general matrix, which serve only for
// comparison; part_walk.cuh is the kernels' text.
#pragma once

#include "core/device/rtc.hpp"
#include "core/graph/parts.hpp"
#include "precond/general/pattern/gpu_pattern.hpp"
#include "precond/general/solves/general_solve.hpp"
#include "precond/reproductions/part_walk_arguments.hpp"
#include "precond/subdomain_variant.hpp"

namespace hyperplane {

class PartWalkCuda final : public GeneralSolve {
public:
    /// The symbolic part, with the levels if the variant goes along them. `factors` has its pattern in the host's
    /// memory, `pattern`, which must exist as long as this object, is the same on the GPU, and no row depends on one of
    /// another part.
    PartWalkCuda(const GpuPattern& pattern, const GeneralFactors& factors, const GraphParts& parts,
                 SubdomainVariant variant);

    void take(const GeneralFactors& factors, const std::string& name) override;
    void apply(const Vector& r, Vector& z) const override;
    Index bytes_per_apply() const override;

    /// Bytes that it holds.
    static Index bytes(const FilledPattern& filled, const GraphParts& parts, int dof, SubdomainVariant variant);
    /// What NVRTC compiles.
    static rtc::Programs programs(int dof, SubdomainVariant variant);

private:
    using Kernel = rtc::Kernel<PartWalkArguments>;

    const GpuPattern& pattern_;
    int dof_;
    Index parts_, shared_;
    Buffer<int> part_rows_, rows_, below_, graph_;
    Buffer<Index> begin_;
    Buffer<unsigned short> columns_;
    Buffer<double> values_;
    Kernel pack_kernel_, walk_kernel_;
    PartWalkArguments arguments_{};
};

}  // namespace hyperplane
