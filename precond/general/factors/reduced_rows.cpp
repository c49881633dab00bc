// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/factors/reduced_rows.hpp"

#include "precond/factors/rounding_events.hpp"

namespace hyperplane::general_cpu {

StoredValues reduced_rows(const Context& context, FactorStorage storage, const GeneralFactors& shape,
                          const std::string& label) {
    return {context, storage, shape.value_count(), 3 * shape.pattern().rows() * shape.dof, label};
}

Rounding round(const GeneralFactors& factors, const BsrMatrix& a, StoredValues& reduced) {
    const int dof = factors.dof;
    const Index* const begin = factors.pattern().row_begin();
    const Index size = Index(dof) * dof, first = a.space().first_block_row();
    return rounding_by(a.context(), a.space(), dof, 3, [&](RoundingLog* log) {
        reduced.with_values([&](auto* to) {
            const auto round_row = [&](Index row, std::vector<double>& scratch) {
                const Index diagonal = factors.filled.diagonal[row], unknown = (first + row) * dof;
                const auto in_double = [&](Index block) { return factors.values.data() + block * size; };
                const auto scales = [&](UnitPart part) {
                    return reduced.exponents(place_of_scales(factors, part, row));
                };
                round_blocks(dof, UnitPart::w, unknown, in_double(begin[row]), diagonal - begin[row],
                             to + begin[row] * size, scales(UnitPart::w), *log);
                round_blocks(dof, UnitPart::inverse, unknown, in_double(diagonal), 1, to + diagonal * size,
                             scales(UnitPart::inverse), *log);
                round_product(dof, unknown, in_double(diagonal), in_double(diagonal + 1), begin[row + 1] - diagonal - 1,
                              to + (diagonal + 1) * size, scales(UnitPart::g), *log, scratch);
            };
#pragma omp parallel num_threads(a.context().threads_for(factors.value_count()))
            {
                std::vector<double> scratch;
#pragma omp for schedule(static)
                for (Index row = 0; row < factors.pattern().rows(); ++row) round_row(row, scratch);
            }
        });
    });
}

GeneralFactors widened(const GeneralFactors& shape, const StoredValues& reduced) {
    const BlockPattern& p = shape.pattern();
    const int dof = shape.dof;
    GeneralFactors wide;
    wide.filled.pattern = shape.filled.pattern;
    wide.filled.lower = shape.filled.lower;
    wide.dof = dof;
    wide.symmetric = shape.symmetric;
    wide.unit = true;
    wide.values = Buffer<double>(p.context(), "factors", shape.value_count());
    reduced.with_values([&](const auto* values) {
        for (Index row = 0; row < p.rows(); ++row)
            for (Index block = p.row_begin()[row]; block < p.row_begin()[row + 1]; ++block) {
                const Index diagonal = shape.filled.diagonal[row];
                const UnitPart part = block < diagonal   ? UnitPart::w
                                      : block > diagonal ? UnitPart::g
                                                         : UnitPart::inverse;
                const RowExponent* const exponents = reduced.exponents(place_of_scales(shape, part, row));
                for (Index r = 0; r < dof; ++r)
                    for (Index c = 0; c < dof; ++c) {
                        const Index at = (block * dof + r) * dof + c;
                        wide.values[at] = hyperplane::widened(values[at]) * (exponents ? scale_of(exponents[r]) : 1.0);
                    }
            }
    });
    return wide;
}

}  // namespace hyperplane::general_cpu
