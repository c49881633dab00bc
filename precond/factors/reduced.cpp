// SPDX-License-Identifier: BSD-3-Clause
#include "precond/factors/reduced.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/device/for_each_element.hpp"
#include "core/device/for_each_point.hpp"
#include "core/ranks/slab_ends.hpp"
#include "precond/factors/known_dof.hpp"

namespace hyperplane {
namespace {

/// Number of values stored for an entry. A GPU copies four bytes at a time; with one unknown a point the number is made
/// even, so that every entry begins at a multiple of four bytes.
Index entry_values(CoefficientOrder places, Index slots, int dof) {
    if (places == CoefficientOrder::apart) return StructMatrix::stride(slots) * dof * dof;
    return (dof == 1 ? (slots + 1) / 2 * 2 : slots) * dof * dof;
}

int kept_entries(int entries, bool symmetric) {
    return symmetric ? entries / 2 + 1 : entries;
}

/// Number of 4-byte words of all values. A GPU copies 16 bytes at a time; four words are added so that a copy that
/// begins at the last value stays within the array.
Index value_words(FactorStorage storage, CoefficientOrder places, Index slots, int entries, int dof, bool symmetric) {
    const Index values = kept_entries(entries, symmetric) * entry_values(places, slots, dof);
    return (values * bytes_of(storage) + 3) / 4 + 4;
}

/// Number of exponents stored for W, G or D^-1; a multiple of four, since a GPU copies them in words of four.
Index exponents_of_part(Index slots, int dof) {
    return (slots * dof + 3) / 4 * 4;
}

/// Whether the factors are D^-1 alone, without rows and exponents of W and G.
bool has_pivots_alone(CoefficientOrder places, int entries) {
    return places == CoefficientOrder::apart && entries == 1;
}

Index exponent_bytes(FactorStorage storage, CoefficientOrder places, Index slots, int entries, int dof) {
    if (storage != FactorStorage::half_scaled) return 0;
    return (has_pivots_alone(places, entries) ? 1 : 3) * exponents_of_part(slots, dof);
}

/// Rounds one row of W, D^-1 or G, which are elements 0, 1 and 2; the loop's count begins at `first_element`. Their
/// exponents are parts 0, 2 and 1.
template <class T>
struct RoundRow {
    FactorView from;
    BasicBlockView<T> to;
    RowExponentView exponents[3];
    RoundingLog* log;
    int dof;
    bool rows_first;  ///< consecutive threads round the rows of one point instead of one row at consecutive slots
    int first_element;
    int first_plane, end_plane;  ///< those that have neighbours
    int first_own, end_own;      ///< the rank's own planes; only their events are logged
    int shift;                   ///< from the number of a plane here to that in the whole grid
    bool rounds_halo;            ///< other planes are rounded, too

    HYPERPLANE_HD static int part_of(int element) { return element == 0 ? 0 : element == 1 ? 2 : 1; }

    /// Calls body(entry, column, value) for row r's coefficients in entries [first, last), zero outside the grid.
    template <class Body>
    HYPERPLANE_HD void for_each(int first, int last, Int3 p, Index slot, int r, const Body& body) const {
        for (int e = first; e < last; ++e) {
            const Int3 q = p + from.offsets[e];
            const bool inside = from.layout.grid().contains(q) && q.z >= first_plane && q.z < end_plane;
            const Index there = inside && !from.unit ? from.layout.slot(q) : slot;
            for (int c = 0; c < dof; ++c) body(e, c, inside ? from.unit_at(e, slot, there, r, c, dof) : 0.0);
        }
    }

