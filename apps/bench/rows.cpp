// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/rows.hpp"

#include <vector>

#include "core/device/for_each_point.hpp"
#include "core/matrix/views.hpp"
#include "core/random.hpp"
#include "precond/checks/errors.hpp"
#include "precond/walks/random_vector.hpp"

namespace hyperplane {
namespace {

/// Coefficients of a matrix in any CoefficientOrder.
struct Blocks {
    const double* values;
    Index entry_step, row_step, col_step, slot_step;
    int dof, stored_entries;

    HYPERPLANE_HD double at(int entry, int row, int col, Index slot) const {
        return values[entry * entry_step + row * row_step + col * col_step + slot * slot_step];
    }
};

Blocks blocks_of(const StructMatrix& a, CoefficientOrder places) {
    const Index m = a.dof(), slots = a.layout().slots();
    const int stored = a.stored_entries();
    if (places == CoefficientOrder::together) return {a.values(0), m * m * slots, m, 1, m * m, int(m), stored};
    return {a.values(0), m * m * a.stride(), m * a.stride(), a.stride(), 1, int(m), stored};
}

/// The rows of a matrix, with the offsets of its entries.
struct Rows {
    Grid grid;
    Layout layout;
    Blocks a;
    const Int3* offsets;
    int size;

    HYPERPLANE_HD bool has(Int3 p, int e) const { return grid.contains(p + offsets[e]); }
    HYPERPLANE_HD double entry(Int3 p, int e, int r, int c) const {
        if (e < a.stored_entries) return a.at(e, r, c, layout.slot(p));
        return a.at(size - 1 - e, c, r, layout.slot(p + offsets[e]));
    }
    /// out -= sum over entries [first, last) of A_e x(p + o_e).
    HYPERPLANE_HD void subtract(Int3 p, const ConstVectorView& x, int first, int last, double* out) const {
        for (int e = first; e < last; ++e)
            if (has(p, e))
                for (int r = 0; r < a.dof; ++r)
                    for (int c = 0; c < a.dof; ++c) out[r] -= entry(p, e, r, c) * x(p + offsets[e], c);
    }
    /// out = A_e in at one point.
    HYPERPLANE_HD void multiply(Int3 p, int e, const double* in, double* out) const {
        for (int r = 0; r < a.dof; ++r) {
            out[r] = 0.0;
            for (int c = 0; c < a.dof; ++c) out[r] += entry(p, e, r, c) * in[c];
        }
    }
};

/// D^-1.
struct Pivots {
    Blocks a;
    int entry;
    bool unit;  ///< whether the triangles are W and G

    HYPERPLANE_HD void multiply(Index slot, const double* in, double* out) const {
        for (int r = 0; r < a.dof; ++r) {
            out[r] = 0.0;
            for (int c = 0; c < a.dof; ++c) out[r] += a.at(entry, r, c, slot) * in[c];
        }
    }
    /// v = D v
    HYPERPLANE_HD void divide(Index slot, double* v) const {
        divide_by_block(
            a.dof, [&](int r, int c) { return a.at(entry, r, c, slot); }, v);
    }
};

struct RandomRow {
    Grid grid;
    MatrixView a;
    const Int3* offsets;
    int size;
    bool symmetric;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        const int m = a.dof, diagonal = size / 2;
        for (int e = 0; e < a.stored_entries; ++e) {
            if (!grid.contains(p + offsets[e])) continue;
            for (int r = 0; r < m; ++r)
                for (int c = 0; c < m; ++c) {
                    const bool mirrored = symmetric && e == diagonal && c < r;
                    const int i = mirrored ? c : r, j = mirrored ? r : c;
                    const Index counter = ((grid.row(p) * size + e) * m + i) * m + j;
                    const double value = random_symmetric(0, std::uint64_t(counter));
                    a.at(e, r, c, slot) = e == diagonal && r == c ? value + double(size * m) : value;
                }
        }
    }
};

struct SpmvCheck {
    Rows rows;
    ConstVectorView x, y;
    double* most;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        double sum[max_dof];
        for (int r = 0; r < rows.a.dof; ++r) sum[r] = y.at(slot, r);
        rows.subtract(p, x, 0, rows.size, sum);
        for (int r = 0; r < rows.a.dof; ++r) raise(most, magnitude(sum[r]));
    }
};

