// SPDX-License-Identifier: BSD-3-Clause
#include "core/vector/blas1_cuda.hpp"
#include "core/vector/passes_cuda.cuh"

namespace hyperplane::cuda {
namespace {

// In the operations v[k] is the element of array k.

struct Fill : Operation<1, 0, 0, 1> {
    double value;
    __device__ void operator()(double* v, double*) const { v[0] = value; }
};

struct Copy : Operation<2, 0, 0b01, 0b10> {
    __device__ void operator()(double* v, double*) const { v[1] = v[0]; }
};

/// An operation with a coefficient a. With `skips`, there is nothing to do if a = 0.
template <int arrays, int sums, unsigned read, unsigned written, bool skips>
struct WithRatio : Operation<arrays, sums, read, written> {
    Ratio ratio;
    double a;
    __device__ bool prepare() {
        a = ratio.value();
        return !skips || a != 0.0;
    }
};

struct Scale : WithRatio<1, 0, 1, 1, false> {
    __device__ void operator()(double* v, double*) const { v[0] *= a; }
};

struct DivideByRoot : Operation<1, 0, 1, 1> {
    const double* square;
    double a;
    __device__ bool prepare() {
        a = 1.0 / sqrt(*square);
        return *square != 0.0;
    }
    __device__ void operator()(double* v, double*) const { v[0] *= a; }
};

struct Axpy : WithRatio<2, 0, 0b11, 0b10, true> {
    __device__ void operator()(double* v, double*) const { v[1] = fma(a, v[0], v[1]); }
};

struct Xpby : WithRatio<2, 0, 0b11, 0b10, false> {
    __device__ void operator()(double* v, double*) const { v[1] = a == 0.0 ? v[0] : fma(a, v[1], v[0]); }
};

struct Add : WithRatio<3, 0, 0b011, 0b100, true> {
    __device__ void operator()(double* v, double*) const { v[2] = fma(a, v[1], v[0]); }
};

struct Direction : Operation<3, 0, 0b111, 0b100> {
    Ratio of_c, of_o;
    double c, inverse;
    __device__ bool prepare() {
        c = of_c.value();
        inverse = 1.0 / of_o.value();
        return true;
    }
    __device__ void operator()(double* v, double*) const {
        v[2] = c == 0.0 ? v[0] : fma(c, fma(inverse, v[2], -v[1]), v[0]);
    }
};

struct Dot : Operation<2, 1, 0b11, 0> {
    __device__ void operator()(double* v, double* sum) const { sum[0] = fma(v[0], v[1], sum[0]); }
};

struct Square : Operation<1, 1, 1, 0> {
    __device__ void operator()(double* v, double* sum) const { sum[0] = fma(v[0], v[0], sum[0]); }
};

struct ScaledSquare : Operation<1, 1, 1, 0> {
    double factor;
    __device__ void operator()(double* v, double* sum) const {
        const double value = factor * v[0];
        sum[0] = fma(value, value, sum[0]);
    }
};

struct DotNorm2 : Operation<2, 2, 0b11, 0> {
    __device__ void operator()(double* v, double* sum) const {
        sum[0] = fma(v[0], v[1], sum[0]);
        sum[1] = fma(v[1], v[1], sum[1]);
    }
};

struct AxpyNorm2 : WithRatio<2, 1, 0b11, 0b10, false> {
    __device__ void operator()(double* v, double* sum) const {
        if (a != 0.0) v[1] = fma(a, v[0], v[1]);
        sum[0] = fma(v[1], v[1], sum[0]);
    }
};

struct AxpyNorm2Dot : WithRatio<3, 2, 0b111, 0b010, false> {
    __device__ void operator()(double* v, double* sum) const {
        if (a != 0.0) v[1] = fma(a, v[0], v[1]);
        sum[0] = fma(v[1], v[1], sum[0]);
        sum[1] = fma(v[2], v[1], sum[1]);
    }
};

struct AxpyXpby : Operation<3, 0, 0b111, 0b101> {
    Ratio of_a, of_b;
    double a, b;
    __device__ bool prepare() {
        a = of_a.value();
        b = of_b.value();
        return true;
    }
    __device__ void operator()(double* v, double*) const {  // x, z, p
        if (a != 0.0) v[0] = fma(a, v[2], v[0]);
        v[2] = b == 0.0 ? v[1] : fma(b, v[2], v[1]);
    }
};

struct PipelinedStep : Operation<10, pipelined_sums, 0b1111111111, 0b1111111100> {
    const double* before;
    double* now;
    double beta, alpha, alpha_before;
    __device__ bool prepare() {
        const PipelinedCoefficients by(before);
        beta = by.beta;
        alpha = by.alpha;
        alpha_before = by.alpha_before;
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            now[used_ru] = before[sum_ru];
            now[used_alpha] = alpha;
        }
        return true;
    }
    __device__ void operator()(double* element, double* sum) const {
        const double v = element[0], n = element[1];
        double &x = element[2], &r = element[3], &u = element[4], &w = element[5];
        double &p = element[6], &s = element[7], &q = element[8], &z = element[9];
        if (alpha_before != 0.0) x = fma(alpha_before, p, x);
        z = beta == 0.0 ? n : fma(beta, z, n);
        q = beta == 0.0 ? v : fma(beta, q, v);
        s = beta == 0.0 ? w : fma(beta, s, w);
        p = beta == 0.0 ? u : fma(beta, p, u);
        if (alpha != 0.0) {
            r = fma(-alpha, s, r);
            u = fma(-alpha, q, u);
            w = fma(-alpha, z, w);
        }
        sum[sum_ru] = fma(r, u, sum[sum_ru]);
        sum[sum_wu] = fma(w, u, sum[sum_wu]);
        sum[sum_rr] = fma(r, r, sum[sum_rr]);
        sum[sum_us_wp] = fma(u, s, fma(w, p, sum[sum_us_wp]));
        sum[sum_ps] = fma(p, s, sum[sum_ps]);
    }
};

struct Sum : Operation<1, 1, 1, 0> {
    __device__ void operator()(double* v, double* sum) const { sum[0] += v[0]; }
};

struct AddConstant : WithRatio<1, 0, 1, 1, true> {
    __device__ void operator()(double* v, double*) const { v[0] += a; }
};

/// The same operation on elements that are `step` values apart, a component of plain rows.
template <class Op>
struct WithStep : Op {
    static constexpr int widest = 1;
    Index step;
    __device__ Index place(Index at) const { return at * step; }
};

/// The values of a vector with those of its halos, which lie around each component.
const double* all(const Vector& x) {
    return x.memory().data();
}

struct CountNotFinite : Operation<1, 1, 1, 0> {
    __device__ void operator()(double* v, double* sum) const { sum[0] += isfinite(v[0]) ? 0.0 : 1.0; }
};

}  // namespace

