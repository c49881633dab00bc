// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/rank_parts.hpp"

#include <algorithm>
#include <numeric>

#include "precond/general/pattern/rank_pattern.hpp"

namespace hyperplane {
namespace {

int rank_of_row(const std::vector<Index>& cuts, Index row) {
    return int(std::upper_bound(cuts.begin(), cuts.end(), row) - cuts.begin()) - 1;
}

/// [part]: the rank that has most of its rows; of several, the first.
std::vector<int> ranks_of_parts(const GraphParts& parts, const std::vector<Index>& cuts) {
    std::vector<int> found;
    std::vector<Index> rows(cuts.size() - 1);
    for (Index part = 0; part < parts.count(); ++part) {
        std::fill(rows.begin(), rows.end(), 0);
        for (Index at = parts.begin[part]; at < parts.begin[part + 1]; ++at)
            ++rows[rank_of_row(cuts, parts.vertices[at])];
        found.push_back(int(std::max_element(rows.begin(), rows.end()) - rows.begin()));
    }
    return found;
}

/// Finds what one rank solves and exchanges.
class Finder {
public:
    Finder(const Context& host, const BlockPattern& a, int dof, const PartOptions& options, const std::string& label)
        : host_(host),
          label_(label),
          own_(*a.slab()),
          whole_(*a.whole()),
          cuts_(cuts_of(host, a, dof)),
          parts_(divided_rows(host, whole_, options, label)),
          rank_of_part_(ranks_of_parts(parts_, cuts_)),
          mine_(host.ranks()->rank()) {}

    SolvedParts found() {
        number_solved_rows();
        find_pattern();
        for (int other = 0; other + 1 < int(cuts_.size()); ++other) exchange_with(other);
        const auto crosses = [&](Index row) { return rank_of(row) != rank_of_row(cuts_, row); };
        for (Index row = 0; row < whole_.rows() && !made_.divided; ++row) made_.divided = crosses(row);
        return std::move(made_);
    }

private:
    int rank_of(Index row) const { return rank_of_part_[parts_.part[row]]; }
    /// Calls body(place, column) for the blocks of a row of A within its part.
    template <class Body>
    void for_each_block(Index row, const Body& body) const {
        for (Index at = whole_.row_begin()[row]; at < whole_.row_begin()[row + 1]; ++at)
            if (parts_.part[whole_.column()[at]] == parts_.part[row]) body(at, whole_.column()[at]);
    }

    void number_solved_rows() {
        std::vector<int> number(std::size_t(parts_.count()), -1);
        int count = 0;
        for (Index part = 0; part < parts_.count(); ++part)
            if (rank_of_part_[part] == mine_) number[part] = count++;
        solved_.assign(std::size_t(whole_.rows()), -1);
        std::vector<int> part;
        for (Index row = 0; row < whole_.rows(); ++row) {
            if (rank_of(row) != mine_) continue;
            solved_[row] = int(made_.row.size());
            made_.row.push_back(int(row));
            part.push_back(number[parts_.part[row]]);
        }
        made_.part = std::make_shared<const std::vector<int>>(std::move(part));
    }

    void find_pattern() {
        Buffer<Index> row_begin(host_, label_, made_.solved() + 1);
        for (Index at = 0; at < made_.solved(); ++at) {
            row_begin[at + 1] = row_begin[at];
            for_each_block(made_.row[at], [&](Index, int) { ++row_begin[at + 1]; });
        }
        Buffer<int> column(host_, label_, row_begin[made_.solved()]);
        Index next = 0;
        for (const int row : made_.row) for_each_block(row, [&](Index, int j) { column[next++] = solved_[j]; });
        made_.pattern = std::make_shared<const BlockPattern>(std::move(row_begin), std::move(column));
    }

    /// The solved rows that a rank has, which are consecutive.
    std::pair<Index, Index> solved_rows_of(int rank) const {
        const auto place = [&](Index row) {
            return std::lower_bound(made_.row.begin(), made_.row.end(), row) - made_.row.begin();
        };
        return {place(cuts_[rank]), place(cuts_[rank + 1])};
    }

    /// Lists what is exchanged with rank `other` in both directions: what the other rank solves of this one's rows, and
    /// what this rank solves of the other one's.
    void exchange_with(int other) {
        std::vector<Index> slots, places;
        for (Index row = own_.first; row < own_.first + own_.rows; ++row) {
            if (rank_of(row) != other) continue;
            slots.push_back(row - own_.first);
            for_each_block(row, [&](Index at, int) { places.push_back(at - whole_.row_begin()[own_.first]); });
        }
        const auto [first, last] = solved_rows_of(other);
        made_.result.resize(std::size_t(own_.rows));
        const Index at = other == mine_ ? first : made_.solved() + made_.returned;
        for (std::size_t k = 0; k < slots.size(); ++k) made_.result[slots[k]] = at + Index(k);
        if (other == mine_) {
            made_.own_rows = std::move(slots);
            made_.own_blocks = std::move(places);
            made_.first_row = first;
            made_.first_block = made_.pattern->row_begin()[first];
            return;
        }
        if (slots.empty() && first == last) return;
        std::vector<int> theirs(std::size_t(last - first));
        std::iota(theirs.begin(), theirs.end(), int(first));
        const Index count = Index(slots.size());
        made_.there.neighbours.push_back({other, {slots.begin(), slots.end()}, first, last - first, {}});
        made_.back.neighbours.push_back({other, std::move(theirs), made_.solved() + made_.returned, count, {}});
        made_.moved.push_back(
            {other, std::move(places), made_.pattern->row_begin()[first], made_.pattern->row_begin()[last]});
        made_.returned += count;
    }

    const Context& host_;
    const std::string& label_;
    const RowSlab& own_;
    const BlockPattern& whole_;
    std::vector<Index> cuts_;
    GraphParts parts_;
    std::vector<int> rank_of_part_;
    int mine_;
    std::vector<int> solved_;  ///< [row of the whole matrix]: its number among the solved ones, -1 if it is none
    SolvedParts made_;
};

}  // namespace

SolvedParts parts_of_rank(const Context& host, const BlockPattern& a, int dof, const PartOptions& options,
                          const std::string& label) {
    return Finder(host, a, dof, options, label).found();
}

}  // namespace hyperplane
