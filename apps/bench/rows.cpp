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

/// The rows of a matrix, whose entries are the triangles of the view, or of factors.
struct Rows {
    FactorView f;
    int dof;

    HYPERPLANE_HD int size() const { return 2 * f.lower + 1; }
    HYPERPLANE_HD bool has(Int3 p, int e) const { return f.layout.grid().contains(p + f.offsets[e]); }
    HYPERPLANE_HD double entry(Int3 p, int e, int r, int c) const {
        return f.at(e, f.layout.slot(p), f.layout.slot(p + f.offsets[e]), r, c);
    }
    /// out -= sum over entries [first, last) of A_e x(p + o_e).
    HYPERPLANE_HD void subtract(Int3 p, const ConstVectorView& x, int first, int last, double* out) const {
        for (int e = first; e < last; ++e)
            if (has(p, e))
                for (int r = 0; r < dof; ++r)
                    for (int c = 0; c < dof; ++c) out[r] -= entry(p, e, r, c) * x(p + f.offsets[e], c);
    }
    /// out = A_e in at one point.
    HYPERPLANE_HD void multiply(Int3 p, int e, const double* in, double* out) const {
        for (int r = 0; r < dof; ++r) {
            out[r] = 0.0;
            for (int c = 0; c < dof; ++c) out[r] += entry(p, e, r, c) * in[c];
        }
    }
    /// out = D^-1 in
    HYPERPLANE_HD void multiply_inverse(Index slot, const double* in, double* out) const {
        for (int r = 0; r < dof; ++r) {
            out[r] = 0.0;
            for (int c = 0; c < dof; ++c) out[r] += f.inverse_at(slot, r, c) * in[c];
        }
    }
    /// v = D v
    HYPERPLANE_HD void divide(Index slot, double* v) const {
        divide_by_block(
            dof, [&](int r, int c) { return f.inverse_at(slot, r, c); }, v);
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
        for (int r = 0; r < rows.dof; ++r) sum[r] = y.at(slot, r);
        rows.subtract(p, x, 0, rows.size(), sum);
        for (int r = 0; r < rows.dof; ++r) raise(most, magnitude(sum[r]));
    }
};

/// The error of y: y - D^-1 (r - E y), or y - (r - W y).
struct LowerCheck {
    Rows rows;
    ConstVectorView r, y;
    double* most;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        double sum[max_dof], scaled[max_dof];
        for (int c = 0; c < rows.dof; ++c) sum[c] = r.at(slot, c);
        rows.subtract(p, y, 0, rows.f.lower, sum);
        if (!rows.f.unit) rows.multiply_inverse(slot, sum, scaled);
        for (int c = 0; c < rows.dof; ++c) {
            raise(most, magnitude(y.at(slot, c) - (rows.f.unit ? sum : scaled)[c]));
            raise(most + 1, magnitude(y.at(slot, c)));
        }
    }
};

/// The error of z: z - (y - D^-1 F z), or z - (D^-1 y - G z).
struct UpperCheck {
    Rows rows;
    ConstVectorView y, z;
    double* most;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        double sum[max_dof] = {}, own[max_dof], scaled[max_dof];
        for (int c = 0; c < rows.dof; ++c) own[c] = y.at(slot, c);
        rows.subtract(p, z, rows.f.lower + 1, rows.size(), sum);
        rows.multiply_inverse(slot, rows.f.unit ? own : sum, scaled);
        for (int c = 0; c < rows.dof; ++c) {
            const double expected = scaled[c] + (rows.f.unit ? sum[c] : own[c]);
            raise(most, magnitude(z.at(slot, c) - expected));
            raise(most + 1, magnitude(z.at(slot, c)));
        }
    }
};