    HYPERPLANE_HD void operator()(int at, int counted) const {
        const int element = first_element + counted;
        const int slots = int(from.layout.slots()), part = part_of(element);
        const int slot = rows_first ? at / dof : at % slots, r = rows_first ? at % dof : at / slots;
        const Int3 p = from.layout.point(slot);
        const bool own = p.z >= first_own && p.z < end_own;
        if (!own && !rounds_halo) return;
        const int first = part == 0 ? 0 : part == 2 ? from.lower : from.lower + 1;
        const int last = part == 2 ? first + 1 : first + from.lower;
        RowRounding<T> row;
        if constexpr (RowRounding<T>::scales) {
            for_each(first, last, p, slot, r, [&](int, int, double value) { row.see(value); });
            const RowExponent exponent = row.settle();
            exponents[part].at(slot, r) = exponent;
            if (part == 0 && from.symmetric) exponents[1].at(slot, r) = exponent;
        }
        for_each(first, last, p, slot, r,
                 [&](int e, int c, double value) { to.at(e, slot, r, c) = row.rounded(value); });
        const Index number = from.layout.grid().row({p.x, p.y, p.z + shift}) * dof + r;
        if (own) row.tell(*log, 3 * (unsigned long long)number + element);
    }
};

/// Whether a value is too large for single precision, in which it is `kept`, or becomes zero there.
inline bool is_lost(double value, float kept) {
    return !(std::abs(value) <= double(std::numeric_limits<float>::max())) | ((value != 0.0) & (kept == 0.0f));
}

/// Sums of products of two blocks' coefficients at the points of a run, rounded to single precision. Returns whether a
/// sum is too large, or becomes zero.
bool round_products(const double* const* a, const double* const* b, int terms, int begin, int end, float* rounded) {
    int special = 0;
#pragma omp simd reduction(| : special)
    for (int t = begin; t < end; ++t) {
        double value = a[0][t] * b[0][t];
        for (int k = 1; k < terms; ++k) value += a[k][t] * b[k][t];
        const float kept = float(value);
        rounded[t] = kept;
        special |= is_lost(value, kept);
    }
    return special != 0;
}

/// This rounds values as round_products rounds sums of products.
bool round_values(const double* values, int begin, int end, float* rounded) {
    int special = 0;
#pragma omp simd reduction(| : special)
    for (int t = begin; t < end; ++t) {
        const float kept = float(values[t]);
        rounded[t] = kept;
        special |= is_lost(values[t], kept);
    }
    return special != 0;
}

/// Rounds W, D^-1 and G to single precision by runs of the layout, on a host. A run with a value that is too large, or
/// that becomes zero, is left to RoundRow, which records it: body(slot) then rounds the point's rows.
template <class Body>
void round_by_runs(const Context& context, const FactorView& from, const BasicBlockView<float>& to,
                   const std::vector<Int3>& offsets, int dof, const Body& body) {
    const int last = from.symmetric ? from.lower : int(offsets.size()) - 1;
    for_each_run(context, from.layout, dof * dof, [&](const Run& run) {
        bool special = false;
        const double *a[max_dof], *b[max_dof];
        for (int e = 0; e <= last; ++e) {
            const RunNeighbours near = from.layout.neighbours(run, offsets[e]);
            const int begin = std::min(near.begin, run.count), end = std::max(begin, std::min(near.end, run.count));
            for (int row = 0; row < dof; ++row)
                for (int col = 0; col < dof; ++col) {
                    float* const rounded = &to.at(e, run.slot, row, col);
                    std::fill(rounded, rounded + begin, 0.0f);
                    std::fill(rounded + end, rounded + run.count, 0.0f);
                    if (e == from.lower || from.unit) {
                        const double* const own = e == from.lower ? &from.inverse.at(0, run.slot, row, col)
                                                                  : &from.triangles.at(e, run.slot, row, col);
                        special = round_values(own, begin, end, rounded) || special;
                        continue;
                    }
                    for (int k = 0; k < dof; ++k) {
                        a[k] = e < from.lower ? &from.triangles.at(e, run.slot, row, k)
                                              : &from.inverse.at(0, run.slot, row, k);
                        b[k] = e < from.lower ? &from.inverse.at(0, near.slot, k, col)
                                              : &from.triangles.at(e, run.slot, k, col);
                    }
                    special = round_products(a, b, dof, begin, end, rounded) || special;
                }
        }
        for (int t = 0; special && t < run.count; ++t) body(run.slot + t);
    });
}

/// z = D^-1 r at a point; m is the dof if it is known at compile time, else 0.
template <int m, class T>
struct InverseProduct {
    BasicBlockView<const T> inverse;  ///< entry 0
    RowExponentView exponents;
    const double* in;
    double* out;
    Index slots;  ///< from one component to the next
    int dof;

