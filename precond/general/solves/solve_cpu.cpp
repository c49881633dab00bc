// SPDX-License-Identifier: BSD-3-Clause
#include "core/vector/run_kernel.hpp"
#include "precond/factors/known_dof.hpp"
#include "precond/general/factors/cpu.hpp"
#include "precond/general/factors/reduced_rows.hpp"
#include "precond/general/solves/stored_row.hpp"

namespace hyperplane::general_cpu {
namespace {

/// The rows of factors in the places of the pattern; n is the dof if it is known at compile time.
template <int n, class T>
struct RowsInPlace {
    const GeneralFactors& shape;
    const T* values;
    const StoredValues* reduced;  ///< null in double

    int dof() const { return n > 0 ? n : shape.dof; }
    StoredRow<n, T> lower(Index row) const {
        return blocks(UnitPart::w, row, shape.pattern().row_begin()[row], shape.filled.diagonal[row]);
    }
    StoredRow<n, T> inverse(Index row) const {
        const Index diagonal = shape.filled.diagonal[row];
        return blocks(UnitPart::inverse, row, diagonal, diagonal + 1);
    }
    StoredRow<n, T> upper(Index row) const {
        return blocks(UnitPart::g, row, shape.filled.diagonal[row] + 1, shape.pattern().row_begin()[row + 1]);
    }

private:
    StoredRow<n, T> blocks(UnitPart part, Index row, Index first, Index last) const {
        return {dof(), values + first * dof() * dof(), shape.pattern().column() + first, last - first,
                reduced ? reduced->exponents(place_of_scales(shape, part, row)) : nullptr};
    }
};

/// Asks for the blocks of a row and their columns.
template <int n, class T>
void ask_for_row(const StoredRow<n, T>& row) {
    ask_for(row.blocks, int(row.count) * row.dof() * row.dof());
    ask_for(row.column, int(row.count));
}

/// Calls body(RowsInPlace, row) for all rows in the order of the walk, and ask(RowsInPlace, row) for some before that.
template <class Body, class Ask>
void for_each_row(const GeneralFactors& f, const StoredValues* reduced, const RowWalk& walk, const Body& body,
                  const Ask& ask) {
    const auto with = [&](const auto* values) {
        with_known_dof<1, 2, 3, 4, 5, 6, 7, 8>(f.dof, [&](auto n) {
            const RowsInPlace<n.value, std::remove_cvref_t<decltype(*values)>> m{f, values, reduced};
            walk.for_each_part([&](const RowRange& part) {
                part.for_each([&](Index row) { body(m, row); }, [&](Index row) { ask(m, row); });
            });
        });
    };
    reduced ? reduced->with_values(with) : with(f.values.data());
}

}  // namespace

void lower_solve(const GeneralFactors& f, const RowWalk& walk, const double* r, double* y,
                 const StoredValues* reduced) {
    for_each_row(
        f, reduced, walk,
        [&](const auto& m, Index row) { lower_row(m.lower(row), y, r + row * m.dof(), y + row * m.dof()); },
        [&](const auto& m, Index row) {
            ask_for_row(m.lower(row));
            ask_for(r + row * m.dof(), m.dof());
        });
}

void upper_solve(const GeneralFactors& f, const RowWalk& walk, double* z, const StoredValues* reduced) {
    for_each_row(
        f, reduced, walk,
        [&](const auto& m, Index row) {
            upper_row(m.inverse(row), m.upper(row), z, z + row * m.dof(), z + row * m.dof());
        },
        [&](const auto& m, Index row) {
            ask_for_row(m.inverse(row));
            ask_for_row(m.upper(row));
            ask_for(z + row * m.dof(), m.dof());
        });
}

Index bytes_per_apply(Index rows, Index blocks, int dof, FactorStorage storage) {
    // r once, z written by both solves and read between them, and the places of the diagonal blocks twice.
    return bytes_of_rows(storage, rows, blocks, dof) + BlockPattern::bytes(rows, blocks) +
           2 * rows * Index(sizeof(Index)) + 4 * rows * dof * Index(sizeof(double));
}

}  // namespace hyperplane::general_cpu
