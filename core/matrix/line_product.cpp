// SPDX-License-Identifier: BSD-3-Clause
#include "core/matrix/line_product.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "core/grid/neighbour_slot.hpp"
#include "core/matrix/product_blocks.hpp"
#include "core/vector/rounded_products.hpp"

namespace hyperplane {
namespace {

/// A coefficient as lines read it: the addresses of it and of the value that it multiplies, for slot 0.
struct LineTerm {
    const double *a, *x;
    Int3 o;       ///< to the neighbour
    Index ahead;  ///< slots to the neighbour
    bool own;     ///< the coefficient is stored at the point itself, not at the neighbour
};

/// Consecutive points of a line.
struct Piece {
    Int3 first;
    Index slot;
    int count;
};

}  // namespace

class LineProduct {
public:
    LineProduct(const StructMatrix& a, const EqualLines* lines, const Vector& x)
        : layout_(a.layout()), grid_(a.grid()), lines_(lines) {
        for (const Int3 o : a.stencil().offsets())
            reach_ = {std::max(reach_.x, o.x), std::max(reach_.y, o.y), std::max(reach_.z, o.z)};
        lowest_ = std::max(0, layout_.begin_plane() - layout_.halo());
        highest_ = std::min(grid_.nz, layout_.end_plane() + layout_.halo());
        low_ = (lowest_ - layout_.begin_plane()) * layout_.slots_of_plane();
        high_ = (highest_ - layout_.begin_plane()) * layout_.slots_of_plane();
        for (int row = 0; row < a.dof(); ++row) rows_.push_back(terms_of(a, x, row));
        if (grid_.periodic[0])
            for (int at = 0; at < 2 * reach_.x; ++at) {
                ends_.emplace_back();
                for (int n = 0; n < int(rows_[0].size()); ++n) add_to_end(ends_.back(), n, rows_[0][n], end(at), false);
            }
    }

    /// The points [first, last); `y` has the first value of each component.
    void compute(Index first, Index last, const std::array<double*, max_dof>& y) const {
        for (Index slot = first; slot < last;) {
            const Index line = slot / grid_.nx;
            const Int3 p{int(slot % grid_.nx), int(line % grid_.ny), layout_.begin_plane() + int(line / grid_.ny)};
            const Piece piece{p, slot, int(std::min<Index>(grid_.nx - p.x, last - slot))};
            const bool inner =
                p.y >= reach_.y && p.y < grid_.ny - reach_.y && p.z >= lowest_ + reach_.z && p.z < highest_ - reach_.z;
            for (int row = 0; row < int(rows_.size()); ++row) {
                double* const out = y[row] + (slot - first);
                inner ? inner_line(rows_[row], piece, out) : outer_line(rows_[row], piece, out);
            }
            slot += piece.count;
        }
    }

private:
    static std::vector<LineTerm> terms_of(const StructMatrix& a, const Vector& x, int row) {
        std::vector<LineTerm> list;
        for (int e = 0; e < a.stencil().size(); ++e) {
            const Int3 o = a.stencil()[e];
            const Index ahead = a.layout().distance(o);
            for (int col = 0; col < a.dof(); ++col)
                list.push_back(
                    {a.along({{}, 0, 0}, {0, 0, ahead}, e, row, col), x.component(col) + ahead, o, ahead, a.stores(e)});
        }
        return list;
    }

    /// The x of the points whose neighbours may lie around a periodic x: first those at the beginning of a line.
    int end(int at) const { return at < reach_.x ? at : grid_.nx - 2 * reach_.x + at; }

    /// Adds term `n` of a line to the sum at a point of it.
    void add_to_end(EndOfLine& sum, int n, const LineTerm& term, int x, bool wrapped) const {
        const int qx = x + term.o.x;
        const Index around = qx < 0 ? grid_.nx : qx >= grid_.nx ? -grid_.nx : 0;
        if (around != 0 || wrapped)
            sum.wrapped.push_back({n, term.own ? 0 : around, around});
        else
            sum.inside.push_back(n);
    }

    bool in_memory(int y, int z) const { return y >= 0 && y < grid_.ny && z >= lowest_ && z < highest_; }
    Index shift(int y, int z) const { return lines_ && in_memory(y, z) ? lines_->shift(y, z) : 0; }

    /// A term whose neighbours lie in a line inside the grid, for a piece.
    RunTerm inside(const LineTerm& term, const Piece& piece) const {
        const Int3 q = piece.first + term.o;
        const Int3 stored = term.own ? piece.first : q;
        const Index shifted = lines_ ? lines_->shift(stored.y, stored.z) : 0;
        RunTerm result{term.a + piece.slot + shifted, term.x + piece.slot, 0, piece.count};
        if (rows_.size() > 1) ask_for(result.a + piece.count, piece.count);
        // Beyond the line's ends the coefficient multiplies some value that lies in memory. It is zero, or around a
        // periodic x, where the sum is computed anew.
        const Index of_x = piece.slot + term.ahead, of_a = (term.own ? piece.slot : of_x) + shifted;
        if (q.x < 0 && std::min(of_x, of_a) < low_) result.begin = -q.x;
        if (q.x + piece.count > grid_.nx && std::max(of_x, of_a) + piece.count > high_) result.end = grid_.nx - q.x;
        return result;
    }
    /// A term whose neighbours lie in the line (y, z) around a periodic axis.
    RunTerm around(const LineTerm& term, const Piece& piece, int y, int z) const {
        const Int3 q = piece.first + term.o;
        const Index jump = slot_of_neighbour(layout_, {0, y, z}) - layout_.slot({0, q.y, q.z});
        const Index of_a = term.own ? shift(piece.first.y, piece.first.z) : jump + shift(y, z);
        return {term.a + piece.slot + of_a, term.x + piece.slot + jump, std::max(0, -q.x),
                std::min(piece.count, grid_.nx - q.x)};
    }

