// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multicolor/solve_cuda.hpp"

#include <algorithm>
#include <cstring>

#include "precond/kernel_set.hpp"

namespace hyperplane {
namespace {

/// Number of rows of a thread: all rows of a block, if that leaves registers free.
int rows_of(int dof) {
    return dof <= 8 ? dof : 4;
}
/// Number of threads of a place.
int parts_of(int dof) {
    return (dof + rows_of(dof) - 1) / rows_of(dof);
}

/// Number of threads of a thread block. If a multiprocessor has few blocks, it is chosen such that they can be
/// distributed more evenly.
int threads_of(const Context& context, Index places, int dof) {
    constexpr int usual = MulticolorCuda::usual_threads, fewer = MulticolorCuda::fewer_threads;
    const Index multiprocessors = context.stream().properties().multiprocessors;
    const auto most_of_one = [&](Index threads) {
        const Index blocks = (places + threads - 1) / threads * parts_of(dof);
        return (blocks + multiprocessors - 1) / multiprocessors * threads;
    };
    const bool several = dof > 1 && most_of_one(usual) > usual;
    return several && 10 * most_of_one(fewer) < 9 * most_of_one(usual) ? fewer : usual;
}

rtc::Source source() {
    return {rtc::precond_texts(), "precond/multicolor/solve.cuh"};
}

/// Whether kernels can load coefficients ahead (precond/multicolor/ahead.cuh): those of 27 points have the registers.
bool can_load_ahead(const ColouredShape& shape, int dof, FactorStorage storage) {
    return dof == 1 && shape.colours == 8 && shape.entries() == 26 && storage != FactorStorage::half_scaled;
}
/// Whether that is faster. On larger grids a multiprocessor has enough warps to hide the loads.
bool loads_ahead(const ColouredShape& shape, int dof, FactorStorage storage) {
    return can_load_ahead(shape, dof, storage) && shape.stride <= 65536;
}

rtc::Definitions definitions(const ColouredShape& shape, const Layout& layout, int dof, bool symmetric,
                             FactorStorage storage, int threads, bool ahead) {
    const auto n = [](int value) { return std::to_string(value); };
    return {{"THREADS", n(threads)},
            {"DOF", n(dof)},
            {"ROWS", n(rows_of(dof))},
            {"COLOURS", n(shape.colours)},
            {"SYMMETRIC", n(symmetric)},
            {"NATURAL", n(layout.kind() == LayoutKind::natural)},
            {"LEVEL_Y", n(layout.levels().y)},
            {"LEVEL_Z", n(layout.levels().z)},
            {"MOST_TERMS", n(std::max(1, shape.entries()))},
            {"AHEAD", n(ahead)},
            {"STORAGE", n(int(storage))}};
}

/// The terms of the step of a colour: neighbours of earlier colours if `lower`, otherwise of later ones.
std::vector<ColourTerm> terms_of(const ColouredPoints& points, int colour, bool lower, bool enters) {
    const ColouredView& view = points.host();
    std::vector<ColourTerm> terms;
    for (int e = 0; e < view.entries; ++e) {
        const Index at = Index(colour) * view.entries + e, next = view.next[at];
        if ((next < colour) != lower) continue;
        const Int3 o = view.offsets[e];
        const Index block =
            view.block[at] >= 0 ? view.block[at] : view.block[next * view.entries + view.entries - 1 - e];
        const Index base = enters ? (o.x + 8) + 16 * (o.y + 8) + 256 * (o.z + 8) : next * points.shape().stride;
        terms.push_back({block, int(view.shift[at]), int(base)});
    }
    return terms;
}

}  // namespace

MulticolorCuda::MulticolorCuda(const Context& context, const ColouredPoints& points, const Layout& layout, int dof,
                               bool symmetric, FactorStorage storage, ColourLaunches launches)
    : dof_(dof), stride_(points.shape().stride), threads_(threads_of(context, stride_, dof)) {
    const Grid& grid = layout.grid();
    const bool ahead = launches == ColourLaunches::fastest ? loads_ahead(points.shape(), dof, storage)
                                                           : launches == ColourLaunches::ahead;
    const rtc::Definitions all = definitions(points.shape(), layout, dof, symmetric, storage, threads_, ahead);
    const int colours = points.colours();
    const auto add = [&](const char* name, int colour, bool lower) {
        const bool enters = std::strcmp(name, "enter") == 0;
        std::vector<ColourTerm> terms;
        if (colour < colours) terms = terms_of(points, colour, lower, enters);
        Arguments arguments{};
        arguments.inverse = points.host().inverse[colour];
        arguments.stride = int(stride_), arguments.slots = int(points.shape().slots);
        arguments.points = int(grid.points());
        arguments.nx = grid.nx, arguments.ny = grid.ny, arguments.nz = grid.nz;
        arguments.line = int(points.shape().line), arguments.plane = int(points.shape().plane);
        arguments.colour = colour, arguments.terms = int(terms.size());
        std::copy(terms.begin(), terms.end(), arguments.term);
        steps_.push_back({rtc::Kernel<Arguments>(context, source(), all, name), arguments});
    };
    add("enter", std::min(1, colours - 1), true);
    for (int colour = 2; colour < colours; ++colour) add("lower", colour, true);
    const bool last_is_done = rows_of(dof) == dof && colours > 1;
    for (int colour = colours - (last_is_done ? 2 : 1); colour > 0; --colour) add("upper", colour, false);
    add("leave", 0, false);
}

void MulticolorCuda::apply(const void* factors, const RowExponent* exponents, const Vector& r, Vector& z, double* v,
                           double* w) const {
    bool follows = false;  // a step of this solve
    for (const Step& step : steps_) {
        Arguments arguments = step.arguments;
        arguments.factors = factors;
        arguments.exponents = exponents;
        arguments.r = r.data();
        arguments.v = v;
        arguments.w = w;
        arguments.z = z.data();
        step.kernel.launch({unsigned((stride_ + threads_ - 1) / threads_), unsigned(parts_of(dof_))},
                           unsigned(threads_), 0, arguments, follows);
        follows = true;
    }
}

rtc::Programs MulticolorCuda::programs(const Layout& layout, const Stencil& stencil, int dof, bool symmetric,
                                       FactorStorage storage, int threads) {
    const ColouredShape shape(layout.grid(), stencil, ColourRule::stencil);
    return {{source(), definitions(shape, layout, dof, symmetric, storage, threads, loads_ahead(shape, dof, storage))}};
}

}  // namespace hyperplane
