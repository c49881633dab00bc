// SPDX-License-Identifier: BSD-3-Clause
// The solves of subdomain_ildu0 with a general matrix on a GPU; part_solve.cuh is the kernels' text.
#pragma once

#include <optional>

#include "core/device/rtc.hpp"
#include "precond/sync_free_ilu/factors.hpp"
#include "precond/sync_free_ilu/part_arguments.hpp"
#include "precond/sync_free_ilu/symbolic.hpp"

namespace hyperplane {

class PartSolveCuda {
public:
    /// The symbolic part. `factors` has its pattern in the host's memory, and no row depends on one of another part.
    /// `known` are the tables of the parts if there are some already.
    PartSolveCuda(const Context& context, const GeneralFactors& factors, const GraphParts& parts,
                  std::optional<PartTables> known);

    /// Packs the factors, whose pattern on the GPU begins at `row_begin` and `diagonal`.
    void take(const double* values, const Index* row_begin, const Index* diagonal);
    /// z = M^-1 r.
    void apply(const Vector& r, Vector& z) const;

    /// Bytes that it holds. `symbolic` receives the tables of the parts.
    static Index bytes(Symbolic& symbolic, int dof);
    /// What NVRTC compiles.
    static rtc::Programs programs(int dof);

private:
    struct Packed {
        Buffer<PartSlice> slices;
        Buffer<int> level_slices, part_levels;
        Buffer<unsigned short> local, columns;
        Buffer<double> values;

        PartSide arguments();
    };

    int dof_;
    Index parts_, most_rows_;
    Buffer<int> part_rows_, rows_, numbered_;
    Buffer<unsigned short> places_;
    Buffer<double> inverse_;
    Packed lower_, upper_;
    rtc::Kernel<PartArguments> pack_kernel_, solve_kernel_;
    PartArguments arguments_{};
};

}  // namespace hyperplane
