// SPDX-License-Identifier: BSD-3-Clause
// Saved values of vectors: how they are taken from one, and put back.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/interfaces/saved_values.hpp"
#include "core/ranks/cuts.hpp"
#include "core/vector/rows_on_host.hpp"

namespace hyperplane {

SavedValues SavedValues::of(const Vector& x, const RowOrder* order) {
    std::vector<double> mine = own_rows(x);
    if (!x.space().is_part()) return order ? order->to_given(mine, x.dof()) : std::move(mine);
    return part_of(x, order, std::move(SavedValues(std::move(mine)).read_));
}

SavedValues SavedValues::view_of(const Vector& x, const RowOrder* order) {
    return part_of(x, order,
                   [&x](Index first, Index count, double* to) { copy_rows(x, first / x.dof(), count / x.dof(), to); });
}

SavedValues SavedValues::part_of(const Vector& x, const RowOrder* order, Read read_own) {
    Part part{x.context().ranks(), {}, x.dof(), order};
    const std::vector<double> first_rows = gathered(x.context(), {double(x.space().first_block_row())});
    part.begins.assign(first_rows.begin(), first_rows.end());
    part.begins.push_back(x.space().all_block_rows());
    SavedValues values;
    values.size_ = x.space().all_block_rows() * x.dof();
    values.read_ = std::move(read_own);
    values.part_ = std::make_shared<Part>(std::move(part));
    return values;
}

void SavedValues::restore(Vector& x, const RowOrder* order) const {
    const Index dof = x.dof(), begin = x.space().first_block_row(), rows = x.space().block_rows();
    const Index all = x.space().all_block_rows() * dof;
    if (size_ != all) throw FileError(fmt::format("a saved vector has {} values, this system's have {}", size_, all));
    HostCopy host(x);
    std::vector<double> some;
    if (part_ || !order) {
        const Index from = part_ ? 0 : begin, most = std::max<Index>(1, piece() / dof);
        for (Index first = 0; first < rows; first += most) {
            const Index count = std::min(most, rows - first);
            some.resize(std::size_t(count * dof));
            read_((from + first) * dof, count * dof, some.data());
            set_rows(host.vector(), first, count, some.data());
        }
    } else {
        const Index most = std::max<Index>(1, piece() / dof);
        for (Index first = 0; first < order->rows(); first += most) {
            const Index count = std::min(most, order->rows() - first);
            some.resize(std::size_t(count * dof));
            read_(first * dof, count * dof, some.data());
            for (Index row = 0; row < count; ++row) {
                const Index place = Index(order->place[first + row]) - begin;
                if (place >= 0 && place < rows) set_rows(host.vector(), place, 1, some.data() + row * dof);
            }
        }
    }
    host.store();
}

}  // namespace hyperplane
