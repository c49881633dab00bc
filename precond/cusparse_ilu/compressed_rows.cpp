// SPDX-License-Identifier: BSD-3-Clause
#include "precond/cusparse_ilu/compressed_rows.hpp"

#include <limits>

#include "core/device/for_each_point.hpp"
#include "core/error.hpp"
#include "core/matrix/views.hpp"

namespace hyperplane {
namespace {

HYPERPLANE_HD Index clamped(Index value, Index most) {
    return value < 0 ? 0 : value < most ? value : most;
}

/// Number of points before `p` in natural order whose neighbour at offset `o` is inside the grid. All points with such
/// a neighbour form a box.
HYPERPLANE_HD Index neighbours_before(const Grid& g, Int3 p, Int3 o) {
    const Int3 low{o.x < 0 ? -o.x : 0, o.y < 0 ? -o.y : 0, o.z < 0 ? -o.z : 0};
    const Int3 size{g.nx - (o.x < 0 ? -o.x : o.x), g.ny - (o.y < 0 ? -o.y : o.y), g.nz - (o.z < 0 ? -o.z : o.z)};
    if (size.x <= 0 || size.y <= 0 || size.z <= 0) return 0;
    const int j = p.y - low.y, k = p.z - low.z;
    Index count = clamped(k, size.z) * size.y * size.x;
    if (k < 0 || k >= size.z) return count;
    count += clamped(j, size.y) * size.x;
    if (j < 0 || j >= size.y) return count;
    return count + clamped(p.x - low.x, size.x);
}

/// Fills one block row.
struct FillRow {
    Grid grid;
    Layout layout;
    ConstMatrixView a;
    const Int3* offsets;  ///< of the pattern
    const int* a_entry;   ///< a's entry for each entry of the pattern, or -1
    int kept, a_size;     ///< number of entries that are kept; number of entries of a's stencil
    bool blocked, with_pattern;
    int *row_begin, *column;
    double* values;

    HYPERPLANE_HD double value(Int3 p, Index slot, int e, int r, int c) const {
        const int own = a_entry[e];
        if (own < 0) return 0.0;
        if (own < a.stored_entries) return a.at(own, r, c, slot);
        return a.at(a_size - 1 - own, c, r, layout.slot(p + offsets[e]));
    }

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        const int m = a.dof;
        Index before = 0;
        int count = 0;
        for (int e = 0; e < kept; ++e) {
            before += neighbours_before(grid, p, offsets[e]);
            count += grid.contains(p + offsets[e]);
        }
        if (with_pattern) begin_rows(grid.row(p), before, count);
        for (int e = 0, at = 0; e < kept; ++e) {
            const Int3 there = p + offsets[e];
            if (!grid.contains(there)) continue;
            const int point = int(grid.row(there));
            if (blocked && with_pattern) column[before + at] = point;
            for (int r = 0; r < m; ++r)
                for (int c = 0; c < m; ++c) {
                    const Index place =
                        blocked ? ((before + at) * m + r) * m + c : before * m * m + (Index(r) * count + at) * m + c;
                    values[place] = value(p, slot, e, r, c);
                    if (!blocked && with_pattern) column[place] = point * m + c;
                }
            ++at;
        }
    }

    HYPERPLANE_HD void begin_rows(Index row, Index before, int count) const {
        const int m = a.dof;
        const bool last = row + 1 == grid.points();
        if (blocked) {
            row_begin[row] = int(before);
            if (last) row_begin[row + 1] = int(before) + count;
            return;
        }
        for (int r = 0; r < m + int(last); ++r) row_begin[row * m + r] = int(before * m * m + Index(r) * count * m);
    }
};

/// Rounds the values of a point's rows.
struct RoundRows {
    Grid grid;
    const int *row_begin, *column;
    const double* values;
    float* singles;
    RoundingLog* log;
    int dof;
    bool blocked;

    HYPERPLANE_HD void operator()(Int3 p, Index) const {
        const Index point = grid.row(p);
        for (int r = 0; r < dof; ++r) {
            const Index own = point * dof + r, line = blocked ? point : own;
            RowRounding<float> row;
            for (Index at = row_begin[line]; at < row_begin[line + 1]; ++at)
                for (int c = 0; c < (blocked ? dof : 1); ++c) {
                    const Index place = blocked ? (at * dof + r) * dof + c : at;
                    const double value = values[place];
                    singles[place] = row.rounded(value);
                    const bool diagonal = (blocked ? Index(column[at]) * dof + c : column[at]) == own;
                    if (diagonal && fabs(value) < std::numeric_limits<float>::min()) row.refuse(value);
                }
            row.tell(*log, (unsigned long long)(own));
        }
    }
};

/// A power of two between a norm, whose square is given, and twice that norm; 1 without a norm that is usable.
HYPERPLANE_HD double unit_near(const double* square) {
    if (!square || !(*square > 0.0) || !PivotRule::is_number(*square)) return 1.0;
    int exponent;
    frexp(*square, &exponent);
    return power_of_two(exponent >= 0 ? (exponent + 1) / 2 : exponent / 2);
}

template <class T>
struct CopyToRows {
    Grid grid;
    ConstVectorView x;
    T* rows;
    const double* square;
    int dof;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        const double factor = 1.0 / unit_near(square);
        for (int c = 0; c < dof; ++c) rows[grid.row(p) * dof + c] = T(factor * x.at(slot, c));
    }
};