    HYPERPLANE_HD void operator()(Int3, Index slot) const {
        const int size = m > 0 ? m : dof;
        double own[m > 0 ? m : max_dof];
        for (int c = 0; c < size; ++c) own[c] = in[c * slots + slot];
        for (int r = 0; r < size; ++r) {
            double sum = 0.0;
            for (int c = 0; c < size; ++c) sum += widened(inverse.at(0, slot, r, c)) * own[c];
            if constexpr (RowRounding<T>::scales) sum *= scale_of(exponents.at(slot, r));
            out[r * slots + slot] = sum;
        }
    }
};

}  // namespace

ReducedFactors::ReducedFactors(const Context& context, FactorStorage storage, const Layout& layout,
                               const std::vector<Int3>& offsets, int dof, bool symmetric, CoefficientOrder places)
    : context_(context),
      places_(places),
      storage_(storage),
      layout_(layout),
      host_offsets_(offsets),
      dof_(dof),
      symmetric_(symmetric),
      offsets_(copied_to(context, "factor", offsets)),
      values_(context, "factor",
              value_words(storage, places, layout.slots_in_memory(), int(offsets.size()), dof, symmetric)) {
    const Index slots = layout.slots_in_memory();
    strides_ = blocks_at<const double>(places, nullptr, entry_values(places, slots, dof) / (dof * dof), dof);
    if (storage == FactorStorage::half_scaled)
        exponents_ = Buffer<RowExponent>(context, "factor", exponent_bytes(storage, places, slots, entries(), dof));
}

bool ReducedFactors::serves(FactorStorage storage, const Layout& layout, const std::vector<Int3>& offsets, int dof,
                            bool symmetric) const {
    return storage == storage_ && layout == layout_ && offsets == host_offsets_ && dof == dof_ &&
           symmetric == symmetric_;
}

Index ReducedFactors::bytes(FactorStorage storage, CoefficientOrder places, Index slots, int entries, int dof,
                            bool symmetric) {
    return 4 * value_words(storage, places, slots, entries, dof, symmetric) +
           exponent_bytes(storage, places, slots, entries, dof) + entries * Index(sizeof(Int3));
}

Index ReducedFactors::bytes_of_solves(FactorStorage storage, Index slots, int entries, int dof) {
    const Index exponents = storage == FactorStorage::half_scaled ? 3 * slots * dof : 0;
    return entries * dof * dof * slots * bytes_of(storage) + exponents;
}

RowExponentView ReducedFactors::exponents(int part) const {
    if (storage_ != FactorStorage::half_scaled) return {};
    const Index slots = layout_.slots_in_memory(), halo = layout_.halo_slots(), size = exponents_of_part(slots, dof_);
    RowExponent* const values = exponents_.data();
    if (has_pivots_alone(places_, entries())) return {values + halo, 1, slots};
    if (places_ == CoefficientOrder::apart) return {values + part * size + halo, 1, slots};
    if (part == 0) return {values + halo * dof_, dof_, 1};
    return {values + size + (part - 1) + halo * 2 * dof_, 2 * dof_, 2};
}

template <class T>
void ReducedFactors::round_to(const FactorView& factors, const std::optional<PlanesOfRank>& rank, RoundingLog* log) {
    const int first = has_pivots_alone(places_, entries()) ? 1 : 0, end = symmetric_ || first > 0 ? 2 : 3;
    const bool alone = !layout_.has_neighbours_outside();
    const int begin = layout_.begin_plane(), halo = rank ? rank->halo : 0;
    RoundRow<T> row{factors,
                    {},
                    {exponents(0), exponents(1), exponents(2)},
                    log,
                    dof_,
                    places_ == CoefficientOrder::together,
                    first,
                    alone ? begin : 0,
                    alone ? layout_.end_plane() : layout_.grid().nz,
                    begin + halo,
                    layout_.end_plane() - halo,
                    rank ? rank->part.begin_plane() - halo : 0,
                    symmetric_};
    row.from.offsets = offsets_.data();
    row.to = {const_cast<T*>(values<T>().values), strides_.entry_stride, strides_.slot_stride, strides_.row_stride,
              strides_.col_stride};
    if constexpr (std::is_same_v<T, float>)
        if (context_.backend() == Backend::cpu && places_ == CoefficientOrder::apart && first == 0 &&
            factors.triangles.slot_stride == 1 && factors.inverse.slot_stride == 1)
            return round_by_runs(context_, factors, row.to, host_offsets_, dof_, [&](Index slot) {
                for (Index r = 0; r < dof_; ++r)
                    for (int element = 0; element < end; ++element) row(int(r * layout_.slots() + slot), element);
            });
    for_each_element(context_, layout_.slots() * dof_, end - first, "rounding of factors", row);
}

template <class T>
void ReducedFactors::share_lower_rows() {
    int above = 0, below = 0;  // planes of the other ranks that hold blocks of G
    for (int e = lower() + 1; e < entries(); ++e) {
        above = std::max(above, host_offsets_[std::size_t(e)].z);
        below = std::max(below, -host_offsets_[std::size_t(e)].z);
    }
    const bool scaled = storage_ == FactorStorage::half_scaled;
    const Index bytes_of_slot = lower() * dof_ * dof_ * Index(sizeof(T)) + (scaled ? dof_ : 0);
    const auto room = [&](int planes) {
        return std::vector<double>(std::size_t(planes * layout_.slots_of_plane() * bytes_of_slot + 7) / sizeof(double));
    };
    // Calls body(address in a message, values, bytes) for the rows in some planes from a slot on.
    const auto visit = [&](std::vector<double>& message, Index slot, int planes, const auto& body) {
        char* at = reinterpret_cast<char*>(message.data());
        const auto add = [&](auto* values) {
            const Index bytes = planes * layout_.slots_of_plane() * Index(sizeof *values);
            if (bytes > 0) body(at, values, std::size_t(bytes));
            at += bytes;
        };
        for (int e = 0; e < lower(); ++e)
            for (int r = 0; r < dof_; ++r)
                for (int c = 0; c < dof_; ++c) add(const_cast<T*>(&values<T>().at(e, slot, r, c)));
        for (int r = 0; scaled && r < dof_; ++r) add(&of_lower().at(slot, r));
    };
    const auto pack = [](char* at, const auto* from, std::size_t bytes) { std::memcpy(at, from, bytes); };
    const auto unpack = [](const char* at, auto* to, std::size_t bytes) { std::memcpy(to, at, bytes); };
    const Index end = layout_.slots(), plane = layout_.slots_of_plane();
    std::vector<double> first = room(above), last = room(below), from_above = room(above), from_below = room(below);
    visit(first, 0, above, pack);
    visit(last, end - below * plane, below, pack);
    exchange_arrays(context_, {{first.data()}, Index(first.size()), {from_below.data()}, Index(from_below.size())},
                    {{last.data()}, Index(last.size()), {from_above.data()}, Index(from_above.size())});
    if (layout_.end_plane() < layout_.grid().nz) visit(from_above, end, above, unpack);
    if (layout_.begin_plane() > 0) visit(from_below, -below * plane, below, unpack);
}

Rounding ReducedFactors::round(const FactorView& factors, const std::optional<PlanesOfRank>& rank) {
    const bool single = storage_ == FactorStorage::single_precision;
    const Rounding met = rounding_by(context_, rank ? rank->part : layout_, dof_, 3, [&](RoundingLog* log) {
        single ? round_to<float>(factors, rank, log) : round_to<Half>(factors, rank, log);
    });
    if (symmetric_ && layout_.is_part() && layout_.has_neighbours_outside())
        single ? share_lower_rows<float>() : share_lower_rows<Half>();
    return met;
}

template <int m, class T>
void ReducedFactors::inverse_product(const Vector& r, Vector& z) const {
    const InverseProduct<m, T> body{values<T>().entry(lower()), of_inverse(), r.data(), z.data(),
                                    layout_.slots_in_memory(),  dof_};
    for_each_point(context_, layout_, "product with pivots", body);
}

template <class T>
void ReducedFactors::inverse_product(const Vector& r, Vector& z) const {
    with_known_dof<1, 2, 3, 4, 5, 6, 7, 8>(dof_, [&](auto m) { inverse_product<m.value, T>(r, z); });
}

void ReducedFactors::apply_inverse(const Vector& r, Vector& z) const {
    storage_ == FactorStorage::single_precision ? inverse_product<float>(r, z) : inverse_product<Half>(r, z);
}

Index ReducedFactors::bytes_of_apply_inverse(FactorStorage storage, Index slots, int dof) {
    const Index unknowns = slots * dof, scales = storage == FactorStorage::half_scaled ? unknowns : 0;
    return unknowns * dof * bytes_of(storage) + scales + 2 * unknowns * Index(sizeof(double));
}

}  // namespace hyperplane
