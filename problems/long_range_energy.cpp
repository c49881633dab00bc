// SPDX-License-Identifier: BSD-3-Clause
#include "problems/long_range_energy.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/ranks/all_cuts.hpp"

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

/// The first row of lines along z that rank `rank` transforms.
int first_row_of_lines(const Grid& grid, const Communicator& ranks, int rank) {
    return int(Index(grid.ny) * rank / ranks.size());
}

/// The values of rows of lines in some planes, behind one another.
struct LinePiece {
    double* values;  ///< of the first row in the first plane
    Index in_plane;  ///< values of the rows in a plane
    Index plane;     ///< distance of planes
    int planes;

    Index size() const { return in_plane * planes; }
    void copy_to(double* message) const {
        for (int k = 0; k < planes; ++k) std::copy_n(values + k * plane, in_plane, message + k * in_plane);
    }
    void copy_from(const double* message) const {
        for (int k = 0; k < planes; ++k) std::copy_n(message + k * in_plane, in_plane, values + k * plane);
    }
};

/// Gives piece(rank) of `gives` to each rank and receives that of `takes` from each.
template <class Gives, class Takes>
void exchange_pieces(Communicator& ranks, const Gives& gives, const Takes& takes) {
    std::vector<double> message;
    for (int other = 0; other < ranks.size(); ++other) {
        const LinePiece piece = gives(other);
        message.resize(std::size_t(piece.size()));
        piece.copy_to(message.data());
        if (other == ranks.rank())
            takes(other).copy_from(message.data());
        else if (!message.empty())
            ranks.send(other, message);
    }
    for (int other = 0; other < ranks.size(); ++other) {
        const LinePiece piece = takes(other);
        if (other == ranks.rank() || piece.size() == 0) continue;
        message.resize(std::size_t(piece.size()));
        ranks.receive(other, message);
        piece.copy_from(message.data());
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
    if (!values_.layout().is_part()) return;
    const Communicator& ranks = *context.ranks();
    Grid lines = domain.grid;
    lines.ny =
        first_row_of_lines(domain.grid, ranks, ranks.rank() + 1) - first_row_of_lines(domain.grid, ranks, ranks.rank());
    lines_ = Layout(LayoutKind::natural, lines, {});
    of_lines_ = Buffer<double>(context, modes_label, lines_.slots());
    modes_of_lines_ = Buffer<double>(context, modes_label, lines_.slots());
}

void LongRangeEnergy::transform_lines(const Context& context, const VectorView& from, const VectorView& to) {
    Communicator& ranks = *context.ranks();
    const Grid& grid = domain_.grid;
    const std::vector<int> cuts = cuts_between_ranks(context, grid.nz);
    const Layout& own = values_.layout();
    const auto rows_in_planes = [&](double* values) {
        return [&, values](int rank) {
            const Index first = first_row_of_lines(grid, ranks, rank), end = first_row_of_lines(grid, ranks, rank + 1);
            return LinePiece{values + first * grid.nx, (end - first) * grid.nx, own.slots_of_plane(), own.planes()};
        };
    };
    const auto planes_of_rows = [&](double* values) {
        return [&, values](int rank) {
            const Index plane = lines_.slots_of_plane();
            return LinePiece{values + cuts[rank] * plane, plane, plane, cuts[rank + 1] - cuts[rank]};
        };
    };
    exchange_pieces(ranks, rows_in_planes(from.values), planes_of_rows(of_lines_.data()));
    visit_modes(context, lines_, "transform",
                AxisTransform{2, grid.nz, lines_.slots_of_plane(), basis_[2].data(), of_lines_.data(),
                              VectorView{lines_, modes_of_lines_.data()}});
    exchange_pieces(ranks, planes_of_rows(modes_of_lines_.data()), rows_in_planes(to.values));
}

double LongRangeEnergy::of(const Vector& u, int component, double mean) {
    const Layout& natural = values_.layout();
    const Context& context = u.context();
    VectorView from = values_.view(natural), to = others_.view(natural);
    visit_modes(context, natural, "field", CentredField{view(u), component, mean, from});
    Index stride = 1;
    for (int axis = 0; axis < 3; ++axis) {
        const int n = domain_.extent(axis);
        if (n > 1) {
            if (axis == 2 && natural.is_part())
                transform_lines(context, from, to);
            else
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
