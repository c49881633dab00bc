// SPDX-License-Identifier: BSD-3-Clause
#include "problems/long_range_energy.hpp"

#include <cmath>
#include <numbers>

namespace hyperplane {
namespace {

constexpr const char* modes_label = "modes of the Laplacian";

/// The orthonormal eigenvectors of the second difference along an axis, and its eigenvalues times -1.
void fill_modes(const Domain& domain, int axis, double* basis, double* eigenvalues) {
    const int n = domain.extent(axis);
    const double h = domain.grid.spacing[axis], pi = std::numbers::pi;
    const bool periodic = domain.grid.periodic[axis];
    for (int m = 0; m < n; ++m) {
        const int k = periodic ? (m + 1) / 2 : m;
        const bool single = m == 0 || (periodic && 2 * k == n), sine = periodic && m > 0 && m % 2 == 0;
        const double norm = std::sqrt((single ? 1.0 : 2.0) / n), turn = periodic ? 2 * pi * k / n : pi * k / n;
        for (int i = 0; i < n; ++i) {
            const double angle = turn * (periodic ? i : i + 0.5);
            basis[Index(m) * n + i] = norm * (sine ? std::sin(angle) : std::cos(angle));
        }
        eigenvalues[m] = n == 1 ? 0.0 : 2 * (1 - std::cos(turn)) / (h * h);
    }
}

}  // namespace

LongRangeEnergy::LongRangeEnergy(const Context& context, const Domain& domain)
    : domain_(domain), values_(context, domain.grid, modes_label), others_(context, domain.grid, modes_label) {
    for (int axis = 0; axis < 3; ++axis) {
        const Index n = domain.extent(axis);
        Buffer<double> basis(context.host(), modes_label, n * n), eigenvalues(context.host(), modes_label, n);
        fill_modes(domain, axis, basis.data(), eigenvalues.data());
        basis_[axis] = moved_to(context, modes_label, std::move(basis));
        eigenvalues_[axis] = moved_to(context, modes_label, std::move(eigenvalues));
    }
}

double LongRangeEnergy::of(const Vector& u, int component, double mean) {
    const Layout natural(LayoutKind::natural, domain_.grid, {});
    const Context& context = u.context();
    VectorView from = values_.view(natural), to = others_.view(natural);
    visit_modes(context, natural, "field", CentredField{view(u), component, mean, from});
    Index stride = 1;
    for (int axis = 0; axis < 3; ++axis) {
        const int n = domain_.extent(axis);
        if (n > 1) {
            visit_modes(context, natural, "transform",
                        AxisTransform{axis, n, stride, basis_[axis].data(), from.values, to});
            std::swap(from, to);
        }
        stride *= n;
    }
    visit_modes(context, natural, "energy of the modes",
                ModeEnergy{{eigenvalues_[0].data(), eigenvalues_[1].data(), eigenvalues_[2].data()}, from.values, to});
    const auto& h = domain_.grid.spacing;
    return h[0] * h[1] * h[2] * (to.values == values_.view(natural).values ? values_ : others_).sum();
}

}  // namespace hyperplane
