// SPDX-License-Identifier: BSD-3-Clause
// Whole lines of the wavefront solves on a CPU, where each point has one unknown and depends on the adjacent one of its
// line: one pass over memory (precond/walks/line_blocks.hpp).
#pragma once

#include <algorithm>
#include <cstdlib>
#include <type_traits>
#include <utility>
#include <vector>

#include "precond/walks/line_blocks.hpp"
#include "precond/walks/run_pieces.hpp"

namespace hyperplane::wavefront_cpu {

/// The lines of one solve read the coefficients of the entries [first, last) of a triangle, and x. T is the type
/// of coefficients, X that of x, double or float; f.address(e, ahead) is that of the coefficient of entry e for slot 0,
/// whose neighbour is `ahead` slots ahead. Of lines that are known to be equal one is read.
template <class T, class X = T>
class LineReads {
public:
    template <class Factors, class AnyVector>
    LineReads(const Factors& f, int first, int last, const AnyVector& x) : layout_(f.layout), dof_(f.dof) {
        if (f.dof > 1 || layout_.kind() != LayoutKind::natural) return;
        int along = 0;
        for (int e = first; e < last; ++e) {
            const Int3 o = f.stencil[e];
            const Index ahead = layout_.distance(o);
            const T* const a = f.address(e, ahead);
            const Entry entry{o, f.stores(e) ? Int3{} : o, f.lines(), a, x.data() + ahead};
            if (f.along_run(e)) {
                ++along;
                along_ = entry;
            } else {
                entries_.push_back(entry);
            }
        }
        inverse_ = f.inverse(0, 0, 0);
        pivot_lines_ = f.pivot_lines();
        usable_ = along == 1 && std::abs(along_.offset.x) == 1;
        // Offsets reach so few planes that these are found quickly.
        const auto has = [&](int plane) {
            const RunNeighbours near =
                layout_.neighbours({{0, 0, layout_.begin_plane()}, 1, 0}, {0, 0, plane - layout_.begin_plane()});
            return near.begin < near.end;
        };
        first_plane_ = layout_.begin_plane(), end_plane_ = layout_.end_plane();
        for (int reach = f.stencil.planes(); reach > 0 && has(first_plane_ - 1); --reach) --first_plane_;
        for (int reach = f.stencil.planes(); reach > 0 && has(end_plane_); --reach) ++end_plane_;
    }

    /// Adds the products of A and x, before those of the triangle. A has the triangle's layout.
    template <class Matrix, class AnyVector>
    void add_products(const Matrix& a, const AnyVector& x) {
        std::vector<Entry> all;
        for (int e = 0; e < a.stencil().size(); ++e) {
            const Int3 o = a.stencil()[e];
            const Index ahead = layout_.distance(o);
            all.push_back({o, a.stores(e) ? Int3{} : o, if_they_save(a.equal_lines()),
                           a.along({{}, 0, 0}, {0, 0, ahead}, e, 0, 0), x.data() + ahead});
        }
        entries_.insert(entries_.begin(), all.begin(), all.end());
    }
    /// Whether list() returns true for all pieces of all lines.
    bool fits_all(bool descending) const {
        if (!usable_ || int(entries_.size()) > most_line_terms) return false;
        const int nx = layout_.grid().nx;
        bool fits = true;
        for (int t = 0; t < nx; t += piece_length(dof_)) {
            const Run piece{{t, 0, 0}, std::min(piece_length(dof_), nx - t), t};
            fits = fits && fits_along(piece, descending);
            for (const Entry& entry : entries_) fits = fits && fits_line(along_x(piece, entry.offset.x));
        }
        return fits;
    }

