// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/pattern/rank_pattern.hpp"

#include <algorithm>

#include "core/matrix/row_cuts.hpp"

namespace hyperplane {

Index blocks_of_rank(const BlockPattern& a) {
    const RowSlab& slab = *a.slab();
    Index missing = 0;
    for (Index row = 0; row < a.rows(); ++row) missing += a.find(row, int(row)) < 0;
    return slab.before + Index(slab.upper.column.size()) + a.blocks() + missing;
}

FilledPattern pattern_of_rank(const Context& host, const BlockPattern& a, const std::string& label) {
    const RowSlab& slab = *a.slab();
    const Index all = slab.rows_in_memory();
    const int before = int(slab.before);
    FilledPattern made;
    made.first = before;
    made.diagonal = Buffer<Index>(host, label, all);
    made.place = Buffer<int>(host, label, a.blocks());
    Buffer<Index> row_begin(host, label, all + 1);
    Buffer<int> column(host, label, blocks_of_rank(a));
    Index next = 0;
    const auto add = [&](int slot) { column[next++] = slot + before; };
    for (Index row = 0; row < before; ++row) {
        made.diagonal[row] = next;
        add(int(row) - before);
        for (Index at = slab.upper.begin[row]; at < slab.upper.begin[row + 1]; ++at) add(slab.upper.column[at]);
        row_begin[row + 1] = next;
    }
    for (Index row = 0; row < a.rows(); ++row) {
        const Index begin = next;
        bool diagonal = false;  // has been passed
        const auto add_diagonal = [&] {
            made.diagonal[before + row] = next;
            add(int(row));
            diagonal = true;
        };
        for (Index at = a.row_begin()[row]; at < a.row_begin()[row + 1]; ++at) {
            const int j = a.column()[at];
            if (!diagonal && j >= row) add_diagonal();
            made.place[at] = int((j == row ? made.diagonal[before + row] : next) - begin);
            if (j != row) add(j);
        }
        if (!diagonal) add_diagonal();
        row_begin[before + row + 1] = next;
    }
    std::fill(row_begin.begin() + before + a.rows() + 1, row_begin.end(), next);
    made.pattern = std::make_shared<const BlockPattern>(std::move(row_begin), std::move(column));
    return made;
}

std::vector<Index> cuts_of(const Context& host, const BlockPattern& a, int dof) {
    return row_cuts(*a.whole(), dof, host.ranks()->size(), a.slab()->on_gpu ? Backend::cuda : Backend::cpu);
}

FactorPattern cut_to_rank(const Context& host, const BlockPattern& a, const BlockPattern& whole, int dof,
                          const std::string& label) {
    const RowSlab& of_a = *a.slab();
    const auto part = rows_between(host, whole, cuts_of(host, a, dof), label);
    FactorPattern made{.filled = pattern_of_rank(host, *part, label), .slab = part->slab()};
    FilledPattern& filled = made.filled;
    Buffer<int> place(host, label, a.blocks());
    for (Index row = 0; row < a.rows(); ++row)
        for (Index at = a.row_begin()[row]; at < a.row_begin()[row + 1]; ++at) {
            const Index column = of_a.row(a.column()[at]);
            const Index found =
                made.slab->has(column)
                    ? filled.pattern->find(filled.first + row, made.slab->slot(column) + int(filled.first))
                    : -1;
            place[at] = found < 0 ? -1 : int(found - filled.pattern->row_begin()[filled.first + row]);
        }
    made.peak = part->bytes() + filled.bytes() + place.size() * Index(sizeof(int));
    filled.place = std::move(place);
    return made;
}

FactorPattern pattern_across_ranks(const Context& host, const BlockPattern& a, int dof, int fill_level,
                                   const std::optional<PartOptions>& parts, const std::string& label) {
    if (!parts && fill_level == 0) return {.filled = pattern_of_rank(host, a, label), .slab = a.slab()};
    const std::shared_ptr<const BlockPattern>& all = a.whole();
    const Index rows = all->rows();
    std::shared_ptr<const BlockPattern> whole;
    Index finding = 0;
    if (parts) {
        const FactorPattern decoupled = decoupled_pattern(host, all, *parts, label);
        whole = decoupled.filled.pattern;
        // METIS copies the graph, and makes coarser ones.
        finding = 4 * BlockPattern::bytes(rows, 2 * all->blocks()) + 2 * decoupled.parts.bytes();
    } else {
        const FilledPattern filled = filled_pattern(host, all, fill_level, label);
        whole = filled.pattern;
        // Beside the pattern there are the transpose of A and the rows of both triangles as lists.
        finding = filled.bytes() + all->bytes() + 2 * whole->bytes();
    }
    FactorPattern made = cut_to_rank(host, a, *whole, dof, label);
    made.peak = std::max(finding, whole->bytes() + made.peak);
    return made;
}

}  // namespace hyperplane
