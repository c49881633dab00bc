// SPDX-License-Identifier: BSD-3-Clause
#include "core/vector/blas1.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/vector/blas1_cuda.hpp"
#include "core/vector/lane_sums.hpp"
#include "core/vector/passes.hpp"
#include "core/vector/pipelined_step.hpp"
#include "core/vector/run_kernel.hpp"
#include "core/vector/square_range.hpp"

namespace hyperplane {
namespace {

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

// The loops are functions of plain pointers: with pointers captured by a closure, gcc 12 vectorises by gathering and
// scattering every element.

/// The sum of every step-th value.
double sum_block(const double* x, Index step, Index count) {
    if (step == 1) return sum_run(x, count);
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
    return sum_in_lanes(count, [=]<class T>(Index at) {
        const T value = load<T>(y + at) + a * load<T>(x + at);
        store(value, y + at);
        return value * value;
    });
}

double scaled_square_block(double factor, const double* x, Index count) {
    return sum_in_lanes(count, [=]<class T>(Index at) {
        const T value = factor * load<T>(x + at);
        return value * value;
    });
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
    const auto sums = sum_in_lanes<pipelined_sums>(count, [=]<class T>(Index at) {
        const T p_before = load<T>(p + at), u_before = load<T>(u + at), w_before = load<T>(w + at);
        store(load<T>(x + at) + alpha_before * p_before, x + at);
        const T zs = load<T>(n + at) + beta * load<T>(z + at);
        const T qs = load<T>(v + at) + beta * load<T>(q + at);
        const T ss = w_before + beta * load<T>(s + at);
        const T ps = u_before + beta * p_before;
        const T rs = load<T>(r + at) - alpha * ss;
        const T us = u_before - alpha * qs;
        const T ws = w_before - alpha * zs;
        store(zs, z + at), store(qs, q + at), store(ss, s + at), store(ps, p + at);
        store(rs, r + at), store(us, u + at), store(ws, w + at);
        return std::array<T, pipelined_sums>{rs * us, ws * us, rs * rs, us * ss + ws * ps, ps * ss};
    });
    std::copy(sums.begin(), sums.end(), sum);
}

void add_constant_block(double value, double* x, Index step, Index count) {
    if (step > 1) {
        for (Index at = 0; at < count; ++at) x[at * step] += value;
        return;
    }
#pragma omp simd
    for (Index at = 0; at < count; ++at) x[at] += value;
}

/// (factor x)^T (factor x)
double scaled_square(double factor, const Vector& x) {
    const ProfileScope scope = pass(x, "dot", 1);
    if constexpr (cuda_built)
        if (on_gpu(x)) return waited(x, [&](double* sum) { cuda::scaled_square(factor, x, sum); });
    return sum_blocks(x, Walk::up,
                      [&](Index at, Index count) { return scaled_square_block(factor, x.data() + at, count); });
}

/// p = z + b p, without reading p if b = 0
void xpby_or_copy_block(const double* z, double b, double* p, Index count) {
    if (b == 0.0)
        std::memcpy(p, z, std::size_t(count) * sizeof(double));
    else
        xpby_block(z, b, p, count);
}

void dots_block(Columns v, const double* w, Index first, Index count, double* h) {
    for (std::size_t m = 0; m < v.size(); ++m) h[m] = dot_run(v[m]->data() + first, w + first, count);
}

void combination_block(double sign, const double* c, Columns v, double* w, Index first, Index count) {
    for (std::size_t m = 0; m < v.size(); ++m) axpy_block(sign * c[m], v[m]->data() + first, w + first, count);
}

}  // namespace

void set_zero(Vector& x) {
    const ProfileScope scope = pass(x, "set_zero", 1);
    if (on_gpu(x)) return x.context().stream().zero(x.memory().data(), x.memory().size() * Index(sizeof(double)));
    fill_zero(x.context(), x.memory().data(), x.memory().size());
}

void fill(Vector& x, double value) {
    const ProfileScope scope = pass(x, "fill", 1);
    if constexpr (cuda_built)
        if (on_gpu(x)) return cuda::fill(x, value);
    update_blocks(x, [&](Index at, Index count) { std::fill_n(x.data() + at, count, value); });
}

void copy(const Vector& x, Vector& y) {
    const ProfileScope scope = pass(x, "copy", 2);
    if constexpr (cuda_built)
        if (on_gpu(y)) return cuda::copy(x, y);
    update_blocks(x, [&](Index at, Index count) {
        std::memcpy(y.data() + at, x.data() + at, std::size_t(count) * sizeof(double));
    });
}

void scale(const Ratio& a, Vector& x) {
    const ProfileScope scope = pass(x, "scale", 2);
    if constexpr (cuda_built)
        if (on_gpu(x)) return cuda::scale(a, x);
    const double factor = a.value();
    update_blocks(x, [&](Index at, Index count) { scale_block(factor, x.data() + at, count); });
}

void divide_by_root(const double* square, Vector& x) {
    const ProfileScope scope = pass(x, "divide_by_root", 2);
    if constexpr (cuda_built)
        if (on_gpu(x)) return cuda::divide_by_root(square, x);
    if (*square != 0.0) scale(1.0 / std::sqrt(*square), x);
}

void axpy(const Ratio& a, const Vector& x, Vector& y) {
    const ProfileScope scope = pass(x, "axpy", 3);
    if constexpr (cuda_built)
        if (on_gpu(y)) return cuda::axpy(a, x, y);
    const double factor = a.value();
    if (factor == 0.0) return;
    update_blocks(x, [&](Index at, Index count) { axpy_block(factor, x.data() + at, y.data() + at, count); });
}

void xpby(const Vector& x, const Ratio& b, Vector& y) {
    const ProfileScope scope = pass(x, "xpby", 3);
    if constexpr (cuda_built)
        if (on_gpu(y)) return cuda::xpby(x, b, y);
    const double factor = b.value();
    update_blocks(x, [&](Index at, Index count) { xpby_or_copy_block(x.data() + at, factor, y.data() + at, count); });
}

void add(const Vector& x, const Ratio& a, const Vector& y, Vector& z) {
    const ProfileScope scope = pass(x, "add", 3);
    if constexpr (cuda_built)
        if (on_gpu(z)) return cuda::add(x, a, y, z);
    const double factor = a.value();
    if (factor == 0.0) return;
    update_blocks(
        z, [&](Index at, Index count) { add_block(x.data() + at, factor, y.data() + at, z.data() + at, count); });
}

void direction(const Vector& r, const Ratio& c, const Ratio& o, const Vector& v, Vector& p) {
    const ProfileScope scope = pass(r, "direction", 4);
    if constexpr (cuda_built)
        if (on_gpu(p)) return cuda::direction(r, c, o, v, p);
    const double factor = c.value();
    if (factor == 0.0) return copy(r, p);
    const double divisor = o.value();
    update_blocks(p, [&](Index at, Index count) {
        direction_block(r.data() + at, factor, divisor, v.data() + at, p.data() + at, count);
    });
}

void dot(const Vector& x, const Vector& y, double* product) {
    const ProfileScope scope = pass(x, "dot", &x == &y ? 1 : 2);
    if constexpr (cuda_built)
        if (on_gpu(y)) return cuda::dot(x, y, product);
    *product =
        sum_blocks(x, Walk::up, [&](Index at, Index count) { return dot_run(x.data() + at, y.data() + at, count); });
}

double dot(const Vector& x, const Vector& y) {
    return waited(x, [&](double* product) { dot(x, y, product); });
}

double norm2(const Vector& x) {
    const double square = dot(x, x);
    if (square_is_exact(square) || std::isnan(square)) return std::sqrt(square);
    const double factor = square < 1.0 ? 0x1p600 : 0x1p-600;  // a power of two keeps the digits of every value
    return std::sqrt(scaled_square(factor, x)) / factor;
}

void dot_norm2(const Vector& x, const Vector& y, double* xy, double* yy) {
    const ProfileScope scope = pass(x, "dot_norm2", 2);
    if constexpr (cuda_built)
        if (on_gpu(y)) return cuda::dot_norm2(x, y, xy, yy);
    double both[2];
    sum_columns(x, 2, Walk::up, both, [&](Index at, Index count, double* part) {
        part[0] = dot_run(x.data() + at, y.data() + at, count);
        part[1] = dot_run(y.data() + at, y.data() + at, count);
    });
    *xy = both[0];
    *yy = both[1];
}

void axpy_norm2(const Ratio& a, const Vector& x, Vector& y, double* yy) {
    const ProfileScope scope = pass(x, "axpy_norm2", 3);
    if constexpr (cuda_built)
        if (on_gpu(y)) return cuda::axpy_norm2(a, x, y, yy);
    const double factor = a.value();
    if (factor == 0.0) return dot(y, y, yy);
    *yy = sum_blocks(x, Walk::down, [&](Index at, Index count) {
        return axpy_norm2_block(factor, x.data() + at, y.data() + at, count);
    });
}

void axpy_norm2_dot(const Ratio& a, const Vector& x, Vector& y, const Vector& u, double* yy, double* uy) {
    const ProfileScope scope = pass(x, "axpy_norm2_dot", 4);
    if constexpr (cuda_built)
        if (on_gpu(y)) return cuda::axpy_norm2_dot(a, x, y, u, yy, uy);
    const double factor = a.value();
    if (factor == 0.0) return dot_norm2(u, y, uy, yy);
    double both[2];
    sum_columns(x, 2, Walk::down, both, [&](Index at, Index count, double* part) {
        part[0] = axpy_norm2_block(factor, x.data() + at, y.data() + at, count);
        part[1] = dot_run(u.data() + at, y.data() + at, count);
    });
    *yy = both[0];
    *uy = both[1];
}

void axpy_xpby(const Ratio& a, Vector& x, const Vector& z, const Ratio& b, Vector& p) {
    const ProfileScope scope = pass(x, "axpy_xpby", 5);
    if constexpr (cuda_built)
        if (on_gpu(p)) return cuda::axpy_xpby(a, x, z, b, p);
    const double as = a.value(), bs = b.value();
    if (as == 0.0 || bs == 0.0) {
        axpy(as, p, x);
        return xpby(z, bs, p);
    }
    update_blocks(
        x, [&](Index at, Index count) { axpy_xpby_block(as, x.data() + at, z.data() + at, bs, p.data() + at, count); });
}

void dots(Columns v, const Vector& w, double* h) {
    const ProfileScope scope = pass(w, "dots", double(v.size()) + 1);
    if constexpr (cuda_built)
        if (on_gpu(w)) return cuda::dots(v, w, h);
    sum_columns(w, v.size(), Walk::up, h,
                [&](Index at, Index count, double* part) { dots_block(v, w.data(), at, count, part); });
}

void add_combination(double sign, const double* c, Columns v, Vector& w) {
    const ProfileScope scope = pass(w, "add_combination", double(v.size()) + 2);
    if constexpr (cuda_built)
        if (on_gpu(w)) return cuda::add_combination(sign, c, v, w);
    update_blocks(w, [&](Index at, Index count) { combination_block(sign, c, v, w.data(), at, count); });
}

void add_combination(double sign, const double* c, Columns v, Vector& w, double* ww) {
    const ProfileScope scope = pass(w, "add_combination", double(v.size()) + 2);
    if constexpr (cuda_built)
        if (on_gpu(w)) return cuda::add_combination(sign, c, v, w, ww);
    *ww = sum_blocks(w, Walk::down, [&](Index at, Index count) {
        combination_block(sign, c, v, w.data(), at, count);
        return dot_run(w.data() + at, w.data() + at, count);
    });
}

void add_combination_dots(double sign, const double* c, Columns v, Vector& w, double* h) {
    const ProfileScope scope = pass(w, "add_combination_dots", double(v.size()) + 2);
    if constexpr (cuda_built)
        if (on_gpu(w)) return cuda::add_combination_dots(sign, c, v, w, h);
    sum_columns(w, v.size(), Walk::down, h, [&](Index at, Index count, double* part) {
        combination_block(sign, c, v, w.data(), at, count);
        dots_block(v, w.data(), at, count, part);
    });
}

void sum(const Vector& x, int component, double* total) {
    const ProfileScope scope = pass(x, "sum", 1.0 / x.dof());
    if constexpr (cuda_built)
        if (on_gpu(x)) return cuda::sum(x, component, total);
    const double* const first = x.data() + x.first(component);
    *total = sum_blocks(x, 1, Walk::up,
                        [&](Index at, Index count) { return sum_block(first + at * x.step(), x.step(), count); });
}

double sum(const Vector& x, int component) {
    return waited(x, [&](double* total) { sum(x, component, total); });
}

void add_constant(Vector& x, int component, const Ratio& value) {
    const ProfileScope scope = pass(x, "add_constant", 2.0 / x.dof());
    if constexpr (cuda_built)
        if (on_gpu(x)) return cuda::add_constant(x, component, value);
    const double constant = value.value();
    double* const first = x.data() + x.first(component);
    update_blocks(x.context(), 0, x.space().block_rows(),
                  [&](Index at, Index count) { add_constant_block(constant, first + at * x.step(), x.step(), count); });
}

void pipelined_step(const double* before, double* now, const PipelinedVectors& vectors) {
    const ProfileScope scope = pass(vectors.x, "pipelined_step", 18);
    if constexpr (cuda_built)
        if (on_gpu(vectors.x)) return cuda::pipelined_step(before, now, vectors);
    PipelinedCoefficients by(before);
    now[used_ru] = before[sum_ru];
    now[used_alpha] = by.alpha;
    if (by.beta == 0.0 || by.alpha == 0.0) axpy(by.alpha_before, vectors.p, vectors.x);
    if (by.alpha == 0.0) return void(std::copy_n(before, pipelined_sums, now));
    if (by.beta == 0.0) {
        by.alpha_before = 0.0;
        for (Vector* direction : {&vectors.p, &vectors.s, &vectors.q, &vectors.z}) set_zero(*direction);
    }
    sum_columns(vectors.x, pipelined_sums, Walk::down, now,
                [&](Index first, Index count, double* sum) { pipelined_block(vectors, by, first, count, sum); });
}

bool all_finite(const Vector& x) {
    const ProfileScope scope = pass(x, "all_finite", 1);
    if constexpr (cuda_built)
        if (on_gpu(x)) return waited(x, [&](double* count) { cuda::count_not_finite(x, count); }) == 0.0;
    const auto count_bad = [&](Index at, Index count) {
        return double(std::count_if(x.data() + at, x.data() + at + count, [](double v) { return !std::isfinite(v); }));
    };
    return sum_blocks(x, Walk::up, count_bad) == 0.0;
}

}  // namespace hyperplane
