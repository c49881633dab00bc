// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/fingerprint.hpp"

#include <fmt/format.h>

#include <bit>
#include <optional>

#include "core/matrix/struct_matrix.hpp"
#include "core/random.hpp"

namespace hyperplane {
namespace {

std::uint64_t term(Index k, double value) {
    return scramble(scramble(std::uint64_t(k) + 1) ^ std::bit_cast<std::uint64_t>(value));
}

}  // namespace

std::uint64_t fingerprint(const SystemMatrix& matrix) {
    std::optional<StructMatrix> copy;
    const StructMatrix& a = on_host(structured(matrix), copy);
    const Grid& grid = a.grid();
    const int entries = a.stencil().size(), dof = a.dof();
    std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) num_threads(a.context().threads_for(a.unknowns())) reduction(+ : sum)
    for (Index row = 0; row < grid.points(); ++row) {
        const Int3 point = grid.point(row);
        Index k = row * entries * dof * dof;
        for (int e = 0; e < entries; ++e)
            for (int i = 0; i < dof; ++i)
                for (int j = 0; j < dof; ++j) sum += term(k++, a.at(point, e, i, j));
    }
    return sum;
}

std::uint64_t fingerprint(const Vector& x) {
    Vector copy;
    const Vector& host = on_host(x, copy);
    std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) num_threads(host.context().threads_for(x.size())) reduction(+ : sum)
    for (Index row = 0; row < x.space().block_rows(); ++row) {
        const Index at = x.space().slot(row) * x.step();
        for (int c = 0; c < x.dof(); ++c) sum += term(row * x.dof() + c, host.data()[x.first(c) + at]);
    }
    return sum;
}

std::string in_hex(std::uint64_t bits) {
    return fmt::format("{:016x}", bits);
}

}  // namespace hyperplane
