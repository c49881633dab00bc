// SPDX-License-Identifier: BSD-3-Clause
#include "core/matrix/row_order.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/random.hpp"

namespace hyperplane {
namespace {

constexpr const char* label = "row order";

/// What is at `from[row]` for each row.
std::vector<double> gathered(std::span<const double> values, const int* from, int dof) {
    std::vector<double> result(values.size());
    for (Index row = 0; row < Index(values.size()) / dof; ++row)
        for (int c = 0; c < dof; ++c) result[row * dof + c] = values[Index(from[row]) * dof + c];
    return result;
}

}  // namespace

std::vector<double> RowOrder::to_given(std::span<const double> by_place, int dof) const {
    return gathered(by_place, place.data(), dof);
}

std::vector<double> RowOrder::to_places(std::span<const double> by_given_row, int dof) const {
    return gathered(by_given_row, given.data(), dof);
}

std::vector<double> RowOrder::equations_to_given(std::span<const double> by_place, int dof) const {
    std::vector<double> result(by_place.size());
    for (Index p = 0; p < rows(); ++p)
        for (int c = 0; c < dof; ++c) result[Index(equations()[p]) * dof + c] = by_place[p * dof + c];
    return result;
}

std::vector<double> RowOrder::equations_to_places(std::span<const double> by_given_row, int dof) const {
    return gathered(by_given_row, equations(), dof);
}

Index RowOrder::moved() const {
    Index moved = 0;
    for (Index p = 0; p < rows(); ++p) moved += equations()[p] != given[p];
    return moved;
}

std::uint64_t RowOrder::fingerprint() const {
    std::uint64_t sum = 0;
    for (Index p = 0; p < rows(); ++p) sum += random_bits(std::uint64_t(given[p]), std::uint64_t(p));
    for (Index p = 0; p < equation.size(); ++p)
        sum += random_bits(std::uint64_t(rows()) + std::uint64_t(equation[p]), std::uint64_t(p));
    return sum;
}

RowOrder make_row_order(const Context& host, std::string name, Buffer<int> given) {
    RowOrder order{std::move(name), std::move(given), {}, 0.0, {}, {}, 0.0};
    const Index rows = order.rows();
    order.place = Buffer<int>(host, label, rows);
    for (int& place : order.place) place = -1;
    for (Index p = 0; p < rows; ++p) {
        const int row = order.given[p];
        if (row < 0 || row >= rows || order.place[row] >= 0)
            throw Error(ExitCode::internal, fmt::format("ordering {}: row {} at place {} is out of range or has a "
                                                        "place already",
                                                        order.name, row, p));
        order.place[row] = int(p);
    }
    return order;
}

}  // namespace hyperplane
