// SPDX-License-Identifier: BSD-3-Clause
// RowSlab: the block rows of a general matrix that one rank has, where several ranks share them.
//
// A rank has consecutive rows, in the order in which they are solved. Row `first` lies at slot 0. The rows of other
// ranks whose values its own rows read are its halo: those before its own rows lie at slots -before, ..., -1, those
// after them at slots rows, rows + 1, ..., each in ascending order. So slots ascend with the rows of the whole matrix,
// and so do the columns of a row that are given by slots.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "core/matrix/pattern_statistics.hpp"
#include "core/types.hpp"

namespace hyperplane {

namespace cuda {
struct RowsOnGpu;
}

struct RowSlab {
    /// Lists of columns, given by slots and ascending, of several rows.
    struct Columns {
        std::vector<Index> begin{0};  ///< one value more than there are rows
        std::vector<int> column;
    };
    /// The rows that are exchanged with one other rank.
    struct Neighbour {
        int rank;
        std::vector<int> sent;  ///< the slots of the own rows that the other rank reads, ascending
        Index slot, received;   ///< the first slot of the other one's rows in the halo, and how many there are
        Columns upper;          ///< of the rows sent to a later rank: what it has slots for above the diagonal
    };

    Index first = 0, rows = 0, all_rows = 0;
    Index before = 0;                   ///< rows of the halo that precede the own ones
    std::vector<int> halo;              ///< the halo's rows by their numbers in the whole matrix, ascending
    std::vector<Neighbour> neighbours;  ///< by ascending rank
    Columns upper;            ///< of the halo's rows before the own ones: what has slots here above the diagonal
    PatternStatistics whole;  ///< of the whole matrix
    std::shared_ptr<const cuda::RowsOnGpu> on_gpu;  ///< what a GPU needs to exchange halos (core/ranks/rows_cuda.hpp)

    /// Whether a row of the whole matrix is one of those in memory, and its slot if it is.
    bool has(Index row) const { return is_own(row) || std::binary_search(halo.begin(), halo.end(), row); }
    int slot(Index row) const {
        if (is_own(row)) return int(row - first);
        const Index at = std::lower_bound(halo.begin(), halo.end(), row) - halo.begin();
        return int(at < before ? at - before : rows + at - before);
    }
    bool is_own(Index row) const { return row >= first && row < first + rows; }
    Index rows_in_memory() const { return rows + Index(halo.size()); }
    /// Slots that vectors have before those of the halo, so that slot 0 lies at an even place.
    Index padding() const { return before % 2; }
    /// The number in the whole matrix of the row at a slot.
    Index row(Index slot) const {
        if (slot < 0) return halo[slot + before];
        return slot < rows ? first + slot : halo[slot - rows + before];
    }
};

}  // namespace hyperplane
