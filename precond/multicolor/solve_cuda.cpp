// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multicolor/solve_cuda.hpp"

#include <cstring>

#include "precond/kernel_texts.hpp"

namespace hyperplane {
namespace {

/// Rows a thread has: all of a block that leaves registers to spare.
int rows_of(int dof) {
    return dof <= 8 ? dof : 4;
}
/// Threads a place has.
int parts_of(int dof) {
    return (dof + rows_of(dof) - 1) / rows_of(dof);
}

/// Threads of a block. Where a multiprocessor has few blocks, how they divide among all decides.
int threads_of(Index places, int dof) {
    constexpr int usual = MulticolorCuda::usual_threads, fewer = MulticolorCuda::fewer_threads;
    const Index multiprocessors = device::properties().multiprocessors;
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

rtc::Definitions definitions(const ColouredShape& shape, const Layout& layout, int dof, bool symmetric,
                             FactorStorage storage, int threads) {
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
            {"STORAGE", n(int(storage))}};
}

// precond/multicolor/solve.cuh's structs, member by member.

struct Term {
    long long block;
    int shift, base;
};

/// But for the array at its end.
struct Head {
    const void* factors;
    const RowExponent* exponents;
    const double* r;
    double *v, *w, *z;
    long long inverse;
    int stride, slots, points, nx, ny, nz, line, plane, colour, terms;
};
static_assert(sizeof(Head) % alignof(Term) == 0);

/// The terms of a colour's step: neighbours of earlier colours, or of later ones.
std::vector<Term> terms_of(const ColouredPoints& points, int colour, bool lower, bool enters) {
    const ColouredView& view = points.host();
    std::vector<Term> terms;
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

MulticolorCuda::MulticolorCuda(const ColouredPoints& points, const Layout& layout, int dof, bool symmetric,
                               FactorStorage storage)
    : grid_(layout.grid()),
      dof_(dof),
      line_(points.shape().line),
      plane_(points.shape().plane),
      stride_(points.shape().stride),
      slots_(points.shape().slots),
      threads_(threads_of(stride_, dof)) {
    const rtc::Definitions all = definitions(points.shape(), layout, dof, symmetric, storage, threads_);
    const int colours = points.colours(), most_terms = std::max(1, points.shape().entries());
    const auto add = [&](const char* name, int colour, bool lower) {
        const bool enters = std::strcmp(name, "enter") == 0;
        Step step{rtc::load(source(), all, name), colour, 0, points.host().inverse[colour], {}};
        std::vector<Term> terms;
        if (colour < colours) terms = terms_of(points, colour, lower, enters);
        step.terms = int(terms.size());
        terms.resize(std::size_t(most_terms));
        step.words.resize(terms.size() * sizeof(Term) / sizeof(int));
        std::memcpy(step.words.data(), terms.data(), terms.size() * sizeof(Term));
        steps_.push_back(std::move(step));
    };
    add("enter", std::min(1, colours - 1), true);
    for (int colour = 2; colour < colours; ++colour) add("lower", colour, true);
    const bool last_is_done = rows_of(dof) == dof && colours > 1;
    for (int colour = colours - (last_is_done ? 2 : 1); colour > 0; --colour) add("upper", colour, false);
    add("leave", 0, false);
}

void MulticolorCuda::apply(const void* factors, const RowExponent* exponents, const Vector& r, Vector& z, double* v,
                           double* w) const {
    for (const Step& step : steps_) {
        const Head head{factors,     exponents,    r.data(),     v,           w,
                        z.data(),    step.inverse, int(stride_), int(slots_), int(grid_.points()),
                        grid_.nx,    grid_.ny,     grid_.nz,     int(line_),  int(plane_),
                        step.colour, step.terms};
        step.kernel.launch({unsigned((stride_ + threads_ - 1) / threads_), unsigned(parts_of(dof_))},
                           unsigned(threads_), 0, rtc::argument(head, step.words).data());
    }
}

std::vector<rtc::KernelResources> MulticolorCuda::compile(const Layout& layout, const Stencil& stencil, int dof,
                                                          bool symmetric, FactorStorage storage,
                                                          const std::string& architecture, int threads) {
    const ColouredShape shape(layout.grid(), stencil, ColourRule::stencil);
    std::vector<rtc::KernelResources> resources;
    rtc::compile(source(), definitions(shape, layout, dof, symmetric, storage, threads), architecture, &resources);
    return resources;
}

}  // namespace hyperplane
