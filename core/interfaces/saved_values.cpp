// SPDX-License-Identifier: BSD-3-Clause
#include "core/interfaces/saved_values.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.hpp"
#include "core/ranks/communicator.hpp"

namespace hyperplane {
namespace {

constexpr double no_more = -1.0;  ///< what is asked for when the first rank has read all

}  // namespace

SavedValues::SavedValues(std::vector<double> values) : size_(Index(values.size())) {
    read_ = [all = std::make_shared<const std::vector<double>>(std::move(values))](
                Index first, Index count, double* to) { std::copy_n(all->data() + first, count, to); };
}

Index SavedValues::piece() const {
    constexpr Index most = 1 << 17;
    if (!part_) return std::min(most, size_);
    Index rows = 1;
    for (std::size_t rank = 0; rank + 1 < part_->begins.size(); ++rank)
        rows = std::max(rows, part_->begins[rank + 1] - part_->begins[rank]);
    return std::min(std::max<Index>(1, most / part_->dof), rows) * part_->dof;
}

void SavedValues::read(Index first, Index count, double* to) const {
    if (count == 0) return;
    part_ ? read_part(first / part_->dof, count / part_->dof, to) : read_(first, count, to);
}

void SavedValues::for_each_piece(const std::function<void(Index first, const std::vector<double>& piece)>& take) const {
    std::vector<double> some;
    for (Index first = 0; first < size_; first += Index(some.size())) {
        some.resize(std::size_t(std::min(piece(), size_ - first)));
        read(first, Index(some.size()), some.data());
        take(first, some);
    }
}

std::vector<double> SavedValues::all() const {
    if (part_) throw Error(ExitCode::internal, "all values of a vector were asked for, of which ranks have parts");
    std::vector<double> values(static_cast<std::size_t>(size_));
    if (size_ > 0) read_(0, size_, values.data());
    return values;
}

/// The values of those of the rows which this rank has, in the order of the rows.
std::vector<double> SavedValues::own_of(Index first_row, Index rows) const {
    const Part& part = *part_;
    std::vector<double> mine;
    if (!part.order) {
        const Index from = std::max(first_row, part.begin()), to = std::min(first_row + rows, part.end());
        if (from >= to) return mine;
        mine.resize(std::size_t((to - from) * part.dof));
        read_((from - part.begin()) * part.dof, Index(mine.size()), mine.data());
        return mine;
    }
    for (Index row = first_row; row < first_row + rows; ++row) {
        const Index place = part.place(row);
        if (place < part.begin() || place >= part.end()) continue;
        mine.resize(mine.size() + std::size_t(part.dof));
        read_((place - part.begin()) * part.dof, part.dof, mine.data() + mine.size() - part.dof);
    }
    return mine;
}

void SavedValues::read_part(Index first_row, Index rows, double* to) const {
    const Part& part = *part_;
    const int size = part.ranks->size();
    if (part.ranks->rank() != 0) throw Error(ExitCode::internal, "a rank after the first read another rank's values");
    const auto owner = [&](Index row) {
        const auto after = std::upper_bound(part.begins.begin(), part.begins.end() - 1, part.place(row));
        return int(after - part.begins.begin()) - 1;
    };
    std::vector<Index> counts(std::size_t(size), 0);
    for (Index row = first_row; row < first_row + rows; ++row) counts[std::size_t(owner(row))] += part.dof;
    std::vector<std::vector<double>> of_ranks(static_cast<std::size_t>(size));
    for (int rank = 1; rank < size; ++rank)
        if (counts[std::size_t(rank)] > 0)
            part.ranks->send(rank, std::array{double(part.number), double(first_row), double(rows)});
    of_ranks[0] = own_of(first_row, rows);
    for (int rank = 1; rank < size; ++rank)
        if (counts[std::size_t(rank)] > 0) {
            of_ranks[std::size_t(rank)].resize(std::size_t(counts[std::size_t(rank)]));
            part.ranks->receive(rank, of_ranks[std::size_t(rank)]);
        }
    std::vector<const double*> next;
    for (const std::vector<double>& values : of_ranks) next.push_back(values.data());
    for (Index row = first_row; row < first_row + rows; ++row, to += part.dof) {
        const double*& values = next[std::size_t(owner(row))];
        std::copy_n(values, part.dof, to);
        values += part.dof;
    }
}

void SavedValues::answer(const std::vector<const SavedValues*>& values) const {
    Communicator& ranks = *part_->ranks;
    for (;;) {
        std::array<double, 3> asked{};
        ranks.receive(0, asked);
        if (asked[0] == no_more) return;
        ranks.send(0, values.at(std::size_t(asked[0]))->own_of(Index(asked[1]), Index(asked[2])));
    }
}

void SavedValues::read_on_first_rank(const std::vector<const SavedValues*>& values, const std::function<void()>& read) {
    const SavedValues* a_part = nullptr;
    for (std::size_t at = 0; at < values.size(); ++at)
        if (values[at]->part_) a_part = values[at], a_part->part_->number = Index(at);
    if (!a_part) return read();
    Communicator& ranks = *a_part->part_->ranks;
    if (ranks.rank() > 0) return a_part->answer(values);
    const auto end = [&] {
        for (int rank = 1; rank < ranks.size(); ++rank) ranks.send(rank, std::array{no_more, 0.0, 0.0});
    };
    try {
        read();
    } catch (const RanksAborted&) {
        throw;
    } catch (...) {
        end();
        throw;
    }
    end();
}

}  // namespace hyperplane
