// SPDX-License-Identifier: BSD-3-Clause
// The solves of subdomain_ildu0 with a general matrix on a GPU: by levels (part_solve.cuh is the kernels' text), or in
// the ways of precond/reproductions/part_walk.hpp.
#pragma once

#include <memory>
#include <optional>

#include "core/device/rtc.hpp"
#include "precond/factors/stored_values.hpp"
#include "precond/general/pattern/gpu_pattern.hpp"
#include "precond/general/solves/general_solve.hpp"
#include "precond/subdomain_variant.hpp"
#include "precond/sync_free_ilu/part_arguments.hpp"
#include "precond/sync_free_ilu/symbolic.hpp"

namespace hyperplane {

namespace part_solve {

/// The solves of a variant, with the symbolic part. `factors` has its pattern in the host's memory, `pattern` is the
/// same on the GPU, and no row depends on one of another part. Both must exist as long as the result. `known` are the
/// tables of the parts if there are some already.
std::unique_ptr<GeneralSolve> make(SubdomainVariant variant, const GpuPattern& pattern, const GeneralFactors& factors,
                                   FactorStorage storage, const GraphParts& parts, std::optional<PartTables> known);
/// Bytes that they hold. `symbolic` receives the tables of the parts, if the variant needs them.
Index bytes(SubdomainVariant variant, Symbolic& symbolic, int dof, FactorStorage storage);
/// What NVRTC compiles.
rtc::Programs programs(SubdomainVariant variant, int dof, FactorStorage storage);

}  // namespace part_solve

/// Solves with parts level by level, both triangles in one kernel or in two.
class PartSolveCuda final : public GeneralSolve {
public:
    PartSolveCuda(const GpuPattern& pattern, const GeneralFactors& factors, const GraphParts& parts,
                  FactorStorage storage, std::optional<PartTables> known, bool fused);

    void take(const GeneralFactors& factors, const std::string& /*name*/) override { pack({factors.values.data()}); }
    Rounding round(const GeneralFactors& factors, const BsrMatrix& a) override;
    void apply(const Vector& r, Vector& z) const override;
    Index bytes_per_apply() const override;
    GeneralFactors widened(const GeneralFactors& shape) const override;

    static Index bytes(Symbolic& symbolic, int dof, FactorStorage storage);
    static rtc::Programs programs(int dof, FactorStorage storage, bool fused);

private:
    using Kernel = rtc::Kernel<PartArguments>;
    void pack(const StoredView& factors);
    void solve(const Kernel& kernel, const Vector& in, Vector& out) const;

    struct Packed {
        Buffer<PartSlice> slices;
        Buffer<int> level_slices, part_levels;
        Buffer<unsigned short> local, columns;
        StoredValues values;

        PartSide arguments();
    };

    const GpuPattern& pattern_;
    int dof_;
    Index parts_, most_rows_;
    Buffer<int> part_rows_, rows_, numbered_;
    Buffer<unsigned short> places_;
    StoredValues inverse_;
    Packed lower_, upper_;
    Kernel pack_kernel_;
    std::vector<Kernel> solve_kernels_;  ///< one after the other
    PartArguments arguments_{};
};

}  // namespace hyperplane
