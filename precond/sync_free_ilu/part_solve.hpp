// SPDX-License-Identifier: BSD-3-Clause
// The solves of subdomain_ildu0 with a general matrix on a GPU: by levels (part_solve.cuh is the kernels' text), or in
// the ways of precond/reproductions/part_walk.hpp.
#pragma once

#include <memory>
#include <optional>

#include "core/device/rtc.hpp"
#include "precond/general/factors/factors.hpp"
#include "precond/general/factors/reduced_rows_cuda.hpp"
#include "precond/subdomain_variant.hpp"
#include "precond/sync_free_ilu/part_arguments.hpp"
#include "precond/sync_free_ilu/symbolic.hpp"

namespace hyperplane {

/// Both solves with the parts of general factors.
class PartSolve {
public:
    virtual ~PartSolve() = default;
    /// Packs the factors, whose pattern on the GPU begins at `row_begin` and `diagonal`.
    virtual void take(const StoredView& factors, const Index* row_begin, const Index* diagonal) = 0;
    /// z = M^-1 r.
    virtual void apply(const Vector& r, Vector& z) const = 0;

    /// With the symbolic part. `factors` has its pattern in the host's memory, and no row depends on one of another
    /// part. `known` are the tables of the parts if there are some already.
    static std::unique_ptr<PartSolve> make(SubdomainVariant variant, const Context& context,
                                           const GeneralFactors& factors, FactorStorage storage,
                                           const GraphParts& parts, std::optional<PartTables> known);
    /// Bytes that it holds. `symbolic` receives the tables of the parts, if the variant needs them.
    static Index bytes(SubdomainVariant variant, Symbolic& symbolic, int dof, FactorStorage storage);
    /// What NVRTC compiles.
    static rtc::Programs programs(SubdomainVariant variant, int dof, FactorStorage storage);
    /// The numbers that solves compute with, as factors with unit triangles in the host's memory: of reduced storage,
    /// where `shape` are factors with the same pattern that may be without values, and `diagonal` their diagonal
    /// blocks.
    virtual GeneralFactors widened(const GeneralFactors& shape, const Buffer<Index>& diagonal) const;
};

/// By levels, both solves in one kernel or in two.
class PartSolveCuda final : public PartSolve {
public:
    PartSolveCuda(const Context& context, const GeneralFactors& factors, const GraphParts& parts, FactorStorage storage,
                  std::optional<PartTables> known, bool fused);

    void take(const StoredView& factors, const Index* row_begin, const Index* diagonal) override;
    void apply(const Vector& r, Vector& z) const override;
    GeneralFactors widened(const GeneralFactors& shape, const Buffer<Index>& diagonal) const override;

    static Index bytes(Symbolic& symbolic, int dof, FactorStorage storage);
    static rtc::Programs programs(int dof, FactorStorage storage, bool fused);

private:
    using Kernel = rtc::Kernel<PartArguments>;
    void solve(const Kernel& kernel, const Vector& in, Vector& out) const;

    struct Packed {
        Buffer<PartSlice> slices;
        Buffer<int> level_slices, part_levels;
        Buffer<unsigned short> local, columns;
        StoredValues values;

        PartSide arguments();
    };

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
