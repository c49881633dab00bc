// SPDX-License-Identifier: BSD-3-Clause
// The pattern of a general matrix's factors in a GPU's memory. Without fill it is A's, which A holds there already.
#pragma once

#include <memory>
#include <string>

#include "core/matrix/bsr_matrix.hpp"
#include "precond/graph/fill.hpp"
#include "precond/sync_free_ilu/on_gpu.hpp"

namespace hyperplane {

struct GpuPattern {
    std::shared_ptr<const BlockPattern> pattern;
    Buffer<Index> diagonal;    ///< [row]: the place of the diagonal block
    Buffer<int> place;         ///< FilledPattern::place; empty if A has the same pattern
    Buffer<Index> a_diagonal;  ///< [row]: where A's diagonal blocks lie in A, -1: not stored; or empty

    /// `filled` is in the host's memory. `with_a_diagonal`: a_diagonal is needed, unless A has the same pattern.
    GpuPattern(const Context& context, const BsrMatrix& a, const FilledPattern& filled, bool with_a_diagonal,
               const std::string& label)
        : pattern(filled.place.size() == 0 ? a.shared_here() : filled.pattern->copied_to(context, label)),
          diagonal(copy_on(context, label, filled.diagonal)) {
        if (filled.place.size() == 0) return;
        place = copy_on(context, label, filled.place);
        if (!with_a_diagonal) return;
        const BlockPattern& own = *a.pattern();
        Buffer<Index> places(context.host(), label, own.rows());
        for (Index row = 0; row < own.rows(); ++row) places[row] = own.find(row, int(row));
        a_diagonal = moved_to(context, label, std::move(places));
    }

    bool is_that_of_a() const { return place.size() == 0; }

    /// Bytes that it holds for a matrix A of so many blocks.
    static Index bytes(const FilledPattern& filled, Index a_blocks, bool with_a_diagonal) {
        const Index rows = filled.pattern->rows();
        const Index places = rows * Index(sizeof(Index));
        if (filled.place.size() == 0) return places;
        return places + filled.pattern->bytes() + a_blocks * Index(sizeof(int)) + (with_a_diagonal ? places : 0);
    }
};

}  // namespace hyperplane
