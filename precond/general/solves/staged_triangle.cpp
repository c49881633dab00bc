// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/solves/staged_triangle.hpp"

#include <algorithm>

#include "precond/factors/known_dof.hpp"
#include "precond/general/solves/stored_row.hpp"

namespace hyperplane {

std::pair<Index, Index> StagedTriangle::blocks_of(const GeneralFactors& factors, Index row) const {
    const Index* const begin = factors.pattern().row_begin() + row;
    const Index diagonal = factors.filled.diagonal[row];
    return side_ == Side::lower ? std::pair(begin[0], diagonal) : std::pair(diagonal, begin[1]);
}

StagedTriangle::StagedTriangle(const Context& context, const GeneralFactors& factors, std::span<const int> rows,
                               Side side, FactorStorage storage, const std::string& label)
    : side_(side), dof_(factors.dof), rows_(rows), begin_(context, label, Index(rows.size()) + 1) {
    for (std::size_t at = 0; at < rows.size(); ++at) {
        const auto [first, last] = blocks_of(factors, rows[at]);
        begin_[Index(at) + 1] = begin_[Index(at)] + last - first;
    }
    column_ = Buffer<int>(context, label, begin_[Index(rows.size())]);
    values_ = StoredValues(context, storage, column_.size() * dof_ * dof_, place_of_scales(Index(rows.size())), label);
    for (std::size_t at = 0; at < rows.size(); ++at) {
        const auto [first, last] = blocks_of(factors, rows[at]);
        std::copy(factors.pattern().column() + first, factors.pattern().column() + last,
                  column_.data() + begin_[Index(at)]);
    }
}

void StagedTriangle::take(const GeneralFactors& factors) {
    const int size = dof_ * dof_;
    double* const to = static_cast<double*>(values_.data());
#pragma omp parallel for schedule(static) num_threads(begin_.context().threads_for(column_.size() * size))
    for (std::size_t at = 0; at < rows_.size(); ++at) {
        const auto [first, last] = blocks_of(factors, rows_[at]);
        std::copy(factors.values.data() + first * size, factors.values.data() + last * size,
                  to + begin_[Index(at)] * size);
    }
}

void StagedTriangle::round(const GeneralFactors& factors, Index first_number, RoundingLog& log) {
    const Index size = Index(dof_) * dof_;
    values_.with_values([&](auto* values) {
        const auto round_row = [&](Index at, std::vector<double>& scratch) {
            const auto [first, last] = blocks_of(factors, rows_[at]);
            const double* const from = factors.values.data() + first * size;
            auto* const to = values + begin_[at] * size;
            RowExponent* const exponents = values_.exponents(place_of_scales(at));
            const Index unknown = (first_number + rows_[at]) * dof_;
            if (!upper()) return round_blocks(dof_, UnitPart::w, unknown, from, last - first, to, exponents, log);
            round_blocks(dof_, UnitPart::inverse, unknown, from, 1, to, exponents, log);
            round_product(dof_, unknown, from, from + size, last - first - 1, to + size,
                          exponents ? exponents + dof_ : nullptr, log, scratch);
        };
#pragma omp parallel num_threads(begin_.context().threads_for(column_.size() * size))
        {
            std::vector<double> scratch;
#pragma omp for schedule(static)
            for (Index at = 0; at < Index(rows_.size()); ++at) round_row(at, scratch);
        }
    });
}

template <int m, class T>
void StagedTriangle::solve_known(const T* values, Index first, Index last, const double* r, double* y) const {
    const int dof = m > 0 ? m : dof_;
    for (Index step = 0; step < last - first; ++step) {
        const Index at = upper() ? last - 1 - step : first + step, row = rows_[at], begin = begin_[at];
        const RowExponent* const exponents = values_.exponents(place_of_scales(at));
        const StoredRow<m, T> leading{dof, values + begin * dof * dof, column_.data() + begin, begin_[at + 1] - begin,
                                      exponents};
        if (!upper()) {
            lower_row(leading, y, r + row * dof, y + row * dof);
            continue;
        }
        const StoredRow<m, T> rest{dof, leading.block(1), leading.column + 1, leading.count - 1,
                                   exponents ? exponents + dof : nullptr};
        upper_row(leading, rest, y, r + row * dof, y + row * dof);
    }
}

void StagedTriangle::solve(Index first, Index last, const double* r, double* y) const {
    values_.with_any_values([&](const auto* values) {
        with_known_dof<1, 2, 3, 4, 5, 6, 7, 8>(dof_, [&](auto m) { solve_known<m.value>(values, first, last, r, y); });
    });
}

}  // namespace hyperplane
