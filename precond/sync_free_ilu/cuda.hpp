// SPDX-License-Identifier: BSD-3-Clause
// The factorisation of a general matrix on a GPU in one of its variants: by a search for entries that rows share
// (precond/general/factors/search_factor.hpp), by tables (table_factor.hpp) or by polled blocks (block_factor.hpp); the
// published ones are in precond/reproductions/sync_free_rows.hpp.
#pragma once

#include <memory>
#include <optional>

#include "core/device/rtc.hpp"
#include "precond/general/factors/search_factor.hpp"
#include "precond/sync_free_ilu/block_factor.hpp"
#include "precond/sync_free_ilu/table_factor.hpp"

namespace hyperplane {

/// What the kernel is specialised on, in each variant.
struct SyncFreeShape : SearchShape {
    std::optional<TableShape> table = std::nullopt;         ///< of the variant `table`
    std::optional<BlockShape> blocks = std::nullopt;        ///< of short rows of blocks, which are polled themselves
    std::optional<FactorVariant> published = std::nullopt;  ///< one of the published variants

    bool needs_a_diagonal() const { return !table; }  ///< of GpuPattern
    /// Whether rows are taken in the order of their levels alone.
    bool by_level() const { return !table && !blocks && (!published || published == FactorVariant::levs); }
    /// `sliced`: whether there will be slices of the lower triangle.
    static SyncFreeShape of(const RowCounts& counts, int dof, bool symmetric, FactorVariant variant,
                            bool sliced = false);
};

/// The tables of one pattern, and the kernels.
class SyncFreeCuda {
public:
    /// `pattern` must exist as long as this object. The orders of a table or by level are taken over, and short rows of
    /// blocks use the order of the solve with L, which must then exist as long.
    /// The pattern may begin with `before` rows of other ranks, whose factors are there before those of the rows in the
    /// orders are computed.
    SyncFreeCuda(const Context& context, const GpuPattern& pattern, const SyncFreeShape& shape, Orders& orders,
                 Index before = 0);

    /// The factors of A + alpha diag(A) into `values`, and the pivots to `inverter`.
    void factor(const BsrMatrix& a, double alpha, const PivotRules& rules, double* values, PivotInverter& inverter);

    /// Bytes that it holds, without the pattern.
    static Index bytes(const FilledPattern& filled, const OrderSizes& sizes, const SyncFreeShape& shape);
    /// What NVRTC compiles.
    static rtc::Programs programs(const SyncFreeShape& shape);

private:
    const GpuPattern& pattern_;
    std::unique_ptr<SearchFactor> search_;  ///< of the variant `search` and the published ones
    std::unique_ptr<TableFactor> table_;
    std::unique_ptr<BlockFactor> blocks_;
};

}  // namespace hyperplane
