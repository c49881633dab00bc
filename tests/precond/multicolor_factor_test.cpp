// SPDX-License-Identifier: BSD-3-Clause
// multicolor's factorisation on a CPU, which processes many points at a time, compared with that point by point.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "precond/multicolor/by_point.hpp"
#include "precond/swept.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;

/// W, D^-1 and G, and the number of pivots that could not be used.
struct ColouredFactors {
    std::vector<double> values;
    Index failures;
    PivotRatio smallest;
};

class ColouredSystem {
public:
    ColouredSystem(const StructMatrix& a)
        : a_(a),
          shape_(a.grid(), a.stencil(), ColourRule::stencil),
          points_(Context::cpu(), shape_, a.dof(), a.symmetric()) {
        for (const Int3 o : shape_.offsets) entry_.push_back(a.stencil().find(o));
    }

    ColouredFactors by_pieces(double alpha, bool eliminates = true) const {
        ColouredFactors f = empty();
        PivotInverter inverter({}, a_.grid(), a_.dof(), a_.symmetric());
        multicolor::factor_pieces(a_, points_, entry_.data(), alpha, inverter, eliminates, f.values.data());
        SetupReport report;
        inverter.add_to(report);
        f.failures = inverter.failures();
        f.smallest = {report.smallest_pivot_ratio, a_.grid().row(report.smallest_pivot_cell)};
        return f;
    }
    ColouredFactors by_points(double alpha, bool eliminates = true) const {
        ColouredFactors f = empty();
        std::vector<double> ratios(std::size_t(a_.grid().points()));
        PivotLog log = empty_pivot_log();
        multicolor::factor(a_, points_, entry_.data(), alpha, {}, &log, eliminates, ratios.data(), f.values.data());
        f.failures = Index(log.failures);
        for (std::size_t row = 0; row < ratios.size(); ++row) f.smallest.take(ratios[row], Index(row));
        return f;
    }

private:
    ColouredFactors empty() const {
        return {std::vector<double>(std::size_t(shape_.coefficients(a_.dof(), a_.symmetric())), 0.0), 0, {}};
    }

    const StructMatrix& a_;
    ColouredShape shape_;
    ColouredPoints points_;
    std::vector<Index> entry_;
};

/// The largest difference. Two NaN count as equal, one NaN as an infinite difference.
double difference(const std::vector<double>& x, const std::vector<double>& y) {
    double most = 0.0;
    for (std::size_t at = 0; at < x.size(); ++at)
        if (std::isnan(x[at]) != std::isnan(y[at]))
            return std::numeric_limits<double>::infinity();
        else if (!std::isnan(x[at]))
            most = std::max(most, std::abs(x[at] - y[at]));
    return most;
}

void expect_same(const StructMatrix& a, double alpha) {
    const SeveralThreads several(a.context(), 3);
    const ColouredSystem system(a);
    const ColouredFactors pieces = system.by_pieces(alpha), points = system.by_points(alpha);
    EXPECT_LT(difference(pieces.values, points.values), 1e-15);
    EXPECT_EQ(pieces.failures, points.failures);
    EXPECT_NEAR(pieces.smallest.value, points.smallest.value, 1e-15);
    EXPECT_EQ(pieces.smallest.row, points.smallest.row);
}

template <class Body>
void for_each_system(const std::vector<Grid>& grids, const std::vector<int>& dofs, const Body& body) {
    for (const Stencil& stencil : Stencil::ready_made())
        for (const Grid& grid : grids)
            for (const int dof : dofs)
                for (const MatrixStorage storage : storages)
                    for (const LayoutKind kind : layout_kinds) {
                        SCOPED_TRACE(stencil.name() + " " + std::to_string(dof) + " " + std::to_string(grid.nx) + " " +
                                     to_string(kind) + (storage == MatrixStorage::lower ? " lower" : " full"));
                        const Layout layout(kind, grid, stencil.level_map());
                        body(random_struct_matrix(layout, stencil, dof, storage, 3));
                    }
}

/// Grids whose colours consist of several pieces, some whose planes and lines are shorter than the number of colours,
/// and a periodic one.
TEST(MulticolorFactorisation, ByPiecesIsThatByPoints) {
    for_each_system({{67, 35, 9}}, {1}, [](const StructMatrix& a) { expect_same(a, 0.0); });
    for_each_system({{29, 15, 5}, {1, 1, 40}, {40, 1, 1}, {2, 3, 1}, {1, 1, 1}}, {1, 4},
                    [](const StructMatrix& a) { expect_same(a, 0.0); });
    for_each_system({{9, 7, 5}}, {2, 3, 5, 6, 7, 8, 9, 13}, [](const StructMatrix& a) { expect_same(a, 0.125); });
    Grid periodic{9, 6, 8};
    periodic.periodic[0] = periodic.periodic[2] = true;
    for_each_system({periodic}, {1, 3}, [](const StructMatrix& a) { expect_same(a, 0.0); });
}

/// A NaN affects only the points whose factors depend on it, although a place outside the grid is that of another
/// point.
TEST(MulticolorFactorisation, ANanReachesOnlyPointsThatDependOnIt) {
    for_each_system({{7, 6, 5}}, {1, 2}, [](StructMatrix a) {
        for (const Int3 p : {Int3{6, 2, 2}, {0, 3, 1}, {3, 5, 4}})
            for (int e = 0; e < a.stored_entries(); ++e) {
                const Int3 q = p + a.stencil()[e];
                if (!a.grid().contains(q)) continue;
                double& value = a.values(e, 0, a.dof() - 1)[a.layout().slot(p)];
                const double before = value;
                value = std::numeric_limits<double>::quiet_NaN();
                expect_same(a, 0.0);
                value = before;
            }
    });
}

}  // namespace
}  // namespace hyperplane
