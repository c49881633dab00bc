// SPDX-License-Identifier: BSD-3-Clause
#include "core/vector/blas1.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "core/vector/blas1_cuda.hpp"
#include "core/vector/pipelined_step.hpp"

namespace hyperplane {
namespace {

bool on_gpu(const Vector& x) {
    return cuda_built && x.backend() == Backend::cuda;
}

/// The scalar that write(address) writes to an address in the memory of x's backend.
template <class Write>
double waited(const Vector& x, const Write& write) {
    double scalar;
    if constexpr (cuda_built)
        if (on_gpu(x)) {
            const device::Stream& stream = x.context().stream();
            write(stream.scratch().scalar);
            stream.copy(stream.scratch().scalar, &scalar, sizeof(scalar));
            return scalar;
        }
    write(&scalar);
    return scalar;
}

/// Number of values in a block; it is fixed, so that sums do not depend on the number of threads.
constexpr Index block = 2048;

Index blocks_of(Index size) {
    return (size + block - 1) / block;
}

// A pass over vectors begins where the previous pass ended, at values that the caches still hold: updates
// go downwards, sums and matrix products upwards.
enum class Walk { up, down };

/// Calls body(block, first, count) for every block. Threads take neighbouring blocks at the same time.
template <class Body>
void for_blocks(const Context& context, Index size, Walk walk, const Body& body) {
    const Index count = blocks_of(size);
#pragma omp parallel for schedule(static, 1) num_threads(context.threads_for(size))
    for (Index turn = 0; turn < count; ++turn) {
        const Index at = walk == Walk::up ? turn : count - 1 - turn;
        body(at, at * block, std::min(block, size - at * block));
    }
}

/// Calls body(first, count) for every block, downwards.
template <class Body>
void update_blocks(const Context& context, Index size, const Body& body) {
    for_blocks(context, size, Walk::down, [&](Index, Index first, Index count) { body(first, count); });
}

/// Sum over blocks of body(first, count), added up in the order of the blocks.
template <class Body>
double sum_blocks(const Context& context, Index size, Walk walk, const Body& body) {
    std::vector<double> partial(blocks_of(size));
    for_blocks(context, size, walk, [&](Index at, Index first, Index count) { partial[at] = body(first, count); });
    return std::accumulate(partial.begin(), partial.end(), 0.0);
}

// The loops are functions of plain pointers: with pointers captured by a closure, gcc 12 vectorises by gathering and
// scattering every element.

double dot_block(const double* x, const double* y, Index count) {
    double total = 0.0;
#pragma omp simd reduction(+ : total)
    for (Index at = 0; at < count; ++at) total += x[at] * y[at];
    return total;
}

double sum_block(const double* x, Index count) {
    double total = 0.0;
#pragma omp simd reduction(+ : total)
    for (Index at = 0; at < count; ++at) total += x[at];
    return total;
}

/// The sum of every step-th value.
double sum_block(const double* x, Index step, Index count) {
    if (step == 1) return sum_block(x, count);
    double total = 0.0;
    for (Index at = 0; at < count; ++at) total += x[at * step];
    return total;
}

void scale_block(double a, double* x, Index count) {
#pragma omp simd
    for (Index at = 0; at < count; ++at) x[at] *= a;
}

void axpy_block(double a, const double* x, double* y, Index count) {
#pragma omp simd
    for (Index at = 0; at < count; ++at) y[at] += a * x[at];
}

void xpby_block(const double* x, double b, double* y, Index count) {
#pragma omp simd
    for (Index at = 0; at < count; ++at) y[at] = x[at] + b * y[at];
}

void add_block(const double* x, double a, const double* y, double* z, Index count) {
#pragma omp simd
    for (Index at = 0; at < count; ++at) z[at] = x[at] + a * y[at];
}

void direction_block(const double* r, double c, double o, const double* v, double* p, Index count) {
#pragma omp simd
    for (Index at = 0; at < count; ++at) p[at] = r[at] + c * (p[at] / o - v[at]);
}

double axpy_norm2_block(double a, const double* x, double* y, Index count) {
    double total = 0.0;
#pragma omp simd reduction(+ : total)
    for (Index at = 0; at < count; ++at) {
        const double value = y[at] + a * x[at];
        y[at] = value;
        total += value * value;
    }
    return total;
}

void axpy_xpby_block(double a, double* x, const double* z, double b, double* p, Index count) {
#pragma omp simd
    for (Index at = 0; at < count; ++at) {
        const double old = p[at];
        x[at] += a * old;
        p[at] = z[at] + b * old;
    }
}

/// A block of pipelined_step and its sums.
void pipelined_block(const PipelinedVectors& of, const PipelinedCoefficients& by, Index first, Index count,
                     double* sum) {
    const double beta = by.beta, alpha = by.alpha, alpha_before = by.alpha_before;
    const double *v = of.v.data() + first, *n = of.n.data() + first;
    double *x = of.x.data() + first, *r = of.r.data() + first, *u = of.u.data() + first, *w = of.w.data() + first;
    double *p = of.p.data() + first, *s = of.s.data() + first, *q = of.q.data() + first, *z = of.z.data() + first;
    double ru = 0.0, wu = 0.0, rr = 0.0, us_wp = 0.0, ps = 0.0;
#pragma omp simd reduction(+ : ru, wu, rr, us_wp, ps)
    for (Index at = 0; at < count; ++at) {
        x[at] += alpha_before * p[at];
        z[at] = n[at] + beta * z[at];
        q[at] = v[at] + beta * q[at];
        s[at] = w[at] + beta * s[at];
        p[at] = u[at] + beta * p[at];
        r[at] -= alpha * s[at];
        u[at] -= alpha * q[at];
        w[at] -= alpha * z[at];
        ru += r[at] * u[at];
        wu += w[at] * u[at];
        rr += r[at] * r[at];
        us_wp += u[at] * s[at] + w[at] * p[at];
        ps += p[at] * s[at];
    }
    const double sums[pipelined_sums] = {ru, wu, rr, us_wp, ps};
    std::copy_n(sums, pipelined_sums, sum);
}

void add_constant_block(double value, double* x, Index step, Index count) {
    if (step > 1) {
        for (Index at = 0; at < count; ++at) x[at * step] += value;
        return;
    }
#pragma omp simd
    for (Index at = 0; at < count; ++at) x[at] += value;
}

/// p = z + b p, without reading p if b = 0
void xpby_or_copy_block(const double* z, double b, double* p, Index count) {
    if (b == 0.0)
        std::memcpy(p, z, std::size_t(count) * sizeof(double));
    else
        xpby_block(z, b, p, count);
}

/// Sums of several columns: body(first, count, sums) writes a block's part of sum m to sums[m], and h[m] is the sum of
/// these parts in the order of the blocks.
template <class Body>
void sum_columns(const Context& context, Index size, std::size_t columns, Walk walk, double* h, const Body& body) {
    std::vector<double> partial(std::size_t(blocks_of(size)) * columns);
    for_blocks(context, size, walk, [&](Index at, Index first, Index count) {
        body(first, count, partial.data() + std::size_t(at) * columns);
    });
    std::fill(h, h + columns, 0.0);
    for (std::size_t at = 0; at < partial.size(); ++at) h[at % columns] += partial[at];
}

void dots_block(Columns v, const double* w, Index first, Index count, double* h) {
    for (std::size_t m = 0; m < v.size(); ++m) h[m] = dot_block(v[m]->data() + first, w + first, count);
}

void combination_block(double sign, const double* c, Columns v, double* w, Index first, Index count) {
    for (std::size_t m = 0; m < v.size(); ++m) axpy_block(sign * c[m], v[m]->data() + first, w + first, count);
}

}  // namespace

void set_zero(Vector& x) {
    if (on_gpu(x)) return x.context().stream().zero(x.data(), x.size() * Index(sizeof(double)));
    fill_zero(x.context(), x.data(), x.size());
}

void fill(Vector& x, double value) {
    if constexpr (cuda_built)
        if (on_gpu(x)) return cuda::fill(x, value);
    update_blocks(x.context(), x.size(), [&](Index at, Index count) { std::fill_n(x.data() + at, count, value); });
}

void copy(const Vector& x, Vector& y) {
    if constexpr (cuda_built)
        if (on_gpu(y)) return cuda::copy(x, y);
    update_blocks(x.context(), x.size(), [&](Index at, Index count) {
        std::memcpy(y.data() + at, x.data() + at, std::size_t(count) * sizeof(double));
    });
}

void scale(const Ratio& a, Vector& x) {
    if constexpr (cuda_built)
        if (on_gpu(x)) return cuda::scale(a, x);
    const double factor = a.value();
    update_blocks(x.context(), x.size(), [&](Index at, Index count) { scale_block(factor, x.data() + at, count); });
}

void divide_by_root(const double* square, Vector& x) {
    if constexpr (cuda_built)
        if (on_gpu(x)) return cuda::divide_by_root(square, x);
    if (*square != 0.0) scale(1.0 / std::sqrt(*square), x);
}

void axpy(const Ratio& a, const Vector& x, Vector& y) {
    if constexpr (cuda_built)
        if (on_gpu(y)) return cuda::axpy(a, x, y);
    const double factor = a.value();
    if (factor == 0.0) return;
    update_blocks(x.context(), x.size(),
                  [&](Index at, Index count) { axpy_block(factor, x.data() + at, y.data() + at, count); });
}

void xpby(const Vector& x, const Ratio& b, Vector& y) {
    if constexpr (cuda_built)
        if (on_gpu(y)) return cuda::xpby(x, b, y);
    const double factor = b.value();
    update_blocks(x.context(), x.size(),
                  [&](Index at, Index count) { xpby_or_copy_block(x.data() + at, factor, y.data() + at, count); });
}

void add(const Vector& x, const Ratio& a, const Vector& y, Vector& z) {
    if constexpr (cuda_built)
        if (on_gpu(z)) return cuda::add(x, a, y, z);
    const double factor = a.value();
    if (factor == 0.0) return;
    update_blocks(z.context(), z.size(), [&](Index at, Index count) {
        add_block(x.data() + at, factor, y.data() + at, z.data() + at, count);
    });
}

void direction(const Vector& r, const Ratio& c, const Ratio& o, const Vector& v, Vector& p) {
    if constexpr (cuda_built)
        if (on_gpu(p)) return cuda::direction(r, c, o, v, p);
    const double factor = c.value();
    if (factor == 0.0) return copy(r, p);
    const double divisor = o.value();
    update_blocks(p.context(), p.size(), [&](Index at, Index count) {
        direction_block(r.data() + at, factor, divisor, v.data() + at, p.data() + at, count);
    });
}

void dot(const Vector& x, const Vector& y, double* product) {
    if constexpr (cuda_built)
        if (on_gpu(y)) return cuda::dot(x, y, product);
    *product = sum_blocks(x.context(), x.size(), Walk::up,
                          [&](Index at, Index count) { return dot_block(x.data() + at, y.data() + at, count); });
}

double dot(const Vector& x, const Vector& y) {
    return waited(x, [&](double* product) { dot(x, y, product); });
}

double norm2(const Vector& x) {
    return std::sqrt(dot(x, x));
}

void dot_norm2(const Vector& x, const Vector& y, double* xy, double* yy) {
    if constexpr (cuda_built)
        if (on_gpu(y)) return cuda::dot_norm2(x, y, xy, yy);
    double both[2];
    sum_columns(x.context(), x.size(), 2, Walk::up, both, [&](Index at, Index count, double* part) {
        part[0] = dot_block(x.data() + at, y.data() + at, count);
        part[1] = dot_block(y.data() + at, y.data() + at, count);
    });
    *xy = both[0];
    *yy = both[1];
}

void axpy_norm2(const Ratio& a, const Vector& x, Vector& y, double* yy) {
    if constexpr (cuda_built)
        if (on_gpu(y)) return cuda::axpy_norm2(a, x, y, yy);
    const double factor = a.value();
    if (factor == 0.0) return dot(y, y, yy);
    *yy = sum_blocks(x.context(), x.size(), Walk::down, [&](Index at, Index count) {
        return axpy_norm2_block(factor, x.data() + at, y.data() + at, count);
    });
}

void axpy_norm2_dot(const Ratio& a, const Vector& x, Vector& y, const Vector& u, double* yy, double* uy) {
    if constexpr (cuda_built)
        if (on_gpu(y)) return cuda::axpy_norm2_dot(a, x, y, u, yy, uy);
    const double factor = a.value();
    if (factor == 0.0) return dot_norm2(u, y, uy, yy);
    double both[2];
    sum_columns(x.context(), x.size(), 2, Walk::down, both, [&](Index at, Index count, double* part) {
        part[0] = axpy_norm2_block(factor, x.data() + at, y.data() + at, count);
        part[1] = dot_block(u.data() + at, y.data() + at, count);
    });
    *yy = both[0];
    *uy = both[1];
}

void axpy_xpby(const Ratio& a, Vector& x, const Vector& z, const Ratio& b, Vector& p) {
    if constexpr (cuda_built)
        if (on_gpu(p)) return cuda::axpy_xpby(a, x, z, b, p);
    const double as = a.value(), bs = b.value();
    if (as == 0.0 || bs == 0.0) {
        axpy(as, p, x);
        return xpby(z, bs, p);
    }
    update_blocks(x.context(), x.size(), [&](Index at, Index count) {
        axpy_xpby_block(as, x.data() + at, z.data() + at, bs, p.data() + at, count);
    });
}

void dots(Columns v, const Vector& w, double* h) {
    if constexpr (cuda_built)
        if (on_gpu(w)) return cuda::dots(v, w, h);
    sum_columns(w.context(), w.size(), v.size(), Walk::up, h,
                [&](Index at, Index count, double* part) { dots_block(v, w.data(), at, count, part); });
}

void add_combination(double sign, const double* c, Columns v, Vector& w) {
    if constexpr (cuda_built)
        if (on_gpu(w)) return cuda::add_combination(sign, c, v, w);
    update_blocks(w.context(), w.size(),
                  [&](Index at, Index count) { combination_block(sign, c, v, w.data(), at, count); });
}

void add_combination(double sign, const double* c, Columns v, Vector& w, double* ww) {
    if constexpr (cuda_built)
        if (on_gpu(w)) return cuda::add_combination(sign, c, v, w, ww);
    *ww = sum_blocks(w.context(), w.size(), Walk::down, [&](Index at, Index count) {
        combination_block(sign, c, v, w.data(), at, count);
        return dot_block(w.data() + at, w.data() + at, count);
    });
}

void add_combination_dots(double sign, const double* c, Columns v, Vector& w, double* h) {
    if constexpr (cuda_built)
        if (on_gpu(w)) return cuda::add_combination_dots(sign, c, v, w, h);
    sum_columns(w.context(), w.size(), v.size(), Walk::down, h, [&](Index at, Index count, double* part) {
        combination_block(sign, c, v, w.data(), at, count);
        dots_block(v, w.data(), at, count, part);
    });
}

void sum(const Vector& x, int component, double* total) {
    if constexpr (cuda_built)
        if (on_gpu(x)) return cuda::sum(x, component, total);
    const double* const first = x.data() + x.first(component);
    *total = sum_blocks(x.context(), x.space().block_rows(), Walk::up,
                        [&](Index at, Index count) { return sum_block(first + at * x.step(), x.step(), count); });
}

double sum(const Vector& x, int component) {
    return waited(x, [&](double* total) { sum(x, component, total); });
}

void add_constant(Vector& x, int component, const Ratio& value) {
    if constexpr (cuda_built)
        if (on_gpu(x)) return cuda::add_constant(x, component, value);
    const double constant = value.value();
    double* const first = x.data() + x.first(component);
    update_blocks(x.context(), x.space().block_rows(),
                  [&](Index at, Index count) { add_constant_block(constant, first + at * x.step(), x.step(), count); });
}

void pipelined_step(const double* before, double* now, const PipelinedVectors& of) {
    if constexpr (cuda_built)
        if (on_gpu(of.x)) return cuda::pipelined_step(before, now, of);
    PipelinedCoefficients by(before);
    now[used_ru] = before[sum_ru];
    now[used_alpha] = by.alpha;
    if (by.beta == 0.0 || by.alpha == 0.0) axpy(by.alpha_before, of.p, of.x);
    if (by.alpha == 0.0) return void(std::copy_n(before, pipelined_sums, now));
    if (by.beta == 0.0) {
        by.alpha_before = 0.0;
        for (Vector* direction : {&of.p, &of.s, &of.q, &of.z}) set_zero(*direction);
    }
    sum_columns(of.x.context(), of.x.size(), pipelined_sums, Walk::down, now,
                [&](Index first, Index count, double* sum) { pipelined_block(of, by, first, count, sum); });
}

bool all_finite(const Vector& x) {
    if constexpr (cuda_built)
        if (on_gpu(x)) return waited(x, [&](double* count) { cuda::count_not_finite(x, count); }) == 0.0;
    const auto count_bad = [&](Index at, Index count) {
        return double(std::count_if(x.data() + at, x.data() + at + count, [](double v) { return !std::isfinite(v); }));
    };
    return sum_blocks(x.context(), x.size(), Walk::up, count_bad) == 0.0;
}

}  // namespace hyperplane
