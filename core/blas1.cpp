#include "core/blas1.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace hyperplane {
namespace {

/// Values summed in one go; fixed, so that sums do not depend on the number of threads.
constexpr Index block = 2048;

Index blocks_of(Index size) {
    return (size + block - 1) / block;
}

/// Sum over blocks of body(begin, end), in the order of the blocks.
template <class Body>
double block_sum(Index size, const Body& body) {
    const Index count = blocks_of(size);
    std::vector<double> partial(count);
#pragma omp parallel for schedule(static)
    for (Index at = 0; at < count; ++at) partial[at] = body(at * block, std::min(size, (at + 1) * block));
    double total = 0.0;
    for (double value : partial) total += value;
    return total;
}

/// body(begin, end) for every block.
template <class Body>
void for_blocks(Index size, const Body& body) {
    const Index count = blocks_of(size);
#pragma omp parallel for schedule(static)
    for (Index at = 0; at < count; ++at) body(at * block, std::min(size, (at + 1) * block));
}

double block_dot(const double* x, const double* y, Index begin, Index end) {
    double total = 0.0;
#pragma omp simd reduction(+ : total)
    for (Index at = begin; at < end; ++at) total += x[at] * y[at];
    return total;
}

}  // namespace

void set_zero(Vector& x) {
    fill_zero(x.data(), x.size());
}

void fill(Vector& x, double value) {
    double* xs = x.data();
    for_blocks(x.size(), [=](Index begin, Index end) { std::fill(xs + begin, xs + end, value); });
}

void copy(const Vector& x, Vector& y) {
    for_blocks(x.size(), [xs = x.data(), ys = y.data()](Index begin, Index end) {
        std::memcpy(ys + begin, xs + begin, std::size_t(end - begin) * sizeof(double));
    });
}

void scale(double a, Vector& x) {
    for_blocks(x.size(), [=, xs = x.data()](Index begin, Index end) {
        for (Index at = begin; at < end; ++at) xs[at] *= a;
    });
}

void axpy(double a, const Vector& x, Vector& y) {
    for_blocks(x.size(), [=, xs = x.data(), ys = y.data()](Index begin, Index end) {
#pragma omp simd
        for (Index at = begin; at < end; ++at) ys[at] += a * xs[at];
    });
}

void xpby(const Vector& x, double b, Vector& y) {
    for_blocks(x.size(), [=, xs = x.data(), ys = y.data()](Index begin, Index end) {
#pragma omp simd
        for (Index at = begin; at < end; ++at) ys[at] = xs[at] + b * ys[at];
    });
}

void axpbypcz(double a, const Vector& x, double b, const Vector& y, double c, Vector& z) {
    for_blocks(x.size(), [=, xs = x.data(), ys = y.data(), zs = z.data()](Index begin, Index end) {
#pragma omp simd
        for (Index at = begin; at < end; ++at) zs[at] = a * xs[at] + b * ys[at] + c * zs[at];
    });
}

double dot(const Vector& x, const Vector& y) {
    return block_sum(x.size(),
                     [xs = x.data(), ys = y.data()](Index begin, Index end) { return block_dot(xs, ys, begin, end); });
}

double norm2(const Vector& x) {
    return std::sqrt(dot(x, x));
}

double axpy_pair(double a, const Vector& p, Vector& x, const Vector& q, Vector& r) {
    return block_sum(x.size(), [=, ps = p.data(), xs = x.data(), qs = q.data(), rs = r.data()](Index begin, Index end) {
        double total = 0.0;
#pragma omp simd reduction(+ : total)
        for (Index at = begin; at < end; ++at) {
            xs[at] += a * ps[at];
            const double value = rs[at] - a * qs[at];
            rs[at] = value;
            total += value * value;
        }
        return total;
    });
}

void dots(std::span<const Vector* const> v, const Vector& w, std::span<double> h) {
    const Index count = blocks_of(w.size());
    const std::size_t columns = v.size();
    std::vector<double> partial(std::size_t(count) * columns);
    for_blocks(w.size(), [&](Index begin, Index end) {
        double* row = partial.data() + std::size_t(begin / block) * columns;
        for (std::size_t m = 0; m < columns; ++m) row[m] = block_dot(v[m]->data(), w.data(), begin, end);
    });
    std::fill(h.begin(), h.end(), 0.0);
    for (Index at = 0; at < count; ++at)
        for (std::size_t m = 0; m < columns; ++m) h[m] += partial[std::size_t(at) * columns + m];
}

double add_combination(std::span<const double> c, std::span<const Vector* const> v, Vector& w) {
    return block_sum(w.size(), [&](Index begin, Index end) {
        double* ws = w.data();
        for (std::size_t m = 0; m < v.size(); ++m) {
            const double* vs = v[m]->data();
            const double a = c[m];
#pragma omp simd
            for (Index at = begin; at < end; ++at) ws[at] += a * vs[at];
        }
        return block_dot(ws, ws, begin, end);
    });
}

double sum(const Vector& x, int component) {
    return block_sum(x.layout().slots(), [xs = x.component(component)](Index begin, Index end) {
        double total = 0.0;
#pragma omp simd reduction(+ : total)
        for (Index at = begin; at < end; ++at) total += xs[at];
        return total;
    });
}

void add_constant(Vector& x, int component, double value) {
    for_blocks(x.layout().slots(), [=, xs = x.component(component)](Index begin, Index end) {
        for (Index at = begin; at < end; ++at) xs[at] += value;
    });
}

bool all_finite(const Vector& x) {
    return block_sum(x.size(), [xs = x.data()](Index begin, Index end) {
               double bad = 0.0;
               for (Index at = begin; at < end; ++at) bad += std::isfinite(xs[at]) ? 0.0 : 1.0;
               return bad;
           }) == 0.0;
}

}  // namespace hyperplane
