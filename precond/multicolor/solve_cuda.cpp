// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multicolor/solve_cuda.hpp"

#include <algorithm>
#include <cstring>

#include "core/ranks/cuts.hpp"
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
    return precond_source("precond/multicolor/solve.cuh");
}

/// Whether kernels can load coefficients ahead (precond/multicolor/ahead.cuh): those of 27 points have the registers.
bool can_load_ahead(const ColouredShape& shape, int dof, FactorStorage storage) {
    return dof == 1 && shape.colours == 8 && shape.entries() == 26 && storage != FactorStorage::half_scaled;
}
/// Whether that is faster. On larger grids a multiprocessor has enough warps to hide the loads.
bool loads_ahead(const ColouredShape& shape, int dof, FactorStorage storage) {
    return can_load_ahead(shape, dof, storage) && shape.stride <= 65536;
}
/// Threads of a thread block in place of `others`, where steps load ahead.
int threads_with(bool ahead, const ColouredShape& shape, int others) {
    return ahead && shape.stride <= 16384 ? MulticolorCuda::ahead_threads : others;
}

rtc::Definitions definitions(const ColouredShape& shape, const Layout& layout, int dof, bool symmetric,
                             FactorStorage storage, int threads, bool ahead, const char* real = "double") {
    const auto n = [](int value) { return std::to_string(value); };
    return {{"THREADS", n(threads)},
            {"DOF", n(dof)},
            {"ROWS", n(rows_of(dof))},
            {"COLOURS", n(shape.colours)},
            {"SYMMETRIC", n(symmetric)},
            {"NATURAL", n(layout.kind() == LayoutKind::natural)},
            {"LEVEL_Y", n(layout.levels().y)},
            {"LEVEL_Z", n(layout.levels().z)},
            {"PART", n(layout.is_part())},
            {"MOST_TERMS", n(std::max(1, shape.entries()))},
            {"AHEAD", n(ahead)},
            {"REAL", real},
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

/// The places of all colours in the planes of a layout.
ColouredPoints::Range all_owned(const ColouredPoints& points, const Layout& layout) {
    ColouredPoints::Range all = points.owned(layout, 0);
    for (int colour = 1; colour < points.colours(); ++colour) {
        const ColouredPoints::Range one = points.owned(layout, colour);
        all = {std::min(all.begin, one.begin), std::max(all.end, one.end)};
    }
    return all;
}

}  // namespace

template <class Real>
std::vector<ColourStep<Real>> colour_steps(const ColouredPoints& points, const Layout& layout, int dof) {
    using Sends = ColourSends;
    const ColouredShape& shape = points.shape();
    const int colours = points.colours();
    std::vector<ColourStep<Real>> steps;
    const auto add = [&](const char* name, int colour, bool lower, ColouredPoints::Range places, Sends sends) {
        const std::vector<ColourTerm> terms = terms_of(points, colour, lower, std::strcmp(name, "enter") == 0);
        ColourStep<Real> step{name, {}, sends, (shape.first_plane - layout.begin_plane()) * layout.slots_of_plane()};
        auto& arguments = step.arguments;
        arguments.inverse = points.host().inverse[colour];
        arguments.stride = int(shape.stride), arguments.slots = int(shape.slots);
        arguments.points = int(layout.slots_in_memory());
        arguments.nx = shape.grid.nx, arguments.ny = shape.grid.ny, arguments.nz = shape.planes;
        arguments.line = int(shape.line), arguments.plane = int(shape.plane);
        arguments.colour = colour, arguments.terms = int(terms.size());
        arguments.first = int(places.begin), arguments.last = int(places.end);
        arguments.before = int(shape.plane * shape.first_plane - shape.base);
        std::copy(terms.begin(), terms.end(), arguments.term);
        steps.push_back(step);
    };
    const bool last_is_done = rows_of(dof) == dof && colours > 1;
    const auto sends_of_lower = [&](int colour) {
        return colour < colours - 1 ? Sends::v : last_is_done ? Sends::w : Sends::nothing;
    };
    const int entered = std::min(1, colours - 1);
    add("enter", entered, true, {0, shape.stride}, entered == 0 ? Sends::nothing : sends_of_lower(entered));
    for (int colour = 2; colour < colours; ++colour)
        add("lower", colour, true, points.owned(layout, colour), sends_of_lower(colour));
    for (int colour = colours - (last_is_done ? 2 : 1); colour > 0; --colour)
        add("upper", colour, false, points.owned(layout, colour), Sends::w);
    add("leave", 0, false, all_owned(points, layout), Sends::nothing);
    return steps;
}

template std::vector<ColourStep<double>> colour_steps(const ColouredPoints&, const Layout&, int);
template std::vector<ColourStep<float>> colour_steps(const ColouredPoints&, const Layout&, int);

template <class Real>
std::vector<MulticolorCuda::Step<Real>> MulticolorCuda::steps_with(const Context& context,
                                                                   const rtc::Definitions& definitions) const {
    std::vector<Step<Real>> steps;
    for (const ColourStep<Real>& step : colour_steps<Real>(*points_, layout_, dof_))
        steps.push_back({{context, source(), definitions, step.kernel}, step});
    return steps;
}

MulticolorCuda::MulticolorCuda(const Context& context, const ColouredPoints& points, const Layout& layout, int dof,
                               bool symmetric, FactorStorage storage, ColourLaunches launches)
    : points_(&points), layout_(layout), dof_(dof) {
    const ColouredShape& shape = points.shape();
    const bool ahead =
        launches == ColourLaunches::fastest ? loads_ahead(shape, dof, storage) : launches == ColourLaunches::ahead;
    threads_ = threads_with(ahead, shape, threads_of(context, shape.stride, dof));
    steps_ = steps_with<double>(context, definitions(shape, layout, dof, symmetric, storage, threads_, ahead));
    single_ = definitions(shape, layout, dof, symmetric, storage, threads_, ahead, "float");
}

template <class AnyVector, class Real, class Exchange>
void MulticolorCuda::solve(const std::vector<Step<Real>>& steps, const StoredView& factors, const AnyVector& r,
                           AnyVector& z, Real* v, Real* w, ResultOfSolve result, const Exchange& exchange) const {
    bool follows = false;  // a step of this solve, without an exchange in between
    for (const Step<Real>& step : steps) {
        ColourStep<Real> launch = step.launch;
        launch.set(factors, r.data(), v, w, z.data());
        launch.arguments.result = result.is;
        launch.arguments.omega = result.omega;
        const auto blocks = unsigned((launch.places() + threads_ - 1) / threads_);
        step.kernel.launch({blocks, unsigned(parts_of(dof_))}, unsigned(threads_), 0, launch.arguments, follows);
        follows = !exchange(launch);
    }
}

void MulticolorCuda::apply(const StoredView& factors, const SingleVector& r, SingleVector& z, float* v, float* w,
                           ResultOfSolve result) const {
    if (single_steps_.empty()) single_steps_ = steps_with<float>(r.context(), single_);
    solve(single_steps_, factors, r, z, v, w, result, [](const ColourStep<float>&) { return false; });
}

void MulticolorCuda::apply(const StoredView& factors, const Vector& r, Vector& z, double* v, double* w,
                           ResultOfSolve result) const {
    const Context& context = r.context();
    const auto components = [&](double* first, Index distance) {
        std::vector<double*> found;
        for (int c = 0; c < dof_; ++c) found.push_back(first + c * distance);
        return found;
    };
    exchange_halos(context, layout_, points_->reach(),
                   components(const_cast<double*>(r.data()), layout_.slots_in_memory()));
    solve(steps_, factors, r, z, v, w, result, [&](const ColourStep<double>& launch) {
        if (!layout_.is_part() || launch.sends == ColourSends::nothing) return false;
        const ColouredShape& shape = points_->shape();
        const int colour = launch.arguments.colour;
        double* const sent = (launch.sends == ColourSends::v ? v : w) + colour * shape.stride;
        points_->exchange(context, layout_, colour, components(sent, shape.slots));
        return true;
    });
}

rtc::Programs MulticolorCuda::programs(const Layout& layout, const Stencil& stencil, int dof, bool symmetric,
                                       FactorStorage storage, int threads, bool single_vectors) {
    const ColouredShape shape(layout, stencil, ColourRule::stencil);
    const bool ahead = loads_ahead(shape, dof, storage);
    return {{source(), definitions(shape, layout, dof, symmetric, storage, threads_with(ahead, shape, threads), ahead,
                                   single_vectors ? "float" : "double")}};
}

}  // namespace hyperplane