struct FactorCheck {
    Rows matrix, factors;
    const int* partner;  ///< [e][l]: u with l + u = e, or -1 if there is none
    Index every;
    double* most;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        if (slot % every != 0) return;
        const int m = matrix.dof;
        double v[max_dof], pivoted[max_dof], x[max_dof];
        for (int c = 0; c < m; ++c) v[c] = random_symmetric(3, std::uint64_t(slot * m + c));
        for (int e = 0; e < factors.size(); ++e) {
            if (!factors.has(p, e)) continue;
            const int diagonal = factors.f.lower;
            const bool right = e == diagonal || (factors.f.unit && e < diagonal);  // X_e D^-1 v in place of X_e v
            double expected[max_dof], found[max_dof];
            if (right) factors.multiply_inverse(factors.f.layout.slot(p + factors.f.offsets[e]), v, pivoted);
            factored_row(p, e, right ? pivoted : v, x);
            const bool left = factors.f.unit && e > diagonal;  // D^-1 X_e v
            if (left) factors.multiply_inverse(slot, x, found);
            if (e != diagonal) factors.multiply(p, e, v, expected);
            for (int r = 0; r < m; ++r)
                raise(most, magnitude((left ? found : x)[r] - (e == diagonal ? v : expected)[r]));
        }
    }

    /// x = X_e v
    HYPERPLANE_HD void factored_row(Int3 p, int e, const double* v, double* x) const {
        const int m = matrix.dof;
        double upper[max_dof], scaled[max_dof], update[max_dof];
        matrix.multiply(p, e, v, x);
        for (int l = 0; l < factors.f.lower; ++l) {
            const int u = partner[e * (factors.f.lower) + l];
            const Int3 before = p + factors.f.offsets[l];
            if (u < 0 || !factors.f.layout.grid().contains(before)) continue;
            const Index there = factors.f.layout.slot(before);
            factors.multiply(before, u, v, upper);
            if (factors.f.unit)
                factors.divide(there, upper);  // W D G = E D^-1 F
            else
                factors.multiply_inverse(there, upper, scaled);
            factors.multiply(p, l, factors.f.unit ? upper : scaled, update);
            for (int r = 0; r < m; ++r) x[r] -= update[r];
        }
    }
};

/// The rows of factors; couplings around a periodic axis are none.
Rows rows_of(FactorView factors, int dof) {
    factors.layout = factors.layout.without_wrap();
    return {factors, dof};
}
/// The rows of a matrix; `offsets` are those of its entries.
Rows rows_of(const StructMatrix& a, const Buffer<Int3>& offsets) {
    FactorView entries{a.layout(), block_view(a), {}, offsets.data(), a.stencil().lower_size(), a.symmetric()};
    return rows_of(entries, a.dof());
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
    const Buffer<Int3> offsets = copied_to(a.context(), "bench", a.stencil().offsets());
    Maxima most(a.context());
    for_each_point(a.context(), a.layout(), "check of SpMV",
                   SpmvCheck{rows_of(a, offsets), view(x), view(y), most.data()});
    return most.absolute() / (a.stencil().size() * a.dof());
}

double lower_error(const FactorView& factors, const Vector& r, const Vector& y) {
    Maxima most(r.context());
    for_each_point(r.context(), r.layout(), "check of the lower solve",
                   LowerCheck{rows_of(factors, r.dof()), view(r), view(y), most.data()});
    return most.relative();
}

double upper_error(const FactorView& factors, const Vector& y, const Vector& z) {
    Maxima most(y.context());
    for_each_point(y.context(), y.layout(), "check of the upper solve",
                   UpperCheck{rows_of(factors, y.dof()), view(y), view(z), most.data()});
    return most.relative();
}

double factor_error(const StructMatrix& a, const FactorView& factors) {
    const Stencil& stencil = a.stencil();
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
    const Buffer<Int3> offsets = copied_to(a.context(), "bench", stencil.offsets());
    const Buffer<int> partners = copied_to(a.context(), "bench", partner);
    Maxima most(a.context());
    for_each_point(a.context(), a.layout(), "check of the factorisation",
                   FactorCheck{rows_of(a, offsets), rows_of(factors, a.dof()), partners.data(), every, most.data()});
    return most.absolute();
}

}  // namespace hyperplane
