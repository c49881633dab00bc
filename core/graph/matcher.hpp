// SPDX-License-Identifier: BSD-3-Clause
// Steps 1 to 3 of core/graph/row_matching.hpp: dual variables, a matching by entries with c = u + v, and trees of
// shortest paths for the rows that it leaves.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/graph/row_matching.hpp"

namespace hyperplane {

inline constexpr const char* matching_label = "row matching";

/// Finds the matching and the dual variables, by the three steps of row_matching.hpp.
class Matcher {
public:
    Matcher(const BlockPattern& pattern, std::span<const double> logarithm)
        : p_(pattern),
          n_(pattern.rows()),
          cost_(pattern.context(), matching_label, pattern.blocks()),
          u_(pattern.context(), matching_label, n_),
          columns_(pattern.context(), matching_label, n_),
          column_(pattern.context(), matching_label, n_),
          root_done_(pattern.context(), matching_label, n_) {
        std::fill(column_.begin(), column_.end(), -1);
        set_costs(logarithm);
    }

    RowMatching match() {
        set_first_duals();
        match_by_tight_entries();
        while (std::find(column_.begin(), column_.end(), -1) != column_.end() && augment()) continue;
        RowMatching found;
        if (const int* const free = std::find(column_.begin(), column_.end(), -1); free != column_.end()) {
            found.first = free - column_.begin();
            found.unmatched = std::count(column_.begin(), column_.end(), -1);
            found.rows_around = rows_around(int(found.first));
        }
        found.row = Buffer<int>(p_.context(), matching_label, n_);
        for (Index column = 0; column < n_; ++column) found.row[column] = columns_[column].row;
        return found;
    }

    /// The logarithms of the scales, where all rows are matched: those of columns follow from the matched entries.
    void set_scales(std::span<const double> logarithm, MatchingScales& scales) const {
        scales.row.assign(u_.begin(), u_.end());
        for (Index column = 0; column < n_; ++column) {
            const int row = columns_[column].row;
            scales.column.push_back(-u_[row] - logarithm[std::size_t(p_.find(row, int(column)))]);
        }
    }

private:
    /// All that is known of a column lies side by side, since a search needs all of it.
    struct Column {
        double v = infinity;         ///< its dual variable
        double distance = infinity;  ///< in a search; infinity: not reached
        int row = -1;                ///< its row; -1: none
        int from = -1, root = -1;    ///< the row before it on a path of a search, and the first one
        bool settled = false;        ///< whether its distance is final
    };

    void set_costs(std::span<const double> logarithm) {
        Buffer<double> largest(p_.context(), matching_label, n_);
        std::fill(largest.begin(), largest.end(), -infinity);
        for (Index at = 0; at < p_.blocks(); ++at) {
            double& most = largest[p_.column()[at]];
            most = std::max(most, logarithm[std::size_t(at)]);
        }
        for (Index at = 0; at < p_.blocks(); ++at) {
            const double own = logarithm[std::size_t(at)];
            cost_[at] = own == -infinity ? infinity : largest[p_.column()[at]] - own;
        }
    }
    double reduced(Index row, Index at) const { return cost_[at] - u_[row] - columns_[p_.column()[at]].v; }
    bool tight(Index row, Index at) const { return reduced(row, at) == 0.0; }
    template <class Body>
    void for_row(Index row, const Body& body) const {
        for (Index at = p_.row_begin()[row]; at < p_.row_begin()[row + 1]; ++at) body(at);
    }

    void set_first_duals() {
        for (Index row = 0; row < n_; ++row) {
            double least = infinity;
            for_row(row, [&](Index at) { least = std::min(least, cost_[at]); });
            u_[row] = least < infinity ? least : 0.0;
        }
        for (Index row = 0; row < n_; ++row)
            for_row(row, [&](Index at) {
                double& least = columns_[p_.column()[at]].v;
                least = std::min(least, cost_[at] - u_[row]);
            });
        for (Column& column : columns_)
            if (column.v == infinity) column.v = 0.0;
    }

