// SPDX-License-Identifier: BSD-3-Clause
// The two triangular solves in wavefront order on a CPU with factors and vectors in single precision, one unknown a
// point, in one pass over memory (precond/walks/line_blocks.hpp). The equations are those of
// precond/triangular/wavefront/reduced_cpu.cpp. Values are widened when they are read and rounded when they are stored.
#include "precond/triangular/wavefront/lines_cpu.hpp"
#include "precond/triangular/wavefront/solve_cpu.hpp"

namespace hyperplane::wavefront_cpu {
namespace {

using SingleTerms = std::vector<BasicRunTerm<float>>;

void lower_by(const SinglesByRun& f, const LineReads<float>& reads, const SingleVector& r, SingleVector& v) {
    for_each_piece(f, Side::lower, {}, [&](const Run& piece) {
        SingleTerms& terms = terms_of_thread<float, float>();
        reads.list(piece, false, terms);
        lower_single_line(reads, terms, piece, r.data(), v.data());
    });
}

/// The upper solve; calls done(piece) after each piece.
template <class Done>
void upper_by(const SinglesByRun& f, SingleVector& z, const Done& done) {
    const LineReads<float> reads = f.upper(z);
    for_each_piece(f, Side::upper, {}, [&](const Run& piece) {
        SingleTerms& terms = terms_of_thread<float, float>();
        reads.list(piece, true, terms);
        upper_single_line(reads, terms, piece, z.data());
        done(piece);
    });
}

}  // namespace

bool has_single(const IluFactors& factors) {
    const Layout& layout = factors.pattern().layout;
    if (!factors.reduced() || factors.reduced()->storage() != FactorStorage::single_precision) return false;
    if (factors.matrix().dof() > 1 || layout.kind() != LayoutKind::natural || layout.grid().any_periodic() ||
        layout.is_part())
        return false;
    const SinglesByRun f(factors);
    const SingleVector none;
    return f.lower(none).fits_all(false) && f.upper(none).fits_all(true);
}

void lower_single(const IluFactors& factors, const SingleVector& r, SingleVector& v) {
    const SinglesByRun f(factors);
    lower_by(f, f.lower(v), r, v);
}

void upper_single(const IluFactors& factors, SingleVector& z) {
    upper_by(SinglesByRun(factors), z, [](const Run&) {});
}

bool has_single_step(const IluFactors& factors, const SingleMatrix& a, const SingleVector& x) {
    if (!has_single(factors)) return false;
    const SinglesByRun f(factors);
    LineReads<float> below = f.lower(x);
    below.add_products(a, x);
    return below.fits_all(false);
}

void lower_of_residual(const IluFactors& factors, const SingleMatrix& a, const SingleVector& b, const SingleVector& x,
                       SingleVector& v) {
    const SinglesByRun f(factors);
    LineReads<float> reads = f.lower(v);
    reads.add_products(a, x);
    lower_by(f, reads, b, v);
}

void upper_to(const IluFactors& factors, double omega, SingleVector& z, SingleVector& x) {
    upper_by(SinglesByRun(factors), z, [&](const Run& piece) {
        const float* const from = z.data() + piece.slot;
        float* const to = x.data() + piece.slot;
#pragma omp simd
        for (int t = 0; t < piece.count; ++t) to[t] = float(double(to[t]) + omega * double(from[t]));
    });
}

}  // namespace hyperplane::wavefront_cpu
