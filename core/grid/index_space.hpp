// SPDX-License-Identifier: BSD-3-Clause
// IndexSpace: the block rows of matrices and vectors, of dof rows each, and where they lie in memory.
//
//   a grid        the block rows are its points in natural order, the slots those of a Layout;
//                 a vector is values[component][slot]
//   plain rows    block rows 0, 1, ... without a grid, each at the slot of the same number, or the rows of one rank
//                 (core/grid/row_slab.hpp);
//                 a vector is values[slot][component], so that what one block needs lies together
//
// Whatever treats vectors as a whole takes either: core/vector/blas1.hpp, Krylov methods, Newton's method, checkpoints.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/grid/layout.hpp"
#include "core/grid/row_slab.hpp"

namespace hyperplane {

class IndexSpace {
public:
    /// No block rows.
    IndexSpace() = default;
    IndexSpace(const Layout& layout) : layout_(layout), block_rows_(layout.slots()) {}  // NOLINT: a layout is one
    static IndexSpace plain(Index block_rows) {
        IndexSpace space;
        space.block_rows_ = block_rows;
        return space;
    }
    /// The rows of one of several ranks.
    static IndexSpace plain(std::shared_ptr<const RowSlab> slab) {
        IndexSpace space = plain(slab->rows);
        space.slab_ = std::move(slab);
        return space;
    }

    /// Number of block rows, and of slots; where ranks have a part each, of this rank.
    Index block_rows() const { return block_rows_; }
    /// Number of block rows of all ranks.
    Index all_block_rows() const {
        if (slab_) return slab_->all_rows;
        return layout_ ? layout_->grid().points() : block_rows_;
    }
    /// Number of slots with those of halos.
    Index slots_in_memory() const {
        if (slab_) return slab_->padding() + slab_->rows_in_memory();
        return layout_ ? layout_->slots_in_memory() : block_rows_;
    }
    /// Number of slots of the halo before slot 0.
    Index halo_slots() const {
        if (slab_) return slab_->padding() + slab_->before;
        return layout_ ? layout_->halo_slots() : 0;
    }
    /// The number of the first block row among those of all ranks.
    Index first_block_row() const {
        if (slab_) return slab_->first;
        return layout_ ? layout_->begin_plane() * layout_->slots_of_plane() : 0;
    }
    bool has_grid() const { return layout_.has_value(); }
    /// The rank's part of plain rows that several ranks share; otherwise null.
    const RowSlab* slab() const { return slab_.get(); }
    /// Whether other ranks have the rest of the block rows.
    bool is_part() const { return slab_ || (layout_ && layout_->is_part()); }
    /// Throws Error (internal) if there is no grid.
    const Layout& layout() const {
        if (!layout_) refuse();
        return *layout_;
    }
    /// The slot of one of the block rows, and its point.
    Index slot(Index block_row) const { return layout_ ? layout_->slot(point(block_row)) : block_row; }
    Int3 point(Index block_row) const { return layout().grid().point(block_row + first_block_row()); }
    /// The layout, "natural" or "hyperplane"; "rows" if there is no grid.
    std::string name() const { return layout_ ? to_string(layout_->kind()) : "rows"; }

    friend bool operator==(const IndexSpace& a, const IndexSpace& b) {
        return a.block_rows_ == b.block_rows_ && a.layout_ == b.layout_ && a.slab_ == b.slab_;
    }

private:
    [[noreturn]] static void refuse();

    std::optional<Layout> layout_;
    std::shared_ptr<const RowSlab> slab_;
    Index block_rows_ = 0;
};

}  // namespace hyperplane
