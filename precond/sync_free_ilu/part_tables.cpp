// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/part_tables.hpp"

#include <algorithm>

namespace hyperplane {

namespace {

/// The rows of every part in the order of their levels.
struct PartLevels {
    std::vector<int> rows;   ///< part by part, level by level
    std::vector<int> level;  ///< [row]
};

class Maker {
public:
    Maker(const FilledPattern& filled, const GraphParts& parts, int dof) : filled_(filled), parts_(parts), dof_(dof) {}
    PartTables made();

private:
    PartLevels levels_of_parts(Side side) const;
    Index first(Side side, Index row) const;
    Index last(Side side, Index row) const;
    PartTables::OfSide sliced(const PartLevels& levels, Side side) const;
    void add(const int* rows, Index count, Index at, Index base, Side side, PartTables::OfSide& made) const;

    const FilledPattern& filled_;
    const GraphParts& parts_;
    int dof_;
    std::vector<unsigned short> number_;  ///< [row]: within its part
};

PartTables Maker::made() {
    const PartLevels below = levels_of_parts(Side::lower), above = levels_of_parts(Side::upper);
    PartTables tables;
    tables.part_rows.assign(parts_.begin.begin(), parts_.begin.end());
    tables.numbered = below.rows;
    number_.resize(below.rows.size());
    for (Index part = 0; part < parts_.count(); ++part)
        for (Index at = parts_.begin[part]; at < parts_.begin[part + 1]; ++at)
            number_[below.rows[at]] = static_cast<unsigned short>(at - parts_.begin[part]);
    for (const int row : parts_.vertices) tables.places.push_back(number_[row]);
    tables.lower = sliced(below, Side::lower);
    tables.upper = sliced(above, Side::upper);
    return tables;
}

PartLevels Maker::levels_of_parts(Side side) const {
    const BlockPattern& p = *filled_.pattern;
    PartLevels made{{parts_.vertices.begin(), parts_.vertices.end()}, std::vector<int>(std::size_t(p.rows()), 0)};
#pragma omp parallel for schedule(dynamic, 1) num_threads(p.context().threads_for(p.blocks()))
    for (Index part = 0; part < parts_.count(); ++part) {
        const auto begin = made.rows.begin() + parts_.begin[part], end = made.rows.begin() + parts_.begin[part + 1];
        const auto set = [&](int row) {
            for (Index at = first(side, row); at < last(side, row); ++at)
                made.level[row] = std::max(made.level[row], made.level[p.column()[at]] + 1);
        };
        if (side == Side::lower)
            std::for_each(begin, end, set);
        else
            std::for_each(std::reverse_iterator(end), std::reverse_iterator(begin), set);
        std::stable_sort(begin, end, [&](int v, int w) { return made.level[v] < made.level[w]; });
    }
    return made;
}

Index Maker::first(Side side, Index row) const {
    return side == Side::lower ? filled_.pattern->row_begin()[row] : filled_.diagonal[row] + 1;
}
Index Maker::last(Side side, Index row) const {
    return side == Side::lower ? filled_.diagonal[row] : filled_.pattern->row_begin()[row + 1];
}

PartTables::OfSide Maker::sliced(const PartLevels& levels, Side side) const {
    PartTables::OfSide made;
    const Index widest = std::max(1, 32 / dof_);
    for (const int row : levels.rows) made.local.push_back(number_[row]);
    for (Index part = 0; part < parts_.count(); ++part) {
        made.part_levels.push_back(int(made.level_slices.size()));
        const Index base = parts_.begin[part], end = parts_.begin[part + 1];
        for (Index at = base; at < end;) {
            const int level = levels.level[levels.rows[at]];
            if (at == base || levels.level[levels.rows[at - 1]] != level)
                made.level_slices.push_back(int(made.slices.size()));
            Index rows = 1;
            while (rows < widest && at + rows < end && levels.level[levels.rows[at + rows]] == level) ++rows;
            add(&levels.rows[at], rows, at, base, side, made);
            at += rows;
        }
    }
    made.part_levels.push_back(int(made.level_slices.size()));
    made.level_slices.push_back(int(made.slices.size()));
    return made;
}

/// Adds the slice of `count` rows, the first of which is at position `at`.
void Maker::add(const int* rows, Index count, Index at, Index base, Side side, PartTables::OfSide& made) const {
    Index length = 0;
    for (Index i = 0; i < count; ++i) length = std::max(length, last(side, rows[i]) - first(side, rows[i]));
    made.slices.push_back({Index(made.columns.size()), int(at), int(base), short(count), short(length)});
    for (Index e = 0; e < length; ++e)
        for (Index i = 0; i < count; ++i) {
            const Index place = first(side, rows[i]) + e;
            const bool there = place < last(side, rows[i]);
            made.columns.push_back(number_[there ? filled_.pattern->column()[place] : rows[i]]);
        }
}

Index bytes_of(const PartTables::OfSide& side) {
    return Index(side.slices.size() * sizeof(PartSlice) +
                 (side.level_slices.size() + side.part_levels.size()) * sizeof(int) +
                 (side.local.size() + side.columns.size()) * sizeof(unsigned short));
}

}  // namespace

PartTables part_tables(const FilledPattern& filled, const GraphParts& parts, int dof) {
    return Maker(filled, parts, dof).made();
}

Index PartTables::bytes() const {
    const Index rows = Index(numbered.size());
    return Index((part_rows.size() + numbered.size()) * sizeof(int)) + Index(places.size() * sizeof(places[0])) +
           rows * Index(sizeof(int)) + bytes_of(lower) + bytes_of(upper);
}

}  // namespace hyperplane
