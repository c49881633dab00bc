// SPDX-License-Identifier: BSD-3-Clause
#include "core/vector/single_vector.hpp"

#include "core/vector/blas1.hpp"
#include "core/vector/single_updates.hpp"

namespace hyperplane {

using namespace single_updates;

namespace {

template <class Update>
void update(const Context& context, Index size, const Update& body) {
    if constexpr (cuda_built)
        if (context.backend() == Backend::cuda) return single_updates::on_gpu(context, size, body);
    const double factor = body.factor();
#pragma omp parallel for simd schedule(static) num_threads(context.threads_for(size))
    for (Index at = 0; at < size; ++at) body.store(at, factor, body.load(at));
}

}  // namespace

void round_to_single(const Context& context, const double* x, float* y, Index size) {
    update(context, size, Conversion<double, float>{x, y, nullptr, false});
}

void round_to_single(const Vector& x, SingleVector& y) {
    round_scaled(x, nullptr, y);
}

void widen(const SingleVector& x, Vector& y) {
    widen_scaled(x, nullptr, y);
}

void round_scaled(const Vector& x, const double* square, SingleVector& y) {
    update(x.context(), y.size(), Conversion<double, float>{x.data(), y.data(), square, false});
}

void widen_scaled(const SingleVector& x, const double* square, Vector& y) {
    update(x.context(), x.size(), Conversion<float, double>{x.data(), y.data(), square, true});
}

void widen_scaled_dot(const SingleVector& x, const double* square, const Vector& r, Vector& y, double* product) {
    if constexpr (cuda_built)
        if (x.backend() == Backend::cuda) return widen_dot_on_gpu(x, square, r, y, product);
    widen_scaled(x, square, y);
    dot(r, y, product);
}

void set_zero(SingleVector& x) {
    if (x.backend() == Backend::cuda)
        x.context().stream().zero(x.data(), x.size() * Index(sizeof(float)));
    else
        fill_zero(x.context(), x.data(), x.size());
}

void scale(double a, SingleVector& x) {
    update(x.context(), x.size(), Scaling{a, x.data()});
}

void axpy(double a, const SingleVector& x, SingleVector& y) {
    update(x.context(), x.size(), Addition{a, x.data(), y.data()});
}

void subtract(const SingleVector& x, const Vector& y, SingleVector& z) {
    update(x.context(), x.size(), Difference{x.data(), y.data(), z.data()});
}

}  // namespace hyperplane