template <class T>
struct CopyFromRows {
    Grid grid;
    const T* rows;
    VectorView x;
    const double* square;
    int dof;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        const double factor = unit_near(square);
        for (int c = 0; c < dof; ++c) x.at(slot, c) = factor * double(rows[grid.row(p) * dof + c]);
    }
};

/// The same between vectors without a grid, whose rows are in one order.
template <class From, class To>
struct CopyPlainRows {
    const From* from;
    To* to;
    int dof;

    HYPERPLANE_HD void operator()(Int3, Index row) const {
        for (int c = 0; c < dof; ++c) to[row * dof + c] = To(from[row * dof + c]);
    }
};

struct CopyFromPlaces {
    const Index* source;
    const double* a;
    double* values;

    HYPERPLANE_HD void operator()(Int3, Index at) const { values[at] = source[at] < 0 ? 0.0 : a[source[at]]; }
};

/// Where the blocks of a row that are kept end in the pattern, and the number of all that are kept.
Index end_of(const FilledPattern& pattern, RowPart part, Index row) {
    return part == RowPart::lower ? pattern.diagonal[row] + 1 : pattern.pattern->row_begin()[row + 1];
}
Index blocks_of(const FilledPattern& pattern, RowPart part) {
    return part == RowPart::lower ? pattern.lower + pattern.pattern->rows() : pattern.pattern->blocks();
}

Layout plain_rows(Index rows) {
    return Layout(LayoutKind::natural, Grid::of_rows(rows), {});
}

int kept_entries(const Stencil& stencil, RowPart part) {
    return part == RowPart::lower ? stencil.diagonal() + 1 : stencil.size();
}

Index block_count(const Grid& grid, const Stencil& stencil, int kept) {
    Index blocks = 0;
    for (int e = 0; e < kept; ++e) blocks += neighbours_before(grid, {0, 0, grid.nz}, stencil[e]);
    return blocks;
}

}  // namespace

CompressedRows::CompressedRows(const Context& context, const StructMatrix& a, const Stencil& pattern, RowFormat format,
                               RowPart part)
    : format_(format), dof_(a.dof()), kept_(kept_entries(pattern, part)) {
    const Index blocks = block_count(a.grid(), pattern, kept_), scalars = blocks * dof_ * dof_;
    const Index entries = format == RowFormat::bsr ? blocks : scalars;
    const Index rows = format == RowFormat::bsr ? a.grid().points() : a.unknowns();
    count(rows, entries, a.unknowns());
    std::vector<int> a_entry;
    for (const Int3 o : pattern.offsets()) a_entry.push_back(a.stencil().find(o));
    offsets_ = copied_to(context, "compressed rows", pattern.offsets());
    a_entry_ = copied_to(context, "compressed rows", a_entry);
    row_begin_ = Buffer<int>(context, "compressed rows", rows + 1);
    column_ = Buffer<int>(context, "compressed rows", entries);
    scalars_ = scalars;
    fill(a, true);
}

void CompressedRows::count(Index rows, Index entries, Index unknowns) {
    constexpr Index most = std::numeric_limits<int>::max();
    if (entries > most || unknowns >= most)
        throw UsageError("cuSPARSE counts with 32 bits: a matrix of " + std::to_string(entries) +
                         (format_ == RowFormat::bsr ? " blocks" : " entries") + " has more than " +
                         std::to_string(most) + "; use struct_ilu, sync_free_ilu or a smaller system");
    rows_ = int(rows);
    entries_ = int(entries);
}