    template <class Sum>
    void for_ends(const Piece& piece, const Sum& sum) const {
        for (int at = 0; grid_.periodic[0] && at < 2 * reach_.x; ++at)
            if (const int t = end(at) - piece.first.x; t >= 0 && t < piece.count) sum(at, t);
    }

    /// All neighbours lie in lines inside the grid.
    void inner_line(const std::vector<LineTerm>& row, const Piece& piece, double* out) const {
        thread_local std::vector<RunTerm> terms;
        terms.clear();
        for (const LineTerm& term : row) terms.push_back(inside(term, piece));
        accumulate<+1>(terms, nullptr, out, piece.count);
        for_ends(piece, [&](int at, int t) { out[t] = sum_at_end(ends_[at], terms.data(), t); });
    }

    /// Some lines of neighbours lie outside the grid, or around a periodic axis.
    void outer_line(const std::vector<LineTerm>& row, const Piece& piece, double* out) const {
        thread_local std::vector<RunTerm> terms, all;
        thread_local std::vector<const LineTerm*> of_all;
        thread_local std::vector<char> wraps;
        thread_local EndOfLine at_end;
        terms.clear(), all.clear(), of_all.clear(), wraps.clear();
        for (const LineTerm& term : row) {
            const Int3 q = piece.first + term.o, w = grid_.wrapped({0, q.y, q.z});
            const bool is_inside = in_memory(q.y, q.z);
            if (!is_inside && !grid_.contains(w)) continue;
            all.push_back(is_inside ? inside(term, piece) : around(term, piece, w.y, w.z));
            of_all.push_back(&term), wraps.push_back(!is_inside);
            if (is_inside) terms.push_back(all.back());
        }
        accumulate<+1>(terms, nullptr, out, piece.count);
        for (std::size_t n = 0; n < all.size(); ++n)
            if (const RunTerm& term = all[n]; wraps[n] && term.begin < term.end)
                add_rounded_products(term.a + term.begin, term.x + term.begin, out + term.begin, term.end - term.begin);
        for_ends(piece, [&](int at, int t) {
            at_end.inside.clear(), at_end.wrapped.clear();
            for (int n = 0; n < int(all.size()); ++n) add_to_end(at_end, n, *of_all[n], end(at), wraps[n]);
            out[t] = sum_at_end(at_end, all.data(), t);
        });
    }

    const Layout& layout_;
    const Grid& grid_;
    const EqualLines* lines_;
    Int3 reach_{0, 0, 0};
    int lowest_, highest_;  ///< planes in memory that are inside the grid
    Index low_, high_;      ///< their slots
    std::vector<std::vector<LineTerm>> rows_;
    std::vector<EndOfLine> ends_;  ///< of lines whose neighbours lie in lines inside the grid
};

namespace {

/// Where the values of all components at a slot are.
std::array<double*, max_dof> values_at(Vector& y, Index slot) {
    std::array<double*, max_dof> values{};
    for (int c = 0; c < y.dof(); ++c) values[c] = y.component(c) + slot;
    return values;
}

}  // namespace

const EqualLines* lines_to_follow(const StructMatrix& a) {
    constexpr int shortest_line = 32;
    return a.grid().nx >= shortest_line ? if_they_save(a.equal_lines()) : nullptr;
}

void line_product(const StructMatrix& a, const EqualLines* lines, const Vector& x, Vector& y,
                  FunctionRef<void(Index, Index, int)> done) {
    const LineProduct product(a, lines, x);
    const PlaneSums order(a.space(), 1);
    for_blocks(a, x, order, [&](Index at) {
        const auto [first, count] = order.block(at);
        product.compute(first, first + count, values_at(y, first));
        done(at, first, int(count));
    });
}

PlanesOfResidual::PlanesOfResidual(const StructMatrix& a, const Vector& b, const Vector& x)
    : a_(a), b_(b), product_(std::make_unique<const LineProduct>(a, lines_to_follow(a), x)) {}
PlanesOfResidual::~PlanesOfResidual() = default;

void PlanesOfResidual::compute(int plane, int to, Vector& r) const {
    constexpr Index together = 1024;  // points whose sums stay in the first-level cache until they are subtracted
    const Index nx = a_.grid().nx, size = a_.layout().slots_of_plane();
    const Index length = std::max<Index>(1, together / nx) * nx;
    const Index begin = plane * size, shift = (to - plane) * size;
    for (Index first = begin; first < begin + size; first += length) {
        const Index count = std::min(length, begin + size - first);
        const std::array<double*, max_dof> values = values_at(r, first + shift);
        product_->compute(first, first + count, values);
        for (int c = 0; c < a_.dof(); ++c) {
            const double* const from = b_.component(c) + first;
            for (Index t = 0; t < count; ++t) values[c][t] = from[t] - values[c][t];
        }
    }
}

}  // namespace hyperplane
