// SPDX-License-Identifier: BSD-3-Clause
// Forward-mode dual numbers: a value and its derivatives with respect to N seeds.
#pragma once

#include <array>
#include <cmath>

namespace hyperplane::test {

template <int N>
struct Dual {
    double value = 0.0;
    std::array<double, N> d{};

    Dual() = default;
    Dual(double v) : value(v) {}  // NOLINT: constants mix with duals
    /// The independent variable number `seed`.
    Dual(double v, int seed) : value(v) { d[seed] = 1.0; }

    /// f(x), where `f` is the value and `slope` the derivative at x.
    static Dual of(double f, double slope, const Dual& x) {
        Dual y(f);
        for (int s = 0; s < N; ++s) y.d[s] = slope * x.d[s];
        return y;
    }
    friend Dual operator+(const Dual& a, const Dual& b) {
        Dual y(a.value + b.value);
        for (int s = 0; s < N; ++s) y.d[s] = a.d[s] + b.d[s];
        return y;
    }
    friend Dual operator-(const Dual& a) { return of(-a.value, -1.0, a); }
    friend Dual operator-(const Dual& a, const Dual& b) { return a + -b; }
    friend Dual operator*(const Dual& a, const Dual& b) {
        Dual y(a.value * b.value);
        for (int s = 0; s < N; ++s) y.d[s] = a.d[s] * b.value + a.value * b.d[s];
        return y;
    }
    friend Dual operator/(const Dual& a, const Dual& b) {
        Dual y(a.value / b.value);
        for (int s = 0; s < N; ++s) y.d[s] = (a.d[s] - y.value * b.d[s]) / b.value;
        return y;
    }
    Dual& operator+=(const Dual& b) { return *this = *this + b; }
    Dual& operator-=(const Dual& b) { return *this = *this - b; }
    friend Dual fused(const Dual& a, const Dual& b, const Dual& c) { return a * b + c; }
    friend bool operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
    friend bool operator>(const Dual& a, const Dual& b) { return a.value > b.value; }
    friend bool operator<=(const Dual& a, const Dual& b) { return a.value <= b.value; }
    friend bool operator>=(const Dual& a, const Dual& b) { return a.value >= b.value; }
    friend Dual quotient(const Dual& a, const Dual& b) { return a / b; }
    friend Dual root(const Dual& a) { return of(std::sqrt(a.value), 0.5 / std::sqrt(a.value), a); }
    friend Dual abs(const Dual& a) { return a.value < 0.0 ? -a : a; }
};

}  // namespace hyperplane::test