    /// Lists the products of a piece of a line in `terms`, but for that along the line. Returns false where the piece
    /// is too short for solve_line, or the triangle is not of this kind.
    bool list(const Run& run, bool descending, std::vector<BasicRunTerm<T, X>>& terms) const {
        if (!usable_) return false;
        bool fits = fits_along(run, descending);
        terms.clear();
        for (const Entry& entry : entries_) {
            const int j = run.first.y + entry.offset.y, k = run.first.z + entry.offset.z;
            if (j < 0 || j >= layout_.grid().ny || k < first_plane_ || k >= end_plane_) continue;
            const RunNeighbours near = along_x(run, entry.offset.x);
            fits = fits && fits_line(near);
            terms.push_back({entry.of_line(run), entry.x + run.slot, near.begin, near.end});
        }
        return fits;
    }
    RunNeighbours along_line(const Run& run) const { return along_x(run, along_.offset.x); }
    const T* along(const Run& run) const { return along_.of_line(run); }
    const T* inverse(const Run& run) const {
        return inverse_ + run.slot + (pivot_lines_ ? pivot_lines_->shift(run.first.y, run.first.z) : 0);
    }

private:
    /// The blocks of a descending piece begin at its last position only if no other piece follows.
    bool fits_along(const Run& run, bool descending) const {
        const RunNeighbours along = along_line(run);
        return fits_line(along) && (!descending || run.count % detail::lanes == 0 || along.end < run.count);
    }
    struct Entry {
        Int3 offset, stored;  ///< to the neighbour, and to the point where the coefficient is stored
        const EqualLines* lines;
        const T* a;  ///< for slot 0, like x
        const X* x;

        /// The coefficients of a piece of a line.
        const T* of_line(const Run& run) const {
            return a + run.slot + (lines ? lines->shift(run.first.y + stored.y, run.first.z + stored.z) : 0);
        }
    };

    RunNeighbours along_x(const Run& run, int x) const {
        const int first = run.first.x + x;
        return {std::max(0, -first), std::min(run.count, layout_.grid().nx - first), 0};
    }

    const Layout& layout_;
    int dof_;
    std::vector<Entry> entries_;
    Entry along_{};
    const T* inverse_ = nullptr;
    const EqualLines* pivot_lines_ = nullptr;
    int first_plane_ = 0, end_plane_ = 0;
    bool usable_ = false;
};

/// y_t = d_t (s_t - e_t y_{t-1}), where e is valid in [begin, end).
struct LowerBlocks {
    const double *d, *e;
    int begin, end;
    template <class Take>
    HYPERPLANE_INLINE Recurrence<detail::Lanes> at(const Take& take, int t, int count, detail::Lanes s) const {
        const detail::Lanes pivot = take(d, t, 0, count);
        return {-(pivot * take(e, t, begin, end)), pivot * s};
    }
};

/// z_t = y_t - d_t (s_t + f_t z_{t+1}), where f is valid in [begin, end), and z may overwrite y.
struct UpperBlocks {
    const double *d, *f, *y;
    int begin, end;
    template <class Take>
    HYPERPLANE_INLINE Recurrence<detail::Lanes> at(const Take& take, int t, int count, detail::Lanes s) const {
        const detail::Lanes pivot = take(d, t, 0, count);
        return {-(pivot * take(f, t, begin, end)), detail::fused(-pivot, s, take(y, t, 0, count))};
    }
};

/// The same with unit triangles: v_t = s_t - w_t v_{t-1}, and z_t = d_t v_t - s_t - g_t z_{t+1}.
template <class T>
struct UnitLowerBlocks {
    const T* w;
    int begin, end;
    template <class Take>
    HYPERPLANE_INLINE Recurrence<detail::Lanes> at(const Take& take, int t, int /*count*/, detail::Lanes s) const {
        return {-take(w, t, begin, end), s};
    }
};
template <class T, class X>
struct UnitUpperBlocks {
    const T *d, *g;
    const X* v;
    int begin, end;
    template <class Take>
    HYPERPLANE_INLINE Recurrence<detail::Lanes> at(const Take& take, int t, int count, detail::Lanes s) const {
        return {-take(g, t, begin, end), detail::fused(take(d, t, 0, count), take(v, t, 0, count), -s)};
    }
};

/// Where a line has more terms than solve_line takes: replaces `in` by in + sign times the sum of the first ones, in
/// `s`, and returns the others.
template <int sign>
std::span<const RunTerm> last_terms(std::span<const RunTerm> all, const double*& in, double* s, int count) {
    if (all.size() <= most_line_terms) return all;
    const std::size_t first = all.size() - most_line_terms;
    accumulate<sign>(all.first(first), in, s, count);
    in = s;
    return all.subspan(first);
}

/// The terms of a line, in memory that each thread keeps.
template <class T, class X>
std::vector<BasicRunTerm<T, X>>& terms_of_thread() {
    thread_local std::vector<BasicRunTerm<T, X>> mine;
    return mine;
}

/// The type of a vector's values.
template <class AnyVector>
using ValueOf = std::remove_cvref_t<decltype(*std::declval<const AnyVector&>().data())>;

/// Factors in single precision of one unknown a point; each coefficient is contiguous along a line.
struct SinglesByRun {
    BasicBlockView<const float> values;  ///< W, D^-1 and G
    const Context& context;
    const Layout& layout;
    const Stencil& stencil;
    bool symmetric;
    int dof;