/// The error of y: y - D^-1 (r - E y), or y - (r - W y).
struct LowerCheck {
    Rows rows;
    Pivots pivots;
    ConstVectorView r, y;
    double* most;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        double sum[max_dof], scaled[max_dof];
        for (int c = 0; c < rows.a.dof; ++c) sum[c] = r.at(slot, c);
        rows.subtract(p, y, 0, rows.size / 2, sum);
        if (!pivots.unit) pivots.multiply(slot, sum, scaled);
        for (int c = 0; c < rows.a.dof; ++c) {
            raise(most, magnitude(y.at(slot, c) - (pivots.unit ? sum : scaled)[c]));
            raise(most + 1, magnitude(y.at(slot, c)));
        }
    }
};

/// The error of z: z - (y - D^-1 F z), or z - (D^-1 y - G z).
struct UpperCheck {
    Rows rows;
    Pivots pivots;
    ConstVectorView y, z;
    double* most;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        double sum[max_dof] = {}, own[max_dof], scaled[max_dof];
        for (int c = 0; c < rows.a.dof; ++c) own[c] = y.at(slot, c);
        rows.subtract(p, z, rows.size / 2 + 1, rows.size, sum);
        pivots.multiply(slot, pivots.unit ? own : sum, scaled);
        for (int c = 0; c < rows.a.dof; ++c) {
            const double expected = scaled[c] + (pivots.unit ? sum[c] : own[c]);
            raise(most, magnitude(z.at(slot, c) - expected));
            raise(most + 1, magnitude(z.at(slot, c)));
        }
    }
};

struct FactorCheck {
    Rows matrix, factors;
    Pivots pivots;
    const int* partner;  ///< [e][l]: u with l + u = e, or -1 if there is none
    Index every;
    double* most;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        if (slot % every != 0) return;
        const int m = matrix.a.dof;
        double v[max_dof], pivoted[max_dof], x[max_dof];
        for (int c = 0; c < m; ++c) v[c] = random_symmetric(3, std::uint64_t(slot * m + c));
        for (int e = 0; e < factors.size; ++e) {
            if (!factors.has(p, e)) continue;
            const int diagonal = factors.size / 2;
            const bool right = e == diagonal || (pivots.unit && e < diagonal);  // X_e D^-1 v in place of X_e v
            double expected[max_dof], found[max_dof];
            if (right) pivots.multiply(factors.layout.slot(p + factors.offsets[e]), v, pivoted);
            factored_row(p, e, right ? pivoted : v, x);
            const bool left = pivots.unit && e > diagonal;  // D^-1 X_e v
            if (left) pivots.multiply(slot, x, found);
            if (e != diagonal) factors.multiply(p, e, v, expected);
            for (int r = 0; r < m; ++r)
                raise(most, magnitude((left ? found : x)[r] - (e == diagonal ? v : expected)[r]));
        }
    }

    /// x = X_e v
    HYPERPLANE_HD void factored_row(Int3 p, int e, const double* v, double* x) const {
        const int m = matrix.a.dof;
        double upper[max_dof], scaled[max_dof], update[max_dof];
        matrix.multiply(p, e, v, x);
        for (int l = 0; l < factors.size / 2; ++l) {
            const int u = partner[e * (factors.size / 2) + l];
            const Int3 before = p + factors.offsets[l];
            if (u < 0 || !factors.grid.contains(before)) continue;
            const Index there = factors.layout.slot(before);
            factors.multiply(before, u, v, upper);
            if (pivots.unit)
                pivots.divide(there, upper);  // W D G = E D^-1 F
            else
                pivots.multiply(there, upper, scaled);
            factors.multiply(p, l, pivots.unit ? upper : scaled, update);
            for (int r = 0; r < m; ++r) x[r] -= update[r];
        }
    }
};

