// SPDX-License-Identifier: BSD-3-Clause
#include "precond/factors/unit_triangles.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/device/for_each_element.hpp"
#include "core/device/for_each_point.hpp"

namespace hyperplane {
namespace {

/// Writes one row of a block of W or G to values[entry][slot][row][column], where the entries above the diagonal follow
/// those below it; of neighbours outside the grid it writes zeros.
template <class Factors>
struct WriteUnitRow {
    Factors f;
    int dof;
    double* values;

    HYPERPLANE_HD double coefficient(int entry, Index slot, Index there, int row, int column) const {
        if constexpr (std::is_same_v<Factors, FactorView>) {
            if (f.symmetric && entry > f.lower) return f.unit_at(2 * f.lower - entry, there, slot, column, row, dof);
            return f.unit_at(entry, slot, there, row, column, dof);
        } else {
            return f.at(entry, slot, there, row, column);
        }
    }
    HYPERPLANE_HD void operator()(int at, int number) const {
        const Index slots = f.layout.slots(), slot = at % slots;
        const int row = int(at / slots), entry = number < f.lower ? number : number + 1;
        const Int3 p = f.layout.point(slot), q = p + f.offsets[entry];
        const bool inside = f.layout.grid().contains(q);
        double* const out = values + ((number * slots + slot) * dof + row) * dof;
        for (int column = 0; column < dof; ++column)
            out[column] = inside ? coefficient(entry, slot, f.layout.slot(q), row, column) : 0.0;
    }
};

/// A triangle from such values of its entries, the first of which has number `first`.
CsrMatrix triangle_from(const Layout& layout, int dof, const std::vector<Int3>& offsets, int first, int count,
                        const std::vector<double>& values) {
    const Grid& grid = layout.grid();
    const Index slots = layout.slots(), points = grid.points();
    CsrMatrix triangle;
    triangle.rows = points * dof;
    triangle.row_begin.push_back(0);
    std::vector<std::pair<Index, const double*>> blocks;  // neighbour, and the first coefficient of its block
    for (Index point = 0; point < points; ++point) {
        const Int3 p = grid.point(point);
        blocks.clear();
        for (int e = first; e < first + count; ++e) {
            const Int3 q = p + offsets[std::size_t(e)];
            if (!grid.contains(q)) continue;
            const double* const block = values.data() + (e * slots + layout.slot(p)) * dof * dof;
            if (std::any_of(block, block + dof * dof, [](double value) { return value != 0.0; }))
                blocks.emplace_back(grid.row(q), block);
        }
        blocks.emplace_back(point, nullptr);
        std::sort(blocks.begin(), blocks.end());
        for (int row = 0; row < dof; ++row) {
            for (const auto& [neighbour, block] : blocks)
                for (int column = 0; column < dof; ++column) {
                    if (!block && column != row) continue;
                    triangle.column.push_back(neighbour * dof + column);
                    triangle.value.push_back(block ? block[row * dof + column] : 1.0);
                }
            triangle.row_begin.push_back(Index(triangle.column.size()));
        }
    }
    return triangle;
}

}  // namespace

UnitTriangles unit_triangles_of(const Context& context, const TriangleFactors& factors, int dof) {
    return std::visit(
        [&](const auto& f) {
            const Index slots = f.layout.slots();
            const Context host = context.host();
            std::vector<Int3> offsets(std::size_t(2 * f.lower + 1));
            copy_between(context, f.offsets, host, offsets.data(), Index(offsets.size() * sizeof(Int3)));
            offsets.erase(offsets.begin() + f.lower);  // the diagonal
            Buffer<double> there(context, "triangles", 2 * f.lower * slots * dof * dof);
            for_each_element(context, slots * dof, 2 * f.lower, "copy of triangles",
                             WriteUnitRow<std::decay_t<decltype(f)>>{f, dof, there.data()});
            std::vector<double> values(std::size_t(there.size()));
            copy_between(context, there.data(), host, values.data(), there.size() * Index(sizeof(double)));
            return UnitTriangles{triangle_from(f.layout, dof, offsets, 0, f.lower, values),
                                 triangle_from(f.layout, dof, offsets, f.lower, f.lower, values)};
        },
        factors);
}

}  // namespace hyperplane
