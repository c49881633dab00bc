#include "core/blas1.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "core/threads.hpp"

namespace hyperplane {
namespace {

/// Values summed in one go; fixed, so that sums do not depend on the number of threads.
constexpr Index block = 2048;

Index blocks_of(Index size) {
    return (size + block - 1) / block;
}

// A pass over vectors begins where the pass before it ended, in what the caches still hold: updates
// run downwards, sums and matrix products upwards.
enum class Walk { up, down };

/// body(block, first, count) for every block; threads move through memory side by side.
template <class Body>
void for_blocks(Index size, Walk walk, const Body& body) {
    const Index count = blocks_of(size);
#pragma omp parallel for schedule(static, 1) num_threads(threads_for(size))
    for (Index turn = 0; turn < count; ++turn) {
        const Index at = walk == Walk::up ? turn : count - 1 - turn;
        body(at, at * block, std::min(block, size - at * block));
    }
}

/// body(first, count) for every block.
template <class Body>
void update_blocks(Index size, const Body& body) {
    for_blocks(size, Walk::down, [&](Index, Index first, Index count) { body(first, count); });
}

/// Sum over blocks of body(first, count), added up in the order of the blocks.
template <class Body>
double sum_blocks(Index size, Walk walk, const Body& body) {
    std::vector<double> partial(blocks_of(size));
    for_blocks(size, walk, [&](Index at, Index first, Index count) { partial[at] = body(first, count); });
    return std::accumulate(partial.begin(), partial.end(), 0.0);
}

// The loops take plain pointers: through a closure's captures gcc 12 gathers and scatters every element.

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

void axpbypcz_block(double a, const double* x, double b, const double* y, double c, double* z, Index count) {
#pragma omp simd
    for (Index at = 0; at < count; ++at) z[at] = a * x[at] + b * y[at] + c * z[at];
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

double axpy_pair_block(double a, const double* p, double* x, const double* q, double* r, Index count) {
    double total = 0.0;
#pragma omp simd reduction(+ : total)
    for (Index at = 0; at < count; ++at) {
        x[at] += a * p[at];
        const double value = r[at] - a * q[at];
        r[at] = value;
        total += value * value;
    }
    return total;
}

void add_constant_block(double value, double* x, Index count) {
#pragma omp simd
    for (Index at = 0; at < count; ++at) x[at] += value;
}

}  // namespace

void set_zero(Vector& x) {
    fill_zero(x.data(), x.size());
}

void fill(Vector& x, double value) {
    update_blocks(x.size(), [&](Index at, Index count) { std::fill_n(x.data() + at, count, value); });
}

void copy(const Vector& x, Vector& y) {
    update_blocks(x.size(), [&](Index at, Index count) {
        std::memcpy(y.data() + at, x.data() + at, std::size_t(count) * sizeof(double));
    });
}

void scale(double a, Vector& x) {
    update_blocks(x.size(), [&](Index at, Index count) { scale_block(a, x.data() + at, count); });
}

void axpy(double a, const Vector& x, Vector& y) {
    update_blocks(x.size(), [&](Index at, Index count) { axpy_block(a, x.data() + at, y.data() + at, count); });
}

void xpby(const Vector& x, double b, Vector& y) {
    update_blocks(x.size(), [&](Index at, Index count) { xpby_block(x.data() + at, b, y.data() + at, count); });
}

void axpbypcz(double a, const Vector& x, double b, const Vector& y, double c, Vector& z) {
    update_blocks(x.size(), [&](Index at, Index count) {
        axpbypcz_block(a, x.data() + at, b, y.data() + at, c, z.data() + at, count);
    });
}

double dot(const Vector& x, const Vector& y) {
    return sum_blocks(x.size(), Walk::up,
                      [&](Index at, Index count) { return dot_block(x.data() + at, y.data() + at, count); });
}

double norm2(const Vector& x) {
    return std::sqrt(dot(x, x));
}

double axpy_norm2(double a, const Vector& x, Vector& y) {
    return sum_blocks(x.size(), Walk::down,
                      [&](Index at, Index count) { return axpy_norm2_block(a, x.data() + at, y.data() + at, count); });
}

void axpy_xpby(double a, Vector& x, const Vector& z, double b, Vector& p) {
    update_blocks(x.size(), [&](Index at, Index count) {
        axpy_xpby_block(a, x.data() + at, z.data() + at, b, p.data() + at, count);
    });
}

double axpy_pair(double a, const Vector& p, Vector& x, const Vector& q, Vector& r) {
    return sum_blocks(x.size(), Walk::down, [&](Index at, Index count) {
        return axpy_pair_block(a, p.data() + at, x.data() + at, q.data() + at, r.data() + at, count);
    });
}

void dots(std::span<const Vector* const> v, const Vector& w, std::span<double> h) {
    const std::size_t columns = v.size();
    std::vector<double> partial(std::size_t(blocks_of(w.size())) * columns);
    for_blocks(w.size(), Walk::up, [&](Index at, Index first, Index count) {
        double* row = partial.data() + std::size_t(at) * columns;
        for (std::size_t m = 0; m < columns; ++m) row[m] = dot_block(v[m]->data() + first, w.data() + first, count);
    });
    std::fill(h.begin(), h.end(), 0.0);
    for (std::size_t at = 0; at < partial.size(); ++at) h[at % columns] += partial[at];
}

double add_combination(std::span<const double> c, std::span<const Vector* const> v, Vector& w) {
    return sum_blocks(w.size(), Walk::down, [&](Index at, Index count) {
        for (std::size_t m = 0; m < v.size(); ++m) axpy_block(c[m], v[m]->data() + at, w.data() + at, count);
        return dot_block(w.data() + at, w.data() + at, count);
    });
}

double sum(const Vector& x, int component) {
    return sum_blocks(x.layout().slots(), Walk::up,
                      [&](Index at, Index count) { return sum_block(x.component(component) + at, count); });
}

void add_constant(Vector& x, int component, double value) {
    update_blocks(x.layout().slots(),
                  [&](Index at, Index count) { add_constant_block(value, x.component(component) + at, count); });
}

bool all_finite(const Vector& x) {
    const auto count_bad = [&](Index at, Index count) {
        return double(std::count_if(x.data() + at, x.data() + at + count, [](double v) { return !std::isfinite(v); }));
    };
    return sum_blocks(x.size(), Walk::up, count_bad) == 0.0;
}

}  // namespace hyperplane
