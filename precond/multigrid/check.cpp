// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/check.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace hyperplane::multigrid {
namespace {

using Values = std::vector<double>;  ///< in natural order, dof fastest

class SlowCycle {
public:
    SlowCycle(const Hierarchy& hierarchy, const MultigridOptions& options) : h_(hierarchy), options_(options) {
        for (int grid = 0; grid < h_.size(); ++grid) {
            copies_.emplace_back();
            matrices_.push_back(on_host(h_.matrix(grid), copies_.back()).to_csr());
            copies_.back().reset();
        }
    }

    Values run(int grid, const Values& b, CycleKind kind) const { return run(grid, b, Values(b.size(), 0.0), kind); }

private:
    Values run(int grid, const Values& b, Values x, CycleKind kind) const {
        if (grid + 1 == h_.size()) {
            if (options_.coarsest_sweeps == 0) return solve(grid, b);
            x.assign(x.size(), 0.0);
            for (int sweep = 0; sweep < options_.coarsest_sweeps; ++sweep) smooth(grid, b, x);
            return x;
        }
        for (int step = 0; step < options_.pre_smoothing; ++step) smooth(grid, b, x);
        const Values coarse_b = restricted(grid, residual(grid, b, x));
        Values coarse_x = run(grid + 1, coarse_b, kind);
        if (kind != CycleKind::v)
            coarse_x = run(grid + 1, coarse_b, coarse_x, kind == CycleKind::w ? CycleKind::w : CycleKind::v);
        add_prolonged(grid, coarse_x, x);
        for (int step = 0; step < options_.post_smoothing; ++step) smooth(grid, b, x);
        return x;
    }

    Values residual(int grid, const Values& b, const Values& x) const {
        const CsrMatrix& a = matrices_[grid];
        Values r = b;
        for (Index row = 0; row < a.rows; ++row)
            for (Index at = a.row_begin[row]; at < a.row_begin[row + 1]; ++at) r[row] -= a.value[at] * x[a.column[at]];
        return r;
    }

    void smooth(int grid, const Values& b, Values& x) const {
        const StructMatrix& a = h_.matrix(grid);
        Vector r(a.context(), a.layout(), a.dof(), "bench"), z(a.context(), a.layout(), a.dof(), "bench");
        from_natural(residual(grid, b, x), r);
        h_[grid].smoother.preconditioner().apply(r, z);
        const Values step = to_natural(z);
        for (std::size_t at = 0; at < x.size(); ++at) x[at] += h_[grid].smoother.omega() * step[at];
    }

    /// Calls body(fine point, coarse point, weight) for every coefficient of P.
    template <class Body>
    void for_weights(int grid, const Body& body) const {
        const Interpolation& p = *h_[grid].interpolation;
        const Coarsening& grids = p.grids();
        const Values weights = p.natural_weights();
        for (Index row = 0; row < grids.coarse.points(); ++row)
            for (int number = 0; number < 27; ++number) {
                const double weight = weights[row * 27 + number];
                Int3 child;
                if (weight != 0.0 && grids.child(grids.coarse.point(row), offset_of(number), child))
                    body(grids.fine.row(child), row, weight);
            }
    }
    Values restricted(int grid, const Values& r) const {
        const int dof = h_.matrix(grid).dof();
        Values coarse(h_.matrix(grid + 1).unknowns(), 0.0);
        for_weights(grid, [&](Index fine, Index to, double weight) {
            for (int c = 0; c < dof; ++c) coarse[to * dof + c] += weight * r[fine * dof + c];
        });
        return coarse;
    }
    void add_prolonged(int grid, const Values& coarse, Values& x) const {
        const int dof = h_.matrix(grid).dof();
        for_weights(grid, [&](Index fine, Index from, double weight) {
            for (int c = 0; c < dof; ++c) x[fine * dof + c] += weight * coarse[from * dof + c];
        });
    }
    Values solve(int grid, const Values& b) const {
        const Index n = h_.matrix(grid).unknowns();
        const Values inverse = h_.coarsest().natural_inverse();
        Values x(b.size(), 0.0);
        for (Index row = 0; row < n; ++row)
            for (Index col = 0; col < n; ++col) x[row] += inverse[row * n + col] * b[col];
        return x;
    }

    const Hierarchy& h_;
    const MultigridOptions& options_;
    std::vector<std::optional<StructMatrix>> copies_;
    std::vector<CsrMatrix> matrices_;
};

}  // namespace

double cycle_error(const Hierarchy& hierarchy, const MultigridOptions& options, const Vector& r, const Vector& z) {
    const Values expected = SlowCycle(hierarchy, options).run(0, to_natural(r), options.cycle), got = to_natural(z);
    double error = 0.0, largest = 0.0;
    for (std::size_t at = 0; at < got.size(); ++at) {
        const double difference = std::abs(got[at] - expected[at]);
        if (!(difference <= error) && error == error) error = difference;  // a NaN stays
        largest = std::max(largest, std::abs(expected[at]));
    }
    return error / largest;
}

}  // namespace hyperplane::multigrid
