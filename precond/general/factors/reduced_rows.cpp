// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/factors/reduced_rows.hpp"

#include "precond/factors/known_dof.hpp"
#include "precond/factors/rounding_events.hpp"

namespace hyperplane {
namespace {

/// The place of the first exponent of a block row.
Index place_of_scales(const GeneralFactors& shape, UnitPart part, Index row) {
    return (Index(part) * shape.pattern().rows() + row) * shape.dof;
}

/// The rows of W, D^-1 and G; n is the dof if it is known at compile time.
template <int n, class T>
struct RowsOfM {
    const GeneralFactors& shape;
    const StoredValues& numbers;
    const T* values;

    int dof() const { return n > 0 ? n : shape.dof; }
    ReducedRow<n, T> w(Index row) const {
        return blocks(UnitPart::w, row, shape.pattern().row_begin()[row], shape.filled.diagonal[row]);
    }
    ReducedRow<n, T> inverse(Index row) const {
        const Index diagonal = shape.filled.diagonal[row];
        return blocks(UnitPart::inverse, row, diagonal, diagonal + 1);
    }
    ReducedRow<n, T> g(Index row) const {
        return blocks(UnitPart::g, row, shape.filled.diagonal[row] + 1, shape.pattern().row_begin()[row + 1]);
    }

private:
    ReducedRow<n, T> blocks(UnitPart part, Index row, Index first, Index last) const {
        return {dof(), values + first * dof() * dof(), shape.pattern().column() + first, last - first,
                numbers.exponents(place_of_scales(shape, part, row))};
    }
};

/// Calls body(RowsOfM, row) for all rows in the order of the walk.
template <class Body>
void for_each_row(const GeneralFactors& shape, const StoredValues& numbers, const RowWalk& walk, const Body& body) {
    numbers.with_values([&](const auto* values) {
        with_known_dof<1, 2, 3, 4, 5, 6, 7, 8>(shape.dof, [&](auto n) {
            const RowsOfM<n.value, std::remove_cvref_t<decltype(*values)>> m{shape, numbers, values};
            walk.for_each_part([&](const RowRange& part) { part.for_each([&](Index row) { body(m, row); }); });
        });
    });
}

}  // namespace

ReducedRows::ReducedRows(const Context& context, FactorStorage storage, const GeneralFactors& shape,
                         const std::string& label)
    : rows_(shape.pattern().rows()),
      dof_(shape.dof),
      numbers_(context, storage, shape.value_count(), 3 * rows_ * dof_, label) {}

Rounding ReducedRows::round(const GeneralFactors& factors, const BsrMatrix& a) {
    const Index* const begin = factors.pattern().row_begin();
    const Index size = Index(dof_) * dof_, first = a.space().first_block_row();
    return rounding_by(a.context(), a.space(), dof_, 3, [&](RoundingLog* log) {
        numbers_.with_values([&](auto* to) {
            const auto round_row = [&](Index row, std::vector<double>& scratch) {
                const Index diagonal = factors.filled.diagonal[row], unknown = (first + row) * dof_;
                const auto in_double = [&](Index block) { return factors.values.data() + block * size; };
                const auto scales = [&](UnitPart part) {
                    return numbers_.exponents(place_of_scales(factors, part, row));
                };
                round_blocks(dof_, UnitPart::w, unknown, in_double(begin[row]), diagonal - begin[row],
                             to + begin[row] * size, scales(UnitPart::w), *log);
                round_blocks(dof_, UnitPart::inverse, unknown, in_double(diagonal), 1, to + diagonal * size,
                             scales(UnitPart::inverse), *log);
                round_product(dof_, unknown, in_double(diagonal), in_double(diagonal + 1),
                              begin[row + 1] - diagonal - 1, to + (diagonal + 1) * size, scales(UnitPart::g), *log,
                              scratch);
            };
#pragma omp parallel num_threads(a.context().threads_for(factors.value_count()))
            {
                std::vector<double> scratch;
#pragma omp for schedule(static)
                for (Index row = 0; row < rows_; ++row) round_row(row, scratch);
            }
        });
    });
}

void ReducedRows::lower_solve(const GeneralFactors& shape, const RowWalk& walk, const double* r, double* y) const {
    for_each_row(shape, numbers_, walk,
                 [&](const auto& m, Index row) { lower_row(m.w(row), y, r + row * m.dof(), y + row * m.dof()); });
}

void ReducedRows::upper_solve(const GeneralFactors& shape, const RowWalk& walk, double* z) const {
    for_each_row(shape, numbers_, walk, [&](const auto& m, Index row) {
        upper_row(m.inverse(row), m.g(row), z, z + row * m.dof(), z + row * m.dof());
    });
}

GeneralFactors ReducedRows::widened(const GeneralFactors& shape) const {
    const BlockPattern& p = shape.pattern();
    GeneralFactors wide;
    wide.filled.pattern = shape.filled.pattern;
    wide.filled.lower = shape.filled.lower;
    wide.dof = dof_;
    wide.symmetric = shape.symmetric;
    wide.unit = true;
    wide.values = Buffer<double>(p.context(), "factors", shape.value_count());
    numbers_.with_values([&](const auto* values) {
        for (Index row = 0; row < rows_; ++row)
            for (Index block = p.row_begin()[row]; block < p.row_begin()[row + 1]; ++block) {
                const Index diagonal = shape.filled.diagonal[row];
                const UnitPart part = block < diagonal   ? UnitPart::w
                                      : block > diagonal ? UnitPart::g
                                                         : UnitPart::inverse;
                const RowExponent* const exponents = numbers_.exponents(place_of_scales(shape, part, row));
                for (Index r = 0; r < dof_; ++r)
                    for (Index c = 0; c < dof_; ++c) {
                        const Index at = (block * dof_ + r) * dof_ + c;
                        wide.values[at] = hyperplane::widened(values[at]) * (exponents ? scale_of(exponents[r]) : 1.0);
                    }
            }
    });
    return wide;
}

}  // namespace hyperplane
