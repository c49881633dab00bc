// SPDX-License-Identifier: BSD-3-Clause
// The rows of a triangle on a CPU, each after all that it depends on: level by level over the threads, part by part
// over the threads if rows of different parts do not depend on each other, or one after another on one thread. What is
// computed for a row does not depend on the choice.
#pragma once

#include <algorithm>

#include "core/graph/parts.hpp"
#include "precond/general/orders/levels.hpp"

namespace hyperplane {

/// Some rows of one level, or all rows in the order of the triangle.
struct RowRange {
    const int* rows;  ///< null: all rows, in the order of `side`
    Index first, last;
    Side side;

    /// Calls body(row) for each row, and ask(row) some places before its turn, unless the rows lie one after the other
    /// in memory.
    template <class Body, class Ask>
    void for_each(const Body& body, const Ask& ask) const {
        if (!rows) return for_each(body);
        constexpr Index places_ahead = 12;
        const Index count = last - first;
        const auto row = [&](Index at) { return Index(rows[side == Side::lower ? first + at : last - 1 - at]); };
        for (Index at = 0; at < std::min(places_ahead, count); ++at) ask(row(at));
        for (Index at = 0; at < count; ++at) {
            if (at + places_ahead < count) ask(row(at + places_ahead));
            body(row(at));
        }
    }
    template <class Body>
    void for_each(const Body& body) const {
        if (rows && side == Side::lower)
            for (Index at = first; at < last; ++at) body(Index(rows[at]));
        else if (rows)
            for (Index at = last; at-- > first;) body(Index(rows[at]));
        else if (side == Side::lower)
            for (Index row = first; row < last; ++row) body(row);
        else
            for (Index row = last; row-- > first;) body(row);
    }
};

/// The order of the rows of one triangle.
class RowWalk {
public:
    RowWalk() = default;
    /// Multiplications of one solve with factors of so many blocks of dof x dof coefficients.
    static Index work_of_solve(Index blocks, int dof) { return blocks / 2 * dof * dof; }
    /// Level by level if there are several threads and levels have so much work that it is worth their barriers.
    /// `work`: multiplications of all rows. `by_level`: level by level in any case.
    RowWalk(const Context& host, const BlockPattern& pattern, Side side, Index work, const std::string& label,
            bool by_level = false)
        : rows_(pattern.rows()), side_(side), threads_(host.threads_for(work)) {
        if (threads_ == 1 && !by_level) return;
        levels_ = levels_of(host, pattern, side, label);
        if (work < work_of_a_level * levels_.levels() && !by_level) threads_ = 1, levels_ = {};
    }

    /// Part by part; the rows of a part are listed in ascending order.
    RowWalk(const GraphParts& parts, Side side, Index work)
        : rows_(parts.part.size()), side_(side), threads_(parts.part.context().threads_for(work)), parts_(&parts) {}

    /// Calls body(RowRange) for parts of the rows.
    template <class Body>
    void for_each_part(const Body& body) const {
        if (parts_) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_)
            for (Index part = 0; part < parts_->count(); ++part)
                body(RowRange{parts_->vertices.data(), parts_->begin[part], parts_->begin[part + 1], side_});
            return;
        }
        if (!goes_by_level()) return body(RowRange{nullptr, 0, rows_, side_});
#pragma omp parallel num_threads(threads_)
        for (Index level = 0; level < levels_.levels(); ++level) {
            const Index begin = levels_.begin[level], count = levels_.begin[level + 1] - begin;
#pragma omp for schedule(static, 1)
            for (int part = 0; part < threads_; ++part)
                body(RowRange{levels_.rows.data(), begin + count * part / threads_,
                              begin + count * (part + 1) / threads_, side_});
        }
    }

    bool goes_by_level() const {
        return levels_.levels() > 0;
    }
    bool goes_by_part() const {
        return parts_ != nullptr;
    }

    /// The bytes that the walks of both triangles hold, at least and at most. `by_level`: as above.
    static Index least_bytes_of_both(Index rows, bool by_level) {
        return by_level && rows > 0 ? 2 * (rows * Index(sizeof(int)) + 2 * Index(sizeof(Index))) : 0;
    }
    static Index most_bytes_of_both(const Context& host, Index rows, Index blocks, int dof, bool by_level = false) {
        const Index kept = rows * Index(sizeof(int)) + (rows + 1) * Index(sizeof(Index));
        return host.threads_for(work_of_solve(blocks, dof)) == 1 && !by_level ? 0 : 2 * kept;
    }
    Index bytes() const {
        return levels_.rows.size() * Index(sizeof(int)) + levels_.begin.size() * Index(sizeof(Index));
    }

private:
    static constexpr Index work_of_a_level = 1 << 15;  ///< a barrier costs as much as some thousand multiplications

    Index rows_ = 0;
    Side side_ = Side::lower;
    int threads_ = 1;
    RowLevels levels_;
    const GraphParts* parts_ = nullptr;  ///< of the caller
};

}  // namespace hyperplane
