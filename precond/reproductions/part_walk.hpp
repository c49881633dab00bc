// SPDX-License-Identifier: BSD-3-Clause
// The variants spin, dag_vertex and dag_edge of subdomain_ildu0 on parts of a general matrix, which serve only for
// comparison; part_walk.cuh is the kernels' text.
#pragma once

#include "core/device/rtc.hpp"
#include "precond/reproductions/part_walk_arguments.hpp"
#include "precond/subdomain_variant.hpp"
#include "precond/sync_free_ilu/part_solve.hpp"

namespace hyperplane {

class PartWalkCuda final : public PartSolve {
public:
    /// The symbolic part, with the levels if the variant goes along them. `factors` has its pattern in the host's
    /// memory, and no row depends on one of another part.
    PartWalkCuda(const Context& context, const GeneralFactors& factors, const GraphParts& parts,
                 SubdomainVariant variant);

    void take(const StoredView& factors, const Index* row_begin, const Index* diagonal) override;
    void apply(const Vector& r, Vector& z) const override;

    /// Bytes that it holds.
    static Index bytes(const FilledPattern& filled, const GraphParts& parts, int dof, SubdomainVariant variant);
    /// What NVRTC compiles.
    static rtc::Programs programs(int dof, SubdomainVariant variant);

private:
    using Kernel = rtc::Kernel<PartWalkArguments>;

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
