// SPDX-License-Identifier: BSD-3-Clause
#include "problems/long_range_energy.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "core/ranks/all_cuts.hpp"
#include "core/ranks/messages_cuda.hpp"

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

/// Gives each rank what `sent` has for it and receives its part of `received`; both are in the memory of the context's
/// backend, and have the parts of all ranks in their order, behind one another.
void exchange_with_all(const Context& context, const std::vector<RankPart>& sent,
                       const std::vector<RankPart>& received) {
    Communicator& ranks = *context.ranks();
    const auto own = std::size_t(ranks.rank());
    const auto others = [&](std::vector<RankPart> parts) {
        parts.erase(parts.begin() + std::ptrdiff_t(own));
        std::erase_if(parts, [](const RankPart& part) { return part.bytes == 0; });
        return parts;
    };
    if constexpr (cuda_built)
        if (context.backend() == Backend::cuda) {
            context.stream().copy(sent[own].address, received[own].address, sent[own].bytes);
            return cuda::exchange_parts(context, others(sent), others(received));
        }
    std::memcpy(received[own].address, sent[own].address, std::size_t(sent[own].bytes));
    std::vector<double> message;
    for (const RankPart& part : others(sent)) {
        const auto* const values = static_cast<const double*>(part.address);
        message.assign(values, values + part.bytes / Index(sizeof(double)));
        ranks.send(part.rank, message);
    }
    for (const RankPart& part : others(received)) {
        message.resize(std::size_t(part.bytes) / sizeof(double));
        ranks.receive(part.rank, message);
        std::ranges::copy(message, static_cast<double*>(part.address));
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
    rows_ = {domain.grid.nx, domain.grid.ny, ranks.size(), values_.layout().begin_plane(), values_.layout().planes()};
    Grid lines = domain.grid;
    lines.ny = rows_.first(ranks.rank() + 1) - rows_.first(ranks.rank());
    lines_ = Layout(LayoutKind::natural, lines, {});
    of_lines_ = Buffer<double>(context, modes_label, lines_.slots());
    modes_of_lines_ = Buffer<double>(context, modes_label, lines_.slots());
    by_rank_ = Buffer<double>(context, modes_label, values_.layout().slots());
}

void LongRangeEnergy::transform_lines(const Context& context, const VectorView& from, const VectorView& to) {
    const Grid& grid = domain_.grid;
    const std::vector<int> cuts = cuts_between_ranks(context, grid.nz);
    const Layout& own = values_.layout();
    const Index plane_of_lines = lines_.slots_of_plane();
    const auto parts = [&](double* values, const auto& first, const auto& end) {
        std::vector<RankPart> list;
        for (int rank = 0; rank < rows_.ranks; ++rank)
            list.push_back({rank, values + first(rank), (end(rank) - first(rank)) * Index(sizeof(double))});
        return list;
    };
    const auto rows_in_planes = parts(
        by_rank_.data(), [&](int rank) { return rows_.place_of_rank(rank); },
        [&](int rank) { return rows_.place_of_rank(rank + 1); });
    const auto planes_of_rows = [&](double* values) {
        return parts(
            values, [&](int rank) { return cuts[rank] * plane_of_lines; },
            [&](int rank) { return cuts[rank + 1] * plane_of_lines; });
    };
    visit_modes(context, own, "rows by rank", ToRanks{rows_, from.values, by_rank_.data()});
    exchange_with_all(context, rows_in_planes, planes_of_rows(of_lines_.data()));
    visit_modes(context, lines_, "transform",
                AxisTransform{2, grid.nz, plane_of_lines, basis_[2].data(), of_lines_.data(),
                              VectorView{lines_, modes_of_lines_.data()}});
    exchange_with_all(context, planes_of_rows(modes_of_lines_.data()), rows_in_planes);
    visit_modes(context, own, "rows from ranks", FromRanks{rows_, by_rank_.data(), to.values});
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
