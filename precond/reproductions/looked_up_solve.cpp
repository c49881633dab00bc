// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/for_each_point.hpp"
#include "core/matrix/views.hpp"
#include "precond/multicolor/coloured_points.hpp"
#include "precond/reproductions/looked_up_colours.hpp"

namespace hyperplane {
namespace {

/// One step of a triangular solve at a point of a colour.
template <bool down>
struct SolvePoint {
    ColouredView points;
    const double* values;
    ConstVectorView in;
    VectorView out;
    double *v, *w;
    int dof, colour;
    Index count;

    using few_points = void;

    HYPERPLANE_HD void operator()(Int3, Index at) const {
        if (at >= count) return;
        const ColouredView::Place own{colour, at};
        const Int3 p = points.point(colour, at);
        if (!points.grid.contains(p)) return;
        const Index slots = points.grid.points(), slot = points.slot(own), home = in.layout.slot(p);
        double sum[max_dof];
        for (int r = 0; r < dof; ++r) {
            sum[r] = down ? in.at(home, r) : 0.0;
            for (int c = 0; !down && c < dof; ++c)
                sum[r] += values[points.inverse_coefficient(own, r, c, dof)] * v[c * slots + slot];
        }
        const double* x = down ? v : w;
        for (int e = 0; e < points.entries; ++e) {
            const Int3 q = p + points.offsets[e];
            if (!points.grid.contains(q)) continue;
            const Index there = points.slot_of[points.grid.row(q)];
            if ((there < points.begin[colour]) != down) continue;
            for (int r = 0; r < dof; ++r)
                for (int c = 0; c < dof; ++c)
                    sum[r] -= values[points.coefficient(own, e, own, r, c, dof)] * x[c * slots + there];
        }
        for (int r = 0; r < dof; ++r) {
            (down ? v : w)[r * slots + slot] = sum[r];
            if (!down) out.at(home, r) = sum[r];
        }
    }
};

}  // namespace

void solve_by_tables(const ColouredPoints& points, const double* values, const Vector& r, Vector& z, double* v,
                     double* w) {
    const auto step = [&](auto down, int colour) {
        const Index count = points.count(colour);
        if (count == 0) return;
        for_each_point(r.context(), ColouredPoints::lines_of(count), "multicolour solve",
                       SolvePoint<down.value>{points.view(), values, view(r), view(z), v, w, r.dof(), colour, count});
    };
    for (int colour = 0; colour < points.colours(); ++colour) step(std::true_type(), colour);
    for (int colour = points.colours(); colour-- > 0;) step(std::false_type(), colour);
}

}  // namespace hyperplane
