// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/solves/staged_triangle.hpp"

#include <algorithm>
#include <array>

#include "precond/factors/known_dof.hpp"
#include "precond/general/factors/cpu.hpp"

namespace hyperplane {

std::pair<Index, Index> StagedTriangle::blocks_of(const GeneralFactors& factors, Index row) const {
    const Index* const begin = factors.pattern().row_begin() + row;
    const Index diagonal = factors.filled.diagonal[row];
    return side_ == Side::lower ? std::pair(begin[0], diagonal) : std::pair(diagonal, begin[1]);
}

StagedTriangle::StagedTriangle(const Context& context, const GeneralFactors& factors, std::span<const int> rows,
                               Side side, FactorStorage storage, const std::string& label)
    : side_(side), storage_(storage), dof_(factors.dof), rows_(rows), begin_(context, label, Index(rows.size()) + 1) {
    for (std::size_t at = 0; at < rows.size(); ++at) {
        const auto [first, last] = blocks_of(factors, rows[at]);
        begin_[Index(at) + 1] = begin_[Index(at)] + last - first;
    }
    column_ = Buffer<int>(context, label, begin_[Index(rows.size())]);
    const Index values = column_.size() * dof_ * dof_;
    if (is_reduced(storage))
        reduced_ = StoredValues(context, storage, values, place_of_scales(Index(rows.size())), label);
    else
        values_ = Buffer<double>(context, label, values);
    for (std::size_t at = 0; at < rows.size(); ++at) {
        const auto [first, last] = blocks_of(factors, rows[at]);
        std::copy(factors.pattern().column() + first, factors.pattern().column() + last,
                  column_.data() + begin_[Index(at)]);
    }
}

void StagedTriangle::take(const GeneralFactors& factors) {
    const int size = dof_ * dof_;
#pragma omp parallel for schedule(static) num_threads(values_.context().threads_for(values_.size()))
    for (std::size_t at = 0; at < rows_.size(); ++at) {
        const auto [first, last] = blocks_of(factors, rows_[at]);
        std::copy(factors.values.data() + first * size, factors.values.data() + last * size,
                  values_.data() + begin_[Index(at)] * size);
    }
}

void StagedTriangle::round(const GeneralFactors& factors, Index first_number, RoundingLog& log) {
    const Index size = Index(dof_) * dof_;
    reduced_.with_values([&](auto* values) {
        const auto round_row = [&](Index at, std::vector<double>& scratch) {
            const auto [first, last] = blocks_of(factors, rows_[at]);
            const double* const from = factors.values.data() + first * size;
            auto* const to = values + begin_[at] * size;
            RowExponent* const exponents = reduced_.exponents(place_of_scales(at));
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
void StagedTriangle::solve_reduced(const T* values, Index first, Index last, const double* r, double* y) const {
    const int dof = m > 0 ? m : dof_;
    for (Index step = 0; step < last - first; ++step) {
        const Index at = upper() ? last - 1 - step : first + step, row = rows_[at], begin = begin_[at];
        const RowExponent* const exponents = reduced_.exponents(place_of_scales(at));
        const ReducedRow<m, T> leading{dof, values + begin * dof * dof, column_.data() + begin, begin_[at + 1] - begin,
                                       exponents};
        if (!upper()) {
            lower_row(leading, y, r + row * dof, y + row * dof);
            continue;
        }
        const ReducedRow<m, T> g{dof, leading.blocks + dof * dof, leading.column + 1, leading.count - 1,
                                 exponents ? exponents + dof : nullptr};
        upper_row(leading, g, y, r + row * dof, y + row * dof);
    }
}

template <int m>
void StagedTriangle::solve_known(Index first, Index last, const double* r, double* y) const {
    if (is_reduced(storage_))
        return reduced_.with_values([&](const auto* values) { solve_reduced<m>(values, first, last, r, y); });
    const int dof = m > 0 ? m : dof_;
    std::array<double, m == 0 ? max_dof : m> sum;
    const bool upper = this->upper();
    for (Index step = 0; step < last - first; ++step) {
        const Index at = upper ? last - 1 - step : first + step, row = rows_[at];
        std::copy_n(r + row * dof, dof, sum.begin());
        for (Index b = begin_[at] + upper; b < begin_[at + 1]; ++b)
            general_cpu::subtract_block<m>(dof, values_.data() + b * dof * dof, y + Index(column_[b]) * dof,
                                           sum.data());
        if (upper)
            general_cpu::apply_inverse<m>(dof, values_.data() + begin_[at] * dof * dof, sum.data(), y + row * dof);
        else
            std::copy_n(sum.begin(), dof, y + row * dof);
    }
}

void StagedTriangle::solve(Index first, Index last, const double* r, double* y) const {
    with_known_dof<1, 2, 3, 4, 5, 6, 7, 8>(dof_, [&](auto m) { solve_known<m.value>(first, last, r, y); });
}

}  // namespace hyperplane