    explicit SinglesByRun(const IluFactors& f)
        : values(f.reduced()->values<float>()),
          context(f.context()),
          layout(f.pattern().layout),
          stencil(f.stencil()),
          symmetric(f.matrix().symmetric()),
          dof(f.matrix().dof()) {}

    const float* address(int entry, Index ahead) const {
        return stores(entry) ? &values.at(entry, 0, 0, 0) : &values.at(stencil.mirror(entry), 0, 0, 0) + ahead;
    }
    const EqualLines* lines() const { return nullptr; }
    const EqualLines* pivot_lines() const { return nullptr; }
    bool stores(int entry) const { return !symmetric || entry <= stencil.diagonal(); }
    const float* inverse(int, int, Index slot) const { return &values.at(stencil.diagonal(), 0, 0, 0) + slot; }
    bool along_run(int entry) const { return stencil[entry].y == 0 && stencil[entry].z == 0; }

    /// The reads of the lower and of the upper solve, with vectors in double or in single precision.
    template <class AnyVector>
    LineReads<float, ValueOf<AnyVector>> lower(const AnyVector& x) const {
        return {*this, 0, stencil.lower_size(), x};
    }
    template <class AnyVector>
    LineReads<float, ValueOf<AnyVector>> upper(const AnyVector& x) const {
        return {*this, stencil.diagonal() + 1, stencil.size(), x};
    }
};

/// Both take a piece of a line of such factors, whose terms are listed; `in`, v and z are for slot 0.
template <class X>
void lower_single_line(const LineReads<float, X>& reads, const std::vector<BasicRunTerm<float, X>>& terms,
                       const Run& run, const X* in, X* v) {
    X* const out = v + run.slot;
    const RunNeighbours near = reads.along_line(run);
    const UnitLowerBlocks<float> line{reads.along(run), near.begin, near.end};
    const double before = near.begin == 0 ? double(out[-1]) : 0.0;
    solve_line<false, -1>(terms, in + run.slot, line, run.count, before, out, nullptr);
}

template <class X>
void upper_single_line(const LineReads<float, X>& reads, const std::vector<BasicRunTerm<float, X>>& terms,
                       const Run& run, X* z) {
    X* const out = z + run.slot;
    const RunNeighbours near = reads.along_line(run);
    const UnitUpperBlocks<float, X> line{reads.inverse(run), reads.along(run), out, near.begin, near.end};
    const double before = near.end == run.count ? double(out[run.count]) : 0.0;
    solve_line<true, +1>(terms, nullptr, line, run.count, before, out, nullptr);
}

}  // namespace hyperplane::wavefront_cpu
