// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multicolor/factor_cuda.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "precond/kernel_set.hpp"

namespace hyperplane {
namespace {

constexpr int threads_of_points = 128;  // with one unknown

/// Shared memory of a thread block on tensor cores.
Index shared_bytes(int entries, int products, int stages) {
    constexpr Index places = ColourFactorisation::places, stage = Index(ColourProduct::group) * places * 66;
    return (places * (Index(entries + 1) * 64 + 2) + stages * stage) * Index(sizeof(double)) +
           products * Index(sizeof(ColourProduct));
}

/// The number of groups of products in shared memory: two if a multiprocessor then has several thread blocks, else
/// three. The rest of its memory is the first-level cache, through which copies go, and which a third group would take
/// from several thread blocks.
int stages_of(int entries, int products) {
    constexpr Index multiprocessor = 228 * 1024, reserved = 1024;
    const bool several = 2 * (shared_bytes(entries, products, 2) + reserved) <= multiprocessor;
    return several || shared_bytes(entries, products, 3) + reserved > multiprocessor ? 2 : 3;
}

/// The products at the points of a colour, lower entries in the order of the colours that they lead to. For a symmetric
/// matrix G_u(q) is what q + u stores, and E_l(p) G(p - q) is W_l(p) E_l(p).
int list_products(const ColouredView& points, int colour, bool eliminates, bool symmetric, int together,
                  ColourProduct* to) {
    const int entries = points.entries;
    const auto at = [&](int of_colour, int e) { return Index(of_colour) * entries + e; };
    int count = 0;
    const auto fill_up = [&](int size, int l) {
        while (count % size > 0) to[count++] = {0, short(l), ColourProduct::nothing};
    };
    for (int earlier = 0; earlier < colour; ++earlier)
        for (int l = 0; l < entries; ++l) {
            if (points.next[at(colour, l)] != earlier) continue;
            const Index shift = points.shift[at(colour, l)];
            const auto add = [&](Index from, int e) { to[count++] = {from, short(l), short(e)}; };
            if (eliminates && !symmetric) add(points.block[at(earlier, entries - 1 - l)] + shift, entries);
            for (int e = 0; e < entries && eliminates; ++e) {
                const int u = int(points.sum[Index(e) * entries + l]), end = int(points.next[at(colour, e)]);
                if (u < 0 || end <= earlier || !points.keeps(colour, e)) continue;
                add(points.keeps(earlier, u) ? points.block[at(earlier, u)] + shift
                                             : points.block[at(end, entries - 1 - u)] + points.shift[at(colour, e)],
                    e);
            }
            add(points.inverse[earlier] + shift,
                eliminates && symmetric ? ColourProduct::of_pivot_and_diagonal : ColourProduct::of_pivot);
            fill_up(together, l);
        }
    if (together > 1) fill_up(ColourProduct::group, 0);
    return count;
}

}  // namespace

MulticolorFactorCuda::MulticolorFactorCuda(const Context& context, const ColouredShape& shape, int dof, bool symmetric)
    : room_(room_for_products(shape, dof)),
      kernel_(context, program(shape, dof, symmetric).source, program(shape, dof, symmetric).definitions,
              dof == 1 ? "factor_points_of_colour" : "multicolor_factor") {}

ColourFactorArguments ColourFactorisation::arguments(int colour) const {
    const ColouredView& view = points.host();
    const Layout& layout = a.layout();
    const ColouredPoints::Range owned = points.owned(layout, colour);
    ColourFactorArguments all{.a = nullptr,
                              .values = nullptr,
                              .rounded = nullptr,
                              .ratios = nullptr,
                              .log = nullptr,
                              .roundings = nullptr,
                              .alpha = 0.0,
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
                              .definite = rule.definite,
                              .keeps_doubles = !rounded || colour + 1 < points.colours(),
                              .stages = 0,
                              .entry = {},
                              .product = {}};
    for (int e = 0; e < view.entries; ++e) {
        const Index at = Index(colour) * view.entries + e;
        const Int3 o = view.offsets[e];
        all.entry[e] = {view.block[at], o.x, o.y, o.z, int(a.stencil().find(o)), view.next[at] > colour};
    }
    all.products =
        list_products(view, colour, eliminates, a.symmetric(), a.dof() == 1 ? 1 : ColourProduct::together, all.product);
    all.stages = stages_of(all.entries, all.products);
    renew(all);
    return all;
}

void ColourFactorisation::renew(ColourFactorArguments& arguments) const {
    arguments.a = a.values(0);
    arguments.values = values;
    arguments.rounded = rounded;
    arguments.ratios = ratios;
    arguments.log = log;
    arguments.roundings = roundings;
    arguments.alpha = alpha;
}

void MulticolorFactorCuda::factor(const ColourFactorisation& all) const {
    const ColouredPoints& points = all.points;
    const bool by_threads = all.a.dof() == 1;
    const int entries = points.host().entries;
    const unsigned threads = unsigned(by_threads ? threads_of_points : ColourFactorisation::threads);
    const Index places = by_threads ? threads_of_points : ColourFactorisation::places;
    of_colours_.reserve(std::size_t(points.colours()));
    for (int colour = int(of_colours_.size()); colour < points.colours(); ++colour) {
        of_colours_.push_back(all.arguments(colour));
        if (of_colours_.back().products > room_)
            throw Error(ExitCode::internal, "a colour has more products than its kernel's argument has room for");
    }
    for (int colour = 0; colour < points.colours(); ++colour) {
        ColourFactorArguments& arguments = of_colours_[colour];
        all.renew(arguments);
        const Index shared = by_threads ? entries * threads_of_points * Index(sizeof(double))
                                        : shared_bytes(entries, arguments.products, arguments.stages);
        kernel_.allow_shared(shared);
        if (const Index count = arguments.last - arguments.first; count > 0)
            kernel_.launch({unsigned((count + places - 1) / places)}, threads, shared, arguments);
        points.exchange(all.a.context(), all.a.layout(), colour, points.coefficients(colour, all.a.dof(), all.values));
    }
}

int MulticolorFactorCuda::room_for_products(const ColouredShape& shape, int dof) {
    // X_e(p) -= E_l(p) G_u(p + l) asks for an offset u = e - l, and for e to lead to a later colour than l: so of e, l
    // and l, e one at most. E_l has two more, of D^-1 and of the diagonal, and on tensor cores one that fills up.
    const std::vector<Int3>& offsets = shape.offsets;
    int pairs = 0;
    for (const Int3 e : offsets)
        for (const Int3 l : offsets) pairs += int(std::count(offsets.begin(), offsets.end(), e + -l));
    const int most = pairs / 2 + 2 * shape.entries() + (dof == 1 ? 0 : shape.entries() + ColourProduct::group);
    int room = 256;
    while (room < most) room *= 2;
    return std::min(room, most_colour_products);
}

rtc::Program MulticolorFactorCuda::program(const ColouredShape& shape, int dof, bool symmetric) {
    const std::string room = std::to_string(room_for_products(shape, dof));
    if (dof == 1)
        return {precond_source("precond/multicolor/factor_point.cuh"),
                {{"THREADS", std::to_string(threads_of_points)},
                 {"SYMMETRIC", symmetric ? "1" : "0"},
                 {"MOST_PRODUCTS", room}}};
    return {precond_source("precond/multicolor/factor.cuh"),
            {{"DOF", std::to_string(dof)}, {"OPERANDS_AS_RESULTS", "1"}, {"MOST_PRODUCTS", room}}};
}

}  // namespace hyperplane
