// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multicolor/factor_cuda.hpp"

#include "precond/kernel_set.hpp"

namespace hyperplane {
namespace {

// Those of the kernel.
constexpr int places = ColourFactorisation::places;
constexpr Index stages_bytes = Index(3) * 4 * places * 66 * Index(sizeof(double));

Index shared_bytes(int entries) {
    return (Index(places) * ((entries + 1) * 64 + 2)) * Index(sizeof(double)) + stages_bytes + places * (entries + 1);
}

/// The products at the points of a colour, lower entries in the order of the colours that they lead to.
int list_products(const ColouredView& points, int colour, bool eliminates, ColourProduct* to) {
    const int entries = points.entries;
    int count = 0;
    for (int earlier = 0; earlier < colour; ++earlier)
        for (int l = 0; l < entries; ++l) {
            const Index at = Index(colour) * entries + l, shift = points.shift[at];
            if (points.next[at] != earlier) continue;
            const auto add = [&](Index from, int e) { to[count++] = {from + shift, short(l), short(e)}; };
            const Index* const blocks = points.block + Index(earlier) * entries;
            if (eliminates) add(blocks[entries - 1 - l], entries);
            for (int e = 0; e < entries && eliminates; ++e)
                if (const Index u = points.sum[Index(e) * entries + l];
                    u >= 0 && points.next[Index(colour) * entries + e] > earlier)
                    add(blocks[u], e);
            add(points.inverse[earlier], -1);
        }
    return count;
}

}  // namespace

MulticolorFactorCuda::MulticolorFactorCuda(const Context& context, int dof)
    : kernel_(context, program(dof).source, program(dof).definitions, "multicolor_factor") {}

ColourFactorArguments ColourFactorisation::arguments(int colour) const {
    const ColouredView& view = points.host();
    const Layout& layout = a.layout();
    const ColouredPoints::Range owned = points.owned(layout, colour);
    ColourFactorArguments all{.a = a.values(0),
                              .values = values,
                              .ratios = ratios,
                              .log = log,
                              .alpha = alpha,
                              .tolerance = rule.tolerance,
                              .boost = rule.boost,
                              .a_stride = a.stride(),
                              .pitch = view.pitch,
                              .inverse = view.inverse[colour],
                              .base = view.base,
                              .first_row = a.grid().row({0, 0, layout.begin_plane()}),
                              .natural = layout.kind() == LayoutKind::natural,
                              .level_y = layout.levels().y,
                              .level_z = layout.levels().z,
                              .begin_plane = layout.begin_plane(),
                              .nx = view.grid.nx,
                              .ny = view.grid.ny,
                              .nz = view.grid.nz,
                              .line = int(view.line),
                              .plane = int(view.plane),
                              .colours = points.colours(),
                              .colour = colour,
                              .first = int(owned.begin),
                              .last = int(owned.end),
                              .a_diagonal = a.stencil().diagonal(),
                              .entries = view.entries,
                              .products = 0,
                              .entry = {},
                              .product = {}};
    for (int e = 0; e < view.entries; ++e) {
        const Index at = Index(colour) * view.entries + e;
        const Int3 o = view.offsets[e];
        all.entry[e] = {view.block[at], o.x, o.y, o.z, int(a.stencil().find(o)), view.next[at] > colour};
    }
    all.products = list_products(view, colour, eliminates, all.product);
    return all;
}

void MulticolorFactorCuda::factor(const ColourFactorisation& all) const {
    const ColouredPoints& points = all.points;
    const Index shared = shared_bytes(points.host().entries);
    constexpr Index places = ColourFactorisation::places;
    kernel_.allow_shared(shared);
    for (int colour = 0; colour < points.colours(); ++colour) {
        const ColourFactorArguments arguments = all.arguments(colour);
        if (const Index count = arguments.last - arguments.first; count > 0)
            kernel_.launch({unsigned((count + places - 1) / places)}, ColourFactorisation::threads, shared, arguments);
        points.exchange(all.a.context(), all.a.layout(), colour, points.coefficients(colour, all.a.dof(), all.values));
    }
}

rtc::Program MulticolorFactorCuda::program(int dof) {
    return {{rtc::precond_texts(), "precond/multicolor/factor.cuh"},
            {{"DOF", std::to_string(dof)}, {"OPERANDS_AS_RESULTS", "1"}}};
}

}  // namespace hyperplane
