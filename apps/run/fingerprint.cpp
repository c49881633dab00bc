// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/fingerprint.hpp"

#include <fmt/format.h>

#include <bit>
#include <optional>
#include <vector>

#include "core/matrix/bsr_matrix.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "core/random.hpp"
#include "core/ranks/cuts.hpp"

namespace hyperplane {
namespace {

std::uint64_t term(Index k, double value) {
    return scramble(scramble(std::uint64_t(k) + 1) ^ std::bit_cast<std::uint64_t>(value));
}

/// The fingerprint of one block's coefficients. Zeros are left out, so that it does not matter whether they are stored.
template <class Value>
std::uint64_t of_block(Index row, Index column, int dof, Index unknowns, const Value& value) {
    std::uint64_t sum = 0;
    for (int i = 0; i < dof; ++i)
        for (int j = 0; j < dof; ++j)
            if (const double v = value(i, j); v != 0.0) sum += term((row * dof + i) * unknowns + column * dof + j, v);
    return sum;
}

/// The sum over all ranks.
std::uint64_t of_all_ranks(const Context& context, std::uint64_t mine) {
    std::uint64_t sum = 0;
    const std::vector<double> halves = gathered(context, {double(mine >> 32), double(mine & 0xffffffffu)});
    for (std::size_t at = 0; at < halves.size(); at += 2)
        sum += (std::uint64_t(halves[at]) << 32) + std::uint64_t(halves[at + 1]);
    return sum;
}

std::uint64_t of_structured(const StructMatrix& a) {
    const Grid& grid = a.grid();
    const Index first = a.space().first_block_row(), end = first + a.space().block_rows();
    std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) num_threads(a.context().threads_for(a.unknowns())) reduction(+ : sum)
    for (Index row = first; row < end; ++row) {
        const Int3 point = grid.point(row);
        for (int e = 0; e < a.stencil().size(); ++e)
            if (const Int3 q = grid.wrapped(point + a.stencil()[e]); grid.contains(q))
                sum += of_block(row, grid.row(q), a.dof(), grid.points() * a.dof(),
                                [&](int i, int j) { return a.at(point, e, i, j); });
    }
    return of_all_ranks(a.context(), sum);
}

/// `given`: the number of each place in the given order; null where that is the place itself.
std::uint64_t of_vector(const Vector& x, const int* given) {
    Vector copy;
    const Vector& host = on_host(x, copy);
    const Index first = x.space().first_block_row();
    std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) num_threads(host.context().threads_for(x.size())) reduction(+ : sum)
    for (Index row = 0; row < x.space().block_rows(); ++row) {
        const Index at = x.space().slot(row) * x.step(), number = given ? given[first + row] : first + row;
        for (int c = 0; c < x.dof(); ++c) sum += term(number * x.dof() + c, host.data()[x.first(c) + at]);
    }
    return of_all_ranks(x.context(), sum);
}

std::uint64_t of_general(const BsrMatrix& a) {
    const BlockPattern& p = *a.pattern();
    const int dof = a.dof();
    const Index all = a.space().all_block_rows() * dof;
    std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) num_threads(a.context().threads_for(a.unknowns())) reduction(+ : sum)
    for (Index row = 0; row < p.rows(); ++row)
        for (Index at = p.row_begin()[row]; at < p.row_begin()[row + 1]; ++at)
            sum += of_block(p.given_equation(row), p.given_row(p.column()[at]), dof, all,
                            [&](int i, int j) { return a.values()[(at * dof + i) * dof + j]; });
    return of_all_ranks(a.context(), sum);
}

}  // namespace

std::uint64_t fingerprint(const SystemMatrix& matrix) {
    if (const auto* const a = dynamic_cast<const BsrMatrix*>(&matrix)) {
        std::unique_ptr<BsrMatrix> copy;
        return of_general(on_host(*a, copy));
    }
    std::optional<StructMatrix> copy;
    return of_structured(on_host(structured(matrix), copy));
}

std::uint64_t fingerprint(const Vector& x, const RowOrder* order) {
    return of_vector(x, order ? order->given.data() : nullptr);
}

std::uint64_t fingerprint_of_equations(const Vector& b, const RowOrder* order) {
    return of_vector(b, order ? order->equations() : nullptr);
}

std::uint64_t fingerprint(const SavedValues& values) {
    std::uint64_t sum = 0;
    values.for_each_piece([&](Index first, const std::vector<double>& piece) {
        for (std::size_t at = 0; at < piece.size(); ++at) sum += term(first + Index(at), piece[at]);
    });
    return sum;
}

std::string in_hex(std::uint64_t bits) {
    return fmt::format("{:016x}", bits);
}

}  // namespace hyperplane
