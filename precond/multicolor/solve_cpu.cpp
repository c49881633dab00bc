// SPDX-License-Identifier: BSD-3-Clause
// Multicolour triangular solves on a CPU for a linear colouring: all loops run along places, so arrays are contiguous.
#include <algorithm>

#include "core/vector/run_kernel.hpp"
#include "precond/multicolor/multicolor.hpp"

namespace hyperplane {
namespace {

/// The products that are summed for a row at the places of a piece. Those in reduced precision are widened first.
class Terms {
public:
    /// Largest number of places in a piece, chosen such that a piece stays in the cache.
    static Index most(FactorStorage storage) { return is_reduced(storage) ? most_widened : 2048; }

    /// An empty list, with scratch memory for `terms` widened terms.
    Terms(FactorStorage storage, const StoredView& factors, int terms) : storage_(storage), factors_(factors) {
        list().clear();
        if (is_reduced(storage)) wide().resize(std::size_t(terms) * most_widened);
    }
    void clear() const { list().clear(); }
    /// Adds the product of a coefficient and x at the places [begin, end) of the piece. The piece's coefficients begin
    /// at index `from`, the exponents of their rows at index `scales`.
    void add(Index from, Index scales, const double* x, int begin, int end) const {
        if (!is_reduced(storage_))
            return list().push_back({static_cast<const double*>(factors_.values) + from, x, begin, end});
        double* const to = wide().data() + list().size() * most_widened;
        const int count = end - begin;
        if (storage_ == FactorStorage::single_precision)
            widen(static_cast<const float*>(factors_.values) + from + begin, nullptr, count, to + begin);
        else
            widen(static_cast<const Half*>(factors_.values) + from + begin, factors_.exponents + scales + begin, count,
                  to + begin);
        list().push_back({to, x, begin, end});
    }
    static std::vector<RunTerm>& list() {
        thread_local std::vector<RunTerm> mine;
        return mine;
    }

private:
    static constexpr Index most_widened = 256;
    static std::vector<double>& wide() {
        thread_local std::vector<double> mine;
        return mine;
    }

