// SPDX-License-Identifier: BSD-3-Clause
// The two triangular solves in wavefront order on a CPU with factors and vectors in single precision, one unknown a
// point, in one pass over memory (precond/walks/line_blocks.hpp). The equations are those of
// precond/triangular/wavefront/reduced_cpu.cpp. Values are widened when they are read and rounded when they are stored.
#include "precond/triangular/wavefront/lines_cpu.hpp"
#include "precond/triangular/wavefront/solve_cpu.hpp"

namespace hyperplane::wavefront_cpu {
namespace {

/// Factors in single precision; each coefficient is contiguous along a line.
struct SinglesByRun {
    BasicBlockView<const float> values;  ///< W, D^-1 and G
    const Context& context;
    const Layout& layout;
    const Stencil& stencil;
    bool symmetric;
    int dof = 1;

    explicit SinglesByRun(const IluFactors& f)
        : values(f.reduced()->values<float>()),
          context(f.context()),
          layout(f.pattern().layout),
          stencil(f.stencil()),
          symmetric(f.matrix().symmetric()) {}

    const float* address(int entry, Index ahead) const {
        return stores(entry) ? &values.at(entry, 0, 0, 0) : &values.at(stencil.mirror(entry), 0, 0, 0) + ahead;
    }
    const EqualLines* lines() const { return nullptr; }
    const EqualLines* pivot_lines() const { return nullptr; }
    bool stores(int entry) const { return !symmetric || entry <= stencil.diagonal(); }
    const float* inverse(int, int, Index slot) const { return &values.at(stencil.diagonal(), 0, 0, 0) + slot; }
    bool along_run(int entry) const { return stencil[entry].y == 0 && stencil[entry].z == 0; }

    LineReads<float> lower(const SingleVector& x) const { return {*this, 0, stencil.lower_size(), x}; }
    LineReads<float> upper(const SingleVector& x) const { return {*this, stencil.diagonal() + 1, stencil.size(), x}; }
};

using SingleTerms = std::vector<BasicRunTerm<float>>;

SingleTerms& terms_of_thread() {
    thread_local SingleTerms mine;
    return mine;
}

/// Both take a piece of a line, whose terms are listed.
void lower_line(const LineReads<float>& reads, const SingleTerms& terms, const Run& run, const SingleVector& r,
                SingleVector& v) {
    float* const out = v.data() + run.slot;
    const RunNeighbours near = reads.along_line(run);
    const UnitLowerBlocks<float> line{reads.along(run), near.begin, near.end};
    const double before = near.begin == 0 ? double(out[-1]) : 0.0;
    solve_line<false, -1>(terms, r.data() + run.slot, line, run.count, before, out, nullptr);
}

void upper_line(const LineReads<float>& reads, const SingleTerms& terms, const Run& run, SingleVector& z) {
    float* const out = z.data() + run.slot;
    const RunNeighbours near = reads.along_line(run);
    const UnitUpperBlocks<float> line{reads.inverse(run), reads.along(run), out, near.begin, near.end};
    const double before = near.end == run.count ? double(out[run.count]) : 0.0;
    solve_line<true, +1>(terms, nullptr, line, run.count, before, out, nullptr);
}

void lower_by(const SinglesByRun& f, const LineReads<float>& reads, const SingleVector& r, SingleVector& v) {
    for_each_piece(f, Direction::lower, {}, [&](const Run& piece) {
        SingleTerms& terms = terms_of_thread();
        reads.list(piece, false, terms);
        lower_line(reads, terms, piece, r, v);
    });
}

/// The upper solve; calls done(piece) after each piece.
template <class Done>
void upper_by(const SinglesByRun& f, SingleVector& z, const Done& done) {
    const LineReads<float> reads = f.upper(z);
    for_each_piece(f, Direction::upper, {}, [&](const Run& piece) {
        SingleTerms& terms = terms_of_thread();
        reads.list(piece, true, terms);
        upper_line(reads, terms, piece, z);
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
