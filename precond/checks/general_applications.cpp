// SPDX-License-Identifier: BSD-3-Clause
#include "precond/checks/general_applications.hpp"

#include <vector>

#include "precond/checks/applications.hpp"
#include "precond/checks/errors.hpp"

namespace hyperplane {
namespace {

/// A vector's values in the order of solution.
std::vector<double> values_of(const Vector& x) {
    Vector here(x.context().host(), x.space(), x.dof(), "check");
    transfer(x, here);
    return {here.data(), here.data() + here.memory().size()};
}

/// x = b - (T - I) x from x = 0, `sweeps` times, for a triangle T with ones on its diagonal.
std::vector<double> swept(const CsrMatrix& triangle, int sweeps, const std::vector<double>& b) {
    std::vector<double> x(b.size(), 0.0), out = b;
    for (int at = 0; at < sweeps; ++at) {
        for (Index row = 0; row < triangle.rows; ++row) {
            double sum = b[row];
            for (Index e = triangle.row_begin[row]; e < triangle.row_begin[row + 1]; ++e)
                if (triangle.column[e] != row) sum -= triangle.value[e] * x[triangle.column[e]];
            out[row] = sum;
        }
        std::swap(x, out);
    }
    return x;
}

/// v = D^-1 v for a matrix of full dof x dof blocks on the diagonal.
void divide_by_diagonal(const CsrMatrix& diagonal, int dof, std::vector<double>& v) {
    for (Index first = 0; first < diagonal.rows; first += dof)
        divide_by_block(
            dof, [&](int row, int col) { return diagonal.value[diagonal.row_begin[first + row] + col]; }, &v[first]);
}

}  // namespace

double diagonal_error(const BsrMatrix& a, const Vector& r, const Vector& z) {
    const std::vector<double> of_r = values_of(r), of_z = values_of(z);
    const int dof = a.dof();
    double largest = 0.0, scale = 0.0;
    for (Index row = 0; row < a.pattern()->rows(); ++row) {
        const double* const block = a.values() + a.pattern()->find(row, int(row)) * dof * dof;
        for (int i = 0; i < dof; ++i) {
            double sum = of_r[row * dof + i], size = magnitude(sum);
            for (int c = 0; c < dof; ++c) {
                const double term = block[i * dof + c] * of_z[row * dof + c];
                sum -= term;
                size += magnitude(term);
            }
            raise(&largest, magnitude(sum)), raise(&scale, size);
        }
    }
    return largest / scale;
}

ApplicationCheck no_check_of_asynchronous_sweeps() {
    return {.unchecked = "the bits of asynchronous sweeps differ from run to run"};
}

ApplicationCheck check_sweeps(const LduFactors& factors, int dof, const SweepOptions& options, const Vector& r,
                              const Vector& z) {
    if (options.mode != SweepMode::sync) return no_check_of_asynchronous_sweeps();
    std::vector<double> v = swept(factors.lower, options.lower, values_of(r));
    divide_by_diagonal(factors.diagonal, dof, v);
    const std::vector<double> expected = swept(factors.upper, options.upper, v), found = values_of(z);
    double largest = 0.0, scale = 0.0;
    for (std::size_t at = 0; at < expected.size(); ++at)
        raise(&largest, magnitude(found[at] - expected[at])), raise(&scale, magnitude(expected[at]));
    return {largest / scale, bound_of_double(), ""};
}

}  // namespace hyperplane