    FactorStorage storage_;
    StoredView factors_;
};

/// Calls body(first, count) for consecutive pieces of a range of places.
template <class Body>
void for_pieces(const Context& context, ColouredPoints::Range places, int dof, Index piece, const Body& body) {
    const Index begin = places.begin, end = places.end;
#pragma omp parallel for schedule(static) num_threads(context.threads_for((end - begin) * dof))
    for (Index first = begin; first < end; first += piece) body(first, int(std::min(piece, end - first)));
}

/// Calls body(slot in coloured order, slot of the layout) for every place except those of other ranks. The slot of the
/// layout is -1 if the place is empty.
template <class Body>
void for_places(const Context& context, const ColouredShape& shape, const Layout& layout, const Body& body) {
    const Grid& grid = shape.grid;
    const Index colours = shape.colours, end = colours * shape.stride, lines_of_grid = Index(grid.ny) * grid.nz;
    const Index begin_line = Index(grid.ny) * layout.begin_plane(), end_line = Index(grid.ny) * layout.end_plane();
    const bool natural = layout.kind() == LayoutKind::natural;
    const auto number = [&](Index at) {
        return shape.line * (at % grid.ny) + shape.plane * (at / grid.ny) - shape.base;
    };
    const auto slot_of = [&](Index n) { return n % colours * shape.stride + n / colours; };
#pragma omp parallel for schedule(static) num_threads(context.threads_for(layout.slots()))
    for (Index at = begin_line; at < end_line; ++at) {
        const Index first = number(at), next = at + 1 < lines_of_grid ? number(at + 1) : end;
        const int j = int(at % grid.ny), k = int(at / grid.ny);
        const Index home = layout.slot({0, j, k});
        for (int begin = 0; begin < std::min(int(colours), grid.nx); ++begin) {
            Index slot = slot_of(first + begin);
            for (int i = begin; i < grid.nx; i += int(colours))
                body(slot++, natural ? home + i : layout.slot({i, j, k}));
        }
        for (Index n = first + grid.nx; n < next; ++n) body(slot_of(n), Index(-1));
    }
}

}  // namespace

void Multicolor::apply_cpu(const Vector& r, Vector& z) const {
    const ColouredShape& shape = points_->shape();
    for_places(context_, shape, layout_, [&](Index slot, Index home) {
        for (int c = 0; c < dof_; ++c) v_[c * shape.slots + slot] = home < 0 ? 0.0 : r.component(c)[home];
    });
    const auto exchange = [&](Buffer<double>& vector, int colour) {
        std::vector<double*> components;
        for (int c = 0; c < dof_; ++c) components.push_back(vector.data() + c * shape.slots + colour * shape.stride);
        points_->exchange(context_, layout_, colour, components);
    };
    for (int colour = 1; colour < colours(); ++colour) {
        exchange(v_, colour - 1);
        lower_cpu(colour);
    }
    for (int colour = colours(); colour-- > 0;) {
        if (colour < colours() - 1) exchange(w_, colour + 1);
        upper_cpu(colour);
    }
    for_places(context_, shape, layout_, [&](Index slot, Index home) {
        for (int c = 0; home >= 0 && c < dof_; ++c) z.component(c)[home] = w_[c * shape.slots + slot];
    });
}

void Multicolor::lower_cpu(int colour) const {
    const ColouredView& points = points_->host();
    const Index slots = points_->shape().slots, stride = points_->shape().stride;
    const FactorStorage storage = options_.storage;
    for_pieces(context_, points_->owned(layout_, colour), dof_, Terms::most(storage), [&](Index first, int count) {
        const Terms terms(storage, stored(), std::max(1, points.entries) * dof_);
        for (int row = 0; row < dof_; ++row) {
            terms.clear();
            for (int e = 0; e < points.entries; ++e) {
                const Index at = Index(colour) * points.entries + e;
                if (points.next[at] > colour) continue;
                const Index there = first + points.shift[at];
                const int begin = int(std::clamp<Index>(-there, 0, count));
                const int end = int(std::clamp<Index>(stride - there, begin, count));
                for (int col = 0; col < dof_; ++col)
                    terms.add(points.block[at] + (row * dof_ + col) * stride + first,
                              exponent(0, row, colour * stride + first),
                              v_.data() + col * slots + points.next[at] * stride + there, begin, end);
            }
            double* v = v_.data() + row * slots + colour * stride + first;
            accumulate<-1>(Terms::list(), v, v, count);
        }
    });
}

void Multicolor::upper_cpu(int colour) const {
    const ColouredView& points = points_->host();
    const Index slots = points_->shape().slots, stride = points_->shape().stride;
    const FactorStorage storage = options_.storage;
    for_pieces(context_, points_->owned(layout_, colour), dof_, Terms::most(storage), [&](Index first, int count) {
        const Terms terms(storage, stored(), std::max(1, points.entries) * dof_);
        for (int row = 0; row < dof_; ++row) {
            double* w = w_.data() + row * slots + colour * stride + first;
            terms.clear();
            for (int col = 0; col < dof_; ++col)
                terms.add(points.inverse[colour] + (row * dof_ + col) * stride + first,
                          exponent(1, row, colour * stride + first), v_.data() + col * slots + colour * stride + first,
                          0, count);
            accumulate<+1>(Terms::list(), nullptr, w, count);
            terms.clear();
            for (int e = 0; e < points.entries; ++e) {
                const Index at = Index(colour) * points.entries + e, next = points.next[at];
                if (next < colour) continue;
                const Index there = first + points.shift[at];
                const int begin = int(std::clamp<Index>(-there, 0, count));
                const int end = int(std::clamp<Index>(stride - there, begin, count));
                const Index mirror = next * points.entries + points.entries - 1 - e;
                const bool kept_here = points.block[at] >= 0;
                for (int col = 0; col < dof_; ++col)
                    terms.add(
                        kept_here ? points.block[at] + (row * dof_ + col) * stride + first
                                  : points.block[mirror] + (col * dof_ + row) * stride + there,
                        kept_here ? exponent(2, row, colour * stride + first) : exponent(0, col, next * stride + there),
                        w_.data() + col * slots + next * stride + there, begin, end);
            }
            accumulate<-1>(Terms::list(), w, w, count);
        }
    });
}

}  // namespace hyperplane
