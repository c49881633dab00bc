// SPDX-License-Identifier: BSD-3-Clause
// The solves with a general matrix's factors on a GPU; slice.cuh and solve.cuh are the kernels' texts.
#pragma once

#include <memory>
#include <string>

#include "core/device/rtc.hpp"
#include "precond/general/factors/reduced_rows_cuda.hpp"
#include "precond/general/orders/orders_cuda.hpp"
#include "precond/general/pattern/gpu_pattern.hpp"
#include "precond/general/solves/arguments.hpp"
#include "precond/general/solves/between_ranks.hpp"
#include "precond/general/solves/general_solve.hpp"

namespace hyperplane {

/// The slices of both triangles, with a copy of the factors in their order, and the kernels.
class SlicedSolve final : public GeneralSolve {
public:
    /// All in the context's memory; `pattern` must exist as long as this object. The orders of its triangles are taken
    /// over; where they say where levels begin, solves go by levels. `slab`: on several ranks that keep the couplings
    /// between them; the pattern has a rank's rows in memory, and the orders have its own ones. All ranks must call it.
    SlicedSolve(const Context& context, const GpuPattern& pattern, SlicedOrder lower, SlicedOrder upper, int dof,
                FactorStorage storage = FactorStorage::double_precision,
                const std::shared_ptr<const RowSlab>& slab = nullptr);

    void take(const GeneralFactors& factors, const std::string& /*name*/) override { copy({factors.values.data()}); }
    Rounding round(const GeneralFactors& factors, const BsrMatrix& a) override;
    void apply(const Vector& r, Vector& z) const override;
    Index bytes_per_apply() const override;
    std::string way() const override;
    GeneralFactors widened(const GeneralFactors& shape) const override;

    /// Copies factors, which are in this storage, to the slices; after each factorisation.
    void copy(const StoredView& factors);

    /// Bytes that it holds for so many rows.
    static Index bytes(Index rows, const OrderSizes& sizes, int dof,
                       FactorStorage storage = FactorStorage::double_precision);
    /// The bytes held in addition on several ranks.
    static Index bytes_between_ranks(const RowSlab& slab, int dof);
    /// `way`: of one rank; `automatic` stands for both.
    static rtc::Programs programs(int dof, SolveWay way, FactorStorage storage = FactorStorage::double_precision);
    static rtc::Programs programs_of_ranks(int dof, FactorStorage storage = FactorStorage::double_precision);

private:
    struct Triangle {
        Triangle(const Context& context, SlicedOrder sliced, Side side, int dof, FactorStorage storage,
                 const RowSlab* slab);

        Index count, places;
        Buffer<SolveSlice> slices;
        Buffer<int> order, column;
        Buffer<SliceRow> rows;
        StoredValues values;  ///< exponents: [position][component]
        mutable Buffer<EpochRecord> records;
        RowsBetweenRanks::Sent sent;
        rtc::Kernel<SliceArguments> slice;
        rtc::Kernel<GeneralSolveArguments> solve;
        rtc::Kernel<LevelSolveArguments> level_solve;  ///< by levels, in place of `solve`
        Buffer<int> level_begin, step;                 ///< as in LevelSolveArguments
        unsigned threads, blocks;                      ///< of a launch
    };
    void copy(Triangle& triangle, const StoredView& factors, const int* position);
    Buffer<int> positions(const Context& context, Triangle& triangle, Side side) const;
    void launch(const Context& context, Side side, const GeneralSolveArguments& arguments) const;

    const GpuPattern& pattern_;
    std::unique_ptr<const RowsBetweenRanks> ranks_;  ///< on several ranks that keep the couplings between them
    Index rows_;
    int dof_;
    FactorStorage storage_;
    Triangle lower_, upper_;
    Buffer<int> lower_position_, upper_position_;  ///< [row]; until the columns are in the slices
    Buffer<int> from_;                             ///< [position in the upper order]: that in the lower one
    StoredValues inverse_;                         ///< of the diagonal blocks; [position in the upper order][component]
    mutable Buffer<TicketState> states_;           ///< of both solves
};

}  // namespace hyperplane
