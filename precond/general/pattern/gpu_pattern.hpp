// SPDX-License-Identifier: BSD-3-Clause
// The pattern of a general matrix's factors in a GPU's memory. Without fill it is A's, which A holds there already.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/matrix/bsr_matrix.hpp"
#include "precond/general/pattern/diagonals_cuda.hpp"
#include "precond/general/pattern/on_gpu.hpp"

namespace hyperplane {

struct GpuPattern {
    std::shared_ptr<const BlockPattern> pattern;
    Buffer<Index> diagonal;    ///< [row]: the place of the diagonal block
    Buffer<int> place;         ///< FilledPattern::place; empty if A has the same pattern
    Buffer<Index> a_diagonal;  ///< [row]: where A's diagonal blocks lie in A, -1: not stored; or empty
    RowCounts counts;

    /// A's own pattern. If counts.missing is not zero, it cannot be that of factors.
    GpuPattern(const BsrMatrix& a, const std::string& label)
        : GpuPattern(a.context(), a.shared_here(), a.symmetric(), label) {}
    /// `filled` is in the host's memory.
    GpuPattern(const Context& context, const BsrMatrix& a, const FilledPattern& filled, const std::string& label)
        : GpuPattern(context, filled.place.size() == 0 ? a.shared_here() : filled.pattern->copied_to(context, label),
                     a.symmetric(), label) {
        if (filled.place.size() > 0) place = copy_on(context, label, filled.place);
    }
    /// A pattern in the GPU's memory that is not A's, and the places of A's blocks there.
    GpuPattern(const BsrMatrix& a, std::shared_ptr<const BlockPattern> here, Buffer<int> places,
               const std::string& label)
        : GpuPattern(a.context(), std::move(here), a.symmetric(), label) {
        place = std::move(places);
    }

    bool is_that_of_a() const { return place.size() == 0; }
    /// Finds a_diagonal, unless A has the same pattern.
    void find_a_diagonal(const BsrMatrix& a, const std::string& label) {
        if (!is_that_of_a()) a_diagonal = diagonals_on_gpu(a.context(), a.here(), a.symmetric(), label).place;
    }

    /// Bytes that it holds for a matrix A of so many blocks.
    static Index bytes(const FilledPattern& filled, Index a_blocks, bool with_a_diagonal) {
        const Index rows = filled.pattern->rows();
        const Index places = rows * Index(sizeof(Index));
        if (filled.place.size() == 0) return places;
        return places + filled.pattern->bytes() + a_blocks * Index(sizeof(int)) + (with_a_diagonal ? places : 0);
    }

private:
    GpuPattern(const Context& context, std::shared_ptr<const BlockPattern> here, bool symmetric,
               const std::string& label)
        : pattern(std::move(here)) {
        DiagonalsOnGpu found = diagonals_on_gpu(context, *pattern, symmetric, label);
        diagonal = std::move(found.place);
        counts = found.counts;
    }
};

}  // namespace hyperplane