/// The rows of a matrix, together with the memory of their offsets.
struct HeldRows {
    Buffer<Int3> offsets;
    Rows rows;

    explicit HeldRows(const StructMatrix& a, CoefficientOrder places = CoefficientOrder::apart)
        : offsets(copied_to(a.context(), "bench", a.stencil().offsets())) {
        Grid grid = a.grid();
        grid.periodic = {false, false, false};
        rows = {grid, a.layout(), blocks_of(a, places), offsets.data(), a.stencil().size()};
    }
};

Pivots pivots_of(const FactorsAt& factors) {
    return {blocks_of(factors.pivots, factors.pivot_places), factors.pivot_entry, factors.unit};
}

}  // namespace

void fill_random(StructMatrix& a) {
    const Buffer<Int3> offsets = copied_to(a.context(), "bench", a.stencil().offsets());
    for_each_point(a.context(), a.layout(), "random matrix",
                   RandomRow{a.grid(), view(a), offsets.data(), a.stencil().size(), a.symmetric()});
}

void fill_random(Vector& x, std::uint64_t seed) {
    set_random(x, seed, -1.0);
}

double spmv_error(const StructMatrix& a, const Vector& x, const Vector& y) {
    const HeldRows held(a);
    Maxima most(a.context());
    for_each_point(a.context(), a.layout(), "check of SpMV", SpmvCheck{held.rows, view(x), view(y), most.data()});
    return most.absolute() / (a.stencil().size() * a.dof());
}

double lower_error(const FactorsAt& factors, const Vector& r, const Vector& y) {
    const HeldRows held(factors.triangles, factors.triangle_places);
    Maxima most(factors.triangles.context());
    for_each_point(r.context(), r.layout(), "check of the lower solve",
                   LowerCheck{held.rows, pivots_of(factors), view(r), view(y), most.data()});
    return most.relative();
}

double upper_error(const FactorsAt& factors, const Vector& y, const Vector& z) {
    const HeldRows held(factors.triangles, factors.triangle_places);
    Maxima most(factors.triangles.context());
    for_each_point(y.context(), y.layout(), "check of the upper solve",
                   UpperCheck{held.rows, pivots_of(factors), view(y), view(z), most.data()});
    return most.relative();
}

double factor_error(const StructMatrix& a, const FactorsAt& factors) {
    const Stencil& stencil = factors.triangles.stencil();
    const int lower = stencil.lower_size();
    std::vector<int> partner(std::size_t(stencil.size()) * lower, -1);
    double products = 0.0;
    for (int e = 0; e < stencil.size(); ++e)
        for (int l = 0; l < lower; ++l)
            if (const int u = stencil.find(stencil[e] + -stencil[l]); u > stencil.diagonal()) {
                partner[std::size_t(e) * lower + l] = u;
                products += 3.0;
            }
    constexpr double most_flops = 4e9;
    const double flops = 2.0 * (products * (factors.unit ? 1.0 + a.dof() : 1.0) + stencil.size()) * a.dof() * a.dof();
    const Index every = 1 + Index(double(a.layout().slots()) * flops / most_flops);
    const HeldRows matrix(a), triangles(factors.triangles, factors.triangle_places);
    const Buffer<int> partners = copied_to(a.context(), "bench", partner);
    Maxima most(a.context());
    for_each_point(a.context(), a.layout(), "check of the factorisation",
                   FactorCheck{matrix.rows, triangles.rows, pivots_of(factors), partners.data(), every, most.data()});
    return most.absolute();
}

}  // namespace hyperplane