void fill(Vector& x, double value) {
    run("fill", Fill{{{all(x)}, {}}, value}, x);
}

void copy(const Vector& x, Vector& y) {
    run("copy", Copy{{{all(x), all(y)}, {}}}, x);
}

void scale(const Ratio& a, Vector& x) {
    run("scale", Scale{{{{all(x)}, {}}, a, 0.0}}, x);
}

void divide_by_root(const double* square, Vector& x) {
    run("divide_by_root", DivideByRoot{{{all(x)}, {}}, square, 0.0}, x);
}

void axpy(const Ratio& a, const Vector& x, Vector& y) {
    run("axpy", Axpy{{{{all(x), all(y)}, {}}, a, 0.0}}, x);
}

void xpby(const Vector& x, const Ratio& b, Vector& y) {
    run("xpby", Xpby{{{{all(x), all(y)}, {}}, b, 0.0}}, x);
}

void add(const Vector& x, const Ratio& a, const Vector& y, Vector& z) {
    run("add", Add{{{{all(x), all(y), all(z)}, {}}, a, 0.0}}, x);
}

void direction(const Vector& r, const Ratio& c, const Ratio& o, const Vector& v, Vector& p) {
    run("direction", Direction{{{all(r), all(v), all(p)}, {}}, c, o, 0.0, 0.0}, r);
}

void axpy_xpby(const Ratio& a, Vector& x, const Vector& z, const Ratio& b, Vector& p) {
    run("axpy_xpby", AxpyXpby{{{all(x), all(z), all(p)}, {}}, a, b, 0.0, 0.0}, x);
}

void add_constant(Vector& x, int component, const Ratio& value) {
    const AddConstant add{{{{x.data() + x.first(component)}, {}}, value, 0.0}};
    if (x.step() == 1) return run(x.context(), "add_constant", add, x.space().block_rows());
    run(x.context(), "add_constant", WithStep<AddConstant>{add, x.step()}, x.space().block_rows());
}

void dot(const Vector& x, const Vector& y, double* product) {
    if (&x == &y)
        run_sums("square", Square{{{x.data()}, {product}}}, x);
    else
        run_sums("dot", Dot{{{x.data(), y.data()}, {product}}}, x);
}

void scaled_square(double factor, const Vector& x, double* square) {
    run_sums("scaled_square", ScaledSquare{{{x.data()}, {square}}, factor}, x);
}

void dot_norm2(const Vector& x, const Vector& y, double* xy, double* yy) {
    run_sums("dot_norm2", DotNorm2{{{x.data(), y.data()}, {xy, yy}}}, x);
}

void axpy_norm2(const Ratio& a, const Vector& x, Vector& y, double* yy) {
    run_sums("axpy_norm2", AxpyNorm2{{{{x.data(), y.data()}, {yy}}, a, 0.0}}, x);
}

void axpy_norm2_dot(const Ratio& a, const Vector& x, Vector& y, const Vector& u, double* yy, double* uy) {
    run_sums("axpy_norm2_dot", AxpyNorm2Dot{{{{x.data(), y.data(), u.data()}, {yy, uy}}, a, 0.0}}, x);
}

void pipelined_step(const double* before, double* now, const PipelinedVectors& vectors) {
    const PipelinedStep step{
        {{vectors.v.data(), vectors.n.data(), vectors.x.data(), vectors.r.data(), vectors.u.data(), vectors.w.data(),
          vectors.p.data(), vectors.s.data(), vectors.q.data(), vectors.z.data()},
         {now, now + 1, now + 2, now + 3, now + 4}},
        before,
        now,
        0.0,
        0.0,
        0.0};
    run_sums("pipelined_step", step, vectors.x);
}

void sum(const Vector& x, int component, double* total) {
    const Sum sum{{{x.data() + x.first(component)}, {total}}};
    if (x.step() == 1) return run_sums("sum", sum, x, 1);
    run_sums("sum", WithStep<Sum>{sum, x.step()}, x, 1);
}

void count_not_finite(const Vector& x, double* count) {
    run_sums("count_not_finite", CountNotFinite{{{x.data()}, {count}}}, x);
}

}  // namespace hyperplane::cuda