    void pair(int row, int column) {
        columns_[column].row = row;
        column_[row] = column;
    }
    /// The first free column at which a row has a tight entry, from place `at` on; -1 if there is none. Free columns
    /// only become fewer, so that a later search goes on at `at`.
    int free_column(Index row, Index& at) const {
        for (; at < p_.row_begin()[row + 1]; ++at)
            if (columns_[p_.column()[at]].row < 0 && tight(row, at)) return p_.column()[at];
        return -1;
    }
    /// Matches as many rows as tight entries allow, beginning with those of the diagonal: each pass looks for
    /// augmenting paths that have no column in common.
    void match_by_tight_entries() {
        for (Index row = 0; row < n_; ++row)
            if (const Index at = p_.find(row, int(row)); at >= 0 && tight(row, at)) pair(int(row), int(row));
        std::vector<Index> look(p_.row_begin(), p_.row_begin() + n_), next;
        std::vector<char> visited;
        for (bool more = true; more;) {
            more = false;
            visited.assign(std::size_t(n_), 0);
            next.assign(p_.row_begin(), p_.row_begin() + n_);
            for (Index row = 0; row < n_; ++row)
                if (column_[row] < 0) more = extend_by_tight_path(int(row), look, next, visited) || more;
        }
    }
    /// Searches in depth for a path of tight entries from `root` to a free column, among columns that are not visited.
    /// `look` and `next`: for each row, where the searches for a free column and for any column go on.
    bool extend_by_tight_path(int root, std::vector<Index>& look, std::vector<Index>& next,
                              std::vector<char>& visited) {
        path_.assign(1, root);
        while (!path_.empty()) {
            const int row = path_.back();
            if (int column = free_column(row, look[row]); column >= 0) {
                for (; !path_.empty(); path_.pop_back()) {
                    const int before = column_[path_.back()];
                    pair(path_.back(), column);
                    column = before;
                }
                return true;
            }
            Index& at = next[row];
            while (at < p_.row_begin()[row + 1] && (visited[p_.column()[at]] || !tight(row, at))) ++at;
            if (at == p_.row_begin()[row + 1]) {
                path_.pop_back();
            } else {
                visited[p_.column()[at]] = 1;
                path_.push_back(columns_[p_.column()[at]].row);
            }
        }
        return false;
    }

    /// Grows a tree of shortest paths from each free row, all at a time, and matches the rows from which one reaches a
    /// free column that no other has reached before. A column is in one tree, so these paths have none in common.
    /// Returns whether there was one; if not, no free row can be matched.
    bool augment() {
        reached_.clear(), touched_.clear(), ends_.clear(), heap_.clear();
        Index free_rows = 0;
        for (Index row = 0; row < n_; ++row)
            if (column_[row] < 0) ++free_rows, reach_columns(int(row), 0.0);
        double last = 0.0;
        while (Index(ends_.size()) < free_rows) {
            const int column = nearest();
            if (column < 0) break;
            Column& c = columns_[column];
            c.settled = true;
            reached_.push_back(column);
            last = c.distance;
            if (c.row >= 0) {
                reach_columns(c.row, last);
            } else if (!root_done_[c.root]) {
                root_done_[c.root] = 1;
                ends_.push_back(column);
            }
        }
        move_duals(last);
        for (const int column : ends_) exchange_along_path(column);
        for (const int column : touched_) columns_[column].distance = infinity, columns_[column].settled = false;
        return !ends_.empty();
    }
    /// Takes the columns of a row, which is at a distance of `here`, to its tree where that is the shortest way.
    void reach_columns(int row, double here) {
        const int root = column_[row] < 0 ? row : columns_[column_[row]].root;
        for_row(row, [&](Index at) {
            const int column = p_.column()[at];
            Column& c = columns_[column];
            const double there = here + std::max(0.0, cost_[at] - u_[row] - c.v);  // rounding may take it below 0
            if (c.settled || !(there < c.distance)) return;
            if (c.distance == infinity) touched_.push_back(column);
            c.distance = there, c.from = row, c.root = root;
            heap_.emplace_back(there, column);
            std::push_heap(heap_.begin(), heap_.end(), farther);
        });
    }
    /// The nearest column that is not settled; -1 if there is none.
    int nearest() {
        while (!heap_.empty()) {
            const int column = heap_.front().second;
            std::pop_heap(heap_.begin(), heap_.end(), farther);
            heap_.pop_back();
            if (!columns_[column].settled) return column;
        }
        return -1;
    }
    /// `last`: the largest distance of a settled column.
    void move_duals(double last) {
        for (Index row = 0; row < n_; ++row)
            if (column_[row] < 0) u_[row] += last, root_done_[row] = 0;
        for (const int column : reached_) {
            Column& c = columns_[column];
            c.v -= last - c.distance;
            if (c.row >= 0) u_[c.row] += last - c.distance;
        }
    }
    /// The number of rows that alternating paths from a free row lead to, itself included, where none leads to a free
    /// column.
    Index rows_around(int free_row) {
        path_.assign(1, free_row);
        for (std::size_t at = 0; at < path_.size(); ++at)
            for_row(path_[at], [&](Index entry) {
                Column& c = columns_[p_.column()[entry]];
                if (cost_[entry] == infinity || c.settled) return;
                c.settled = true;
                path_.push_back(c.row);
            });
        return Index(path_.size());
    }
    void exchange_along_path(int column) {
        while (column >= 0) {
            const int row = columns_[column].from, before = column_[row];
            pair(row, column);
            column = before;
        }
    }

    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr auto farther = std::greater<std::pair<double, int>>();
    const BlockPattern& p_;
    Index n_;
    Buffer<double> cost_, u_;  ///< by block; the dual variable of a row
    Buffer<Column> columns_;
    Buffer<int> column_;                                ///< of a row; -1: none
    Buffer<char> root_done_;                            ///< whether the tree of a row has reached a free column
    std::vector<int> path_, reached_, touched_, ends_;  ///< rows; columns that are settled, have a distance, end paths
    std::vector<std::pair<double, int>> heap_;          ///< distances and columns, the least first
};

}  // namespace hyperplane
