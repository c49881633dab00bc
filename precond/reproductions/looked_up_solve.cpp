// SPDX-License-Identifier: BSD-3-Clause
#include <type_traits>

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
    Index first, count;  ///< the places that are computed
    Index slots;

    using few_points = void;

    HYPERPLANE_HD void operator()(Int3, Index at) const {
        if (at >= count) return;
        const ColouredView::Place own{colour, first + at};
        const Int3 p = points.point(colour, first + at);
        if (!points.grid.contains(p)) return;
        const Index slot = points.slot(own), home = in.layout.slot(p);
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
    const Index slots = points.shape().slots;
    const auto step = [&](auto down, int colour) {
        const auto [first, end] = points.owned(r.layout(), colour);
        if (first < end)
            for_each_point(r.context(), ColouredPoints::lines_of(end - first), "multicolour solve",
                           SolvePoint<down.value>{points.view(), values, view(r), view(z), v, w, r.dof(), colour, first,
                                                  end - first, slots});
        if (colour == (down.value ? points.colours() - 1 : 0)) return;  // no later step reads this colour there
        std::vector<double*> components;
        for (int c = 0; c < r.dof(); ++c)
            components.push_back((down.value ? v : w) + c * slots + points.host().begin[colour]);
        points.exchange(r.context(), r.layout(), colour, components);
    };
    for (int colour = 0; colour < points.colours(); ++colour) step(std::true_type(), colour);
    for (int colour = points.colours(); colour-- > 0;) step(std::false_type(), colour);
}

}  // namespace hyperplane
