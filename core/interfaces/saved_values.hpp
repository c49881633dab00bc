// SPDX-License-Identifier: BSD-3-Clause
// SavedValues: the values of a vector, or a list of numbers, that a state consists of, wherever they are: in memory, in
// a file, or a part of them on each of several ranks. They are read in pieces, so that nobody needs room for all.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>

#include "core/matrix/row_order.hpp"
#include "core/vector/vector.hpp"

namespace hyperplane {

class SavedValues {
public:
    /// Copies the values [first, first + count) to `to`.
    using Read = std::function<void(Index first, Index count, double* to)>;

    SavedValues() = default;
    SavedValues(std::vector<double> values);  // NOLINT: a list is one
    SavedValues(std::initializer_list<double> values) : SavedValues(std::vector<double>(values)) {}
    /// Values that are somewhere else, where anybody can read them at any time.
    SavedValues(Index size, Read read) : size_(size), elsewhere_(true), read_(std::move(read)) {}
    /// A copy of a vector by block row, dof fastest: of places, or with `order` of given rows. Where ranks have parts
    /// of the vector each keeps its own, and every rank must call it.
    static SavedValues of(const Vector& x, const RowOrder* order = nullptr);
    /// These values without a copy, of a vector in the host's memory of which ranks have parts. The vector must outlive
    /// them.
    static SavedValues view_of(const Vector& x, const RowOrder* order = nullptr);

    /// Number of values, of all ranks.
    Index size() const { return size_; }
    /// Whether each of several ranks has a part.
    bool is_part() const { return part_ != nullptr; }
    /// Whether this process has all values in its memory.
    bool in_memory() const { return !is_part() && !elsewhere_; }
    /// How many values are read at once: at most a megabyte, and at most as many as one of the ranks has.
    Index piece() const;
    /// Copies the values [first, first + count), of parts only on the first rank within read_on_first_rank, and only
    /// whole block rows.
    void read(Index first, Index count, double* to) const;
    /// Calls `take` with the values from `first` on, piece by piece.
    void for_each_piece(const std::function<void(Index first, const std::vector<double>& piece)>& take) const;
    /// All values; must not be called where ranks have parts of them.
    std::vector<double> all() const;

    /// Sets x to the values of its rows, of which every rank takes its own. `order` must be the one with which a part
    /// was saved. Throws FileError if the sizes differ.
    void restore(Vector& x, const RowOrder* order = nullptr) const;

    /// Calls `read` on the first rank, where it may read these values, while the other ranks answer what it asks for.
    /// Every rank of values that are parts must call it, with the same list. Without parts it only calls `read`.
    static void read_on_first_rank(const std::vector<const SavedValues*>& values, const std::function<void()>& read);

private:
    struct Part {
        Communicator* ranks;
        std::vector<Index> begins;  ///< [rank]: its first block row in the order of places; then the number of all
        int dof;
        const RowOrder* order;
        Index number = 0;  ///< by which the first rank asks for it
        Index begin() const { return begins[std::size_t(ranks->rank())]; }
        Index end() const { return begins[std::size_t(ranks->rank()) + 1]; }
        Index place(Index row) const { return order ? Index(order->place[row]) : row; }
    };
    static SavedValues part_of(const Vector& x, const RowOrder* order, Read read_own);
    void read_part(Index first_row, Index rows, double* to) const;
    std::vector<double> own_of(Index first_row, Index rows) const;
    void answer(const std::vector<const SavedValues*>& values) const;

    Index size_ = 0;
    bool elsewhere_ = false;
    Read read_;                   ///< of a part, its values alone
    std::shared_ptr<Part> part_;  ///< null: all values can be read here
};

}  // namespace hyperplane