CompressedRows::CompressedRows(const Context& context, const BsrMatrix& a, const FilledPattern& pattern,
                               RowFormat format, RowPart part)
    : format_(format), dof_(a.dof()) {
    const int m = dof_;
    const bool blocked = format == RowFormat::bsr;
    const BlockPattern &factors = *pattern.pattern, &own = *a.pattern();
    const Index blocks = blocks_of(pattern, part);
    scalars_ = blocks * m * m;
    count(blocked ? factors.rows() : factors.rows() * m, scalars_, factors.rows() * m);
    if (blocked) entries_ = int(blocks);
    const Context host = context.host();
    Buffer<int> row_begin(host, "compressed rows", rows_ + 1), column(host, "compressed rows", entries_);
    Buffer<Index> source(host, "compressed rows", scalars_);
    std::vector<Index> from;  // of the row's blocks: the place in a, or -1
    Index before = 0;         // blocks of the rows before
    for (Index row = 0; row < factors.rows(); ++row) {
        const Index begin = factors.row_begin()[row], kept = end_of(pattern, part, row) - begin;
        from.assign(std::size_t(kept), -1);
        for (Index at = own.row_begin()[row]; at < own.row_begin()[row + 1]; ++at)
            if (const Index place = pattern.place_of(row, at); place >= 0 && place < begin + kept)
                from[place - begin] = at;
        for (int r = 0; r < m; ++r) {
            if (!blocked) row_begin[row * m + r] = int(before * m * m + r * kept * m);
            for (Index k = 0; k < kept; ++k)
                for (int c = 0; c < m; ++c) {
                    const Index at = blocked ? ((before + k) * m + r) * m + c : before * m * m + (r * kept + k) * m + c;
                    source[at] = from[k] < 0 ? -1 : (from[k] * m + r) * m + c;
                    if (!blocked) column[at] = factors.column()[begin + k] * m + c;
                }
        }
        if (blocked) {
            row_begin[row] = int(before);
            for (Index k = 0; k < kept; ++k) column[before + k] = factors.column()[begin + k];
        }
        before += kept;
    }
    row_begin[rows_] = entries_;
    row_begin_ = moved_to(context, "compressed rows", std::move(row_begin));
    column_ = moved_to(context, "compressed rows", std::move(column));
    source_ = moved_to(context, "compressed rows", std::move(source));
    assign(a);
}

void CompressedRows::assign(const BsrMatrix& a) {
    if (values_.size() == 0) values_ = Buffer<double>(a.context(), "compressed rows", scalars_);
    for_each_point(a.context(), plain_rows(scalars_), "compressed rows",
                   CopyFromPlaces{source_.data(), a.values(), values_.data()});
}

Index CompressedRows::scalars(const FilledPattern& pattern, int dof, RowPart part) {
    return blocks_of(pattern, part) * dof * dof;
}

Index CompressedRows::bytes(const FilledPattern& pattern, int dof, RowFormat format, RowPart part) {
    const Index blocks = blocks_of(pattern, part), scalars = blocks * dof * dof;
    const bool blocked = format == RowFormat::bsr;
    return 16 * scalars + 4 * (blocked ? blocks : scalars) + 4 * (pattern.pattern->rows() * (blocked ? 1 : dof) + 1);
}

void CompressedRows::assign(const StructMatrix& a) {
    fill(a, false);
}

void CompressedRows::fill(const StructMatrix& a, bool with_pattern) {
    Grid grid = a.grid();
    grid.periodic = {false, false, false};
    if (values_.size() == 0) values_ = Buffer<double>(a.context(), "compressed rows", scalars_);
    for_each_point(a.context(), a.layout(), "compressed rows",
                   FillRow{grid, a.layout(), view(a), offsets_.data(), a_entry_.data(), kept_, a.stencil().size(),
                           format_ == RowFormat::bsr, with_pattern, row_begin_.data(), column_.data(), values_.data()});
}

Rounding CompressedRows::round(const Context& context, const Grid& grid) {
    if (singles_.size() == 0) singles_ = Buffer<float>(context, "compressed rows", scalars_);
    const Rounding met = rounding_by(context, grid, dof_, 1, [&](RoundingLog* log) {
        for_each_point(
            context, Layout(LayoutKind::natural, grid, {}), "rounding of compressed rows",
            RoundRows{grid, row_begin(), column(), values(), singles(), log, dof_, format_ == RowFormat::bsr});
    });
    values_ = {};
    return met;
}

Index CompressedRows::scalars(const Grid& grid, const Stencil& stencil, int dof, RowPart part) {
    return block_count(grid, stencil, kept_entries(stencil, part)) * dof * dof;
}

Index CompressedRows::bytes(const Grid& grid, const Stencil& stencil, int dof, RowFormat format, RowPart part,
                            Index value_bytes) {
    const Index values = scalars(grid, stencil, dof, part);
    const bool blocked = format == RowFormat::bsr;
    return value_bytes * values + 4 * (blocked ? values / (dof * dof) : values) +
           4 * (grid.points() * (blocked ? 1 : dof) + 1);
}

template <class T>
void to_rows(const Vector& x, T* rows, const double* square) {
    if (!x.space().has_grid())
        return for_each_point(x.context(), plain_rows(x.space().block_rows()), "vector to rows",
                              CopyPlainRows<double, T>{x.data(), rows, x.dof()});
    for_each_point(x.context(), x.layout(), "vector to rows",
                   CopyToRows<T>{x.layout().grid(), view(x), rows, square, x.dof()});
}
template void to_rows(const Vector&, double*, const double*);
template void to_rows(const Vector&, float*, const double*);

template <class T>
void from_rows(const T* rows, Vector& x, const double* square) {
    if (!x.space().has_grid())
        return for_each_point(x.context(), plain_rows(x.space().block_rows()), "vector from rows",
                              CopyPlainRows<T, double>{rows, x.data(), x.dof()});
    for_each_point(x.context(), x.layout(), "vector from rows",
                   CopyFromRows<T>{x.layout().grid(), rows, view(x), square, x.dof()});
}
template void from_rows(const double*, Vector&, const double*);
template void from_rows(const float*, Vector&, const double*);

}  // namespace hyperplane
