// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/factors/check.hpp"

#include <algorithm>
#include <cmath>

#include "core/matrix/block_pattern.hpp"
#include "precond/checks/errors.hpp"
#include "precond/general/factors/host_values.hpp"

namespace hyperplane {
namespace {

/// A product of blocks with a vector, and of their magnitudes with the vector's.
struct Sums {
    const BlockPattern& pattern;
    const double* values;
    int dof;

    /// sum += the blocks [begin, end) times x, and size += |blocks| |x|.
    void add(Index begin, Index end, const double* x, const double* sizes, double* sum, double* size) const {
        for (Index at = begin; at < end; ++at)
            for (int row = 0; row < dof; ++row)
                for (int col = 0; col < dof; ++col) {
                    const double value = values[(at * dof + row) * dof + col];
                    const Index from = Index(pattern.column()[at]) * dof + col;
                    sum[row] += value * x[from];
                    size[row] += std::abs(value) * sizes[from];
                }
    }
};

}  // namespace

double error_of_solves(const GeneralFactors& factors, const Buffer<Index>& diagonals, const Vector& r,
                       const Vector& z) {
    const HostValues<double> values(factors.values), of_r(r.memory()), of_z(z.memory());
    const HostValues<Index> middles(diagonals);
    const BlockPattern& p = factors.pattern();
    const int dof = factors.dof;
    const Index rows = p.rows();
    const Context host = factors.values.context().host();
    const Sums sums{p, values.data(), dof};
    Buffer<double> y(host, "check", rows * dof), size(host, "check", rows * dof), z_size(host, "check", rows * dof);
    for (Index at = 0; at < rows * dof; ++at) z_size[at] = std::abs(of_z.data()[at]);
    const int threads = host.threads_for(rows * dof);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (Index row = 0; row < rows; ++row) {  // y = U z, or y = D (I + G) z
        const Index middle = middles.data()[row];
        double* const own = y.data() + row * dof;
        for (int c = 0; c < dof; ++c) own[c] = of_z.data()[row * dof + c];
        const auto add_neighbours = [&] {
            sums.add(middle + 1, p.row_begin()[row + 1], of_z.data(), z_size.data(), own, size.data() + row * dof);
        };
        if (factors.unit) add_neighbours();
        const double* const inverse = values.data() + middle * dof * dof;
        divide_by_block(
            dof, [&](int i, int j) { return inverse[i * dof + j]; }, own);
        for (int c = 0; c < dof; ++c) size[row * dof + c] = std::abs(own[c]);
        if (!factors.unit) add_neighbours();
    }
    double largest = 0.0, scale = 0.0;
    bool finite = true;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(max : largest, scale) reduction(&& : finite)
    for (Index row = 0; row < rows; ++row) {  // L y - r
        double sum[max_dof] = {}, all[max_dof] = {};
        sums.add(p.row_begin()[row], middles.data()[row], y.data(), size.data(), sum, all);
        for (int c = 0; c < dof; ++c) {
            const Index at = row * dof + c;
            const double error = std::abs(y[at] + sum[c] - of_r.data()[at]);
            finite = finite && std::isfinite(error);
            largest = std::max(largest, error);
            scale = std::max(scale, size[at] + all[c] + std::abs(of_r.data()[at]));
        }
    }
    return finite ? largest / scale : std::nan("");
}

}  // namespace hyperplane
