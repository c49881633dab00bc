// SPDX-License-Identifier: BSD-3-Clause
#include "precond/triangular/jacobi/sweeps_cuda.hpp"

#include <algorithm>

#include "core/grid/grid_point.hpp"
#include "precond/kernel_set.hpp"

namespace hyperplane {
namespace {

constexpr int most_threads = 256;

rtc::Source source() {
    return precond_source("precond/triangular/jacobi/jacobi_sweep.cuh");
}

/// How the points are distributed to thread blocks, and the rows and columns of a point to threads.
struct Cut {
    int width = 1, row_groups = 1, points = most_threads, threads = most_threads;

    explicit Cut(const TriangleShape& shape) {
        const int dof = shape.dof;
        if (dof == 1) return;
        while (2 * width * bytes_of(shape.storage) <= 16 && dof % (2 * width) == 0) width *= 2;
        row_groups = dof <= 3 ? dof : std::max({2, (dof + 3) / 4, width});  // a point has a thread for each result
        const int point_threads = row_groups * (dof / width);
        points = std::max(1, most_threads / point_threads);
        threads = points * point_threads;
    }
};

/// The offsets of a triangle in the order of FactorView's entries. For a triangle without entries this is (0,0,0),
/// since arrays must not be empty.
std::span<const Int3> offsets_of(const TriangleShape& shape, Side side) {
    if (shape.lower() == 0) return shape.offsets;
    const int first = side == Side::lower ? 0 : shape.lower() + 1;
    return std::span(shape.offsets).subspan(first, shape.lower());
}

rtc::Definitions definitions(const TriangleShape& shape, Side side) {
    const auto n = [](int value) { return std::to_string(value); };
    const bool upper = side == Side::upper;
    const Cut cut(shape);
    rtc::Definitions all = grid_point_definitions(shape.layout, offsets_of(shape, side));
    all.insert({{"DOF", n(shape.dof)},
                {"ENTRIES", n(shape.lower())},
                {"UPPER", n(upper)},
                {"MIRRORED", n(upper && shape.symmetric)},
                {"UNIT", n(shape.unit)},
                {"SKIP_OUTSIDE", n(!shape.unit && shape.layout.grid().any_periodic())},
                {"POINTS", n(cut.points)},
                {"WIDTH", n(cut.width)},
                {"ROW_GROUPS", n(cut.row_groups)},
                {"STORAGE", n(int(shape.storage))}});
    return all;
}

/// Addresses of the first coefficients of a triangle; a mirrored upper triangle has those of the lower one.
struct Places {
    const void *triangle, *inverse;
    const RowExponent *of_triangle, *of_inverse;
    Index entry_stride;
};

Places places_of(const FactorView& f, bool upper) {
    const Index first = upper && !f.symmetric ? (f.lower + 1) * f.triangles.entry_stride : 0;
    return {f.triangles.values + first, f.inverse.values, nullptr, nullptr, f.triangles.entry_stride};
}
template <class T>
Places places_of(const ReducedFactorView<T>& f, bool upper) {
    const Index stride = f.values.entry_stride, first = upper && !f.symmetric ? (f.lower + 1) * stride : 0;
    return {f.values.values + first, f.values.values + f.lower * stride, (upper ? f.of_upper : f.of_lower).values,
            f.of_inverse.values, stride};
}

}  // namespace

TriangleSweepsCuda::TriangleSweepsCuda(const Context& context, const TriangleShape& shape) : shape_(shape) {
    const Grid& g = shape.layout.grid();
    const auto load = [&](Side side, const char* name) {
        return Kernel(context, source(), definitions(shape, side), name);
    };
    for (const Side side : {Side::lower, Side::upper}) {
        Triangle& triangle = side == Side::lower ? lower_ : upper_;
        // Upper sweeps on unit triangles are never followed by D^-1; sweeps on other triangles always are.
        if (!shape.unit || side == Side::lower) triangle.scaled = load(side, "scaled_sweep");
        triangle.sweep = shape.unit ? load(side, "sweep") : triangle.scaled;
        Arguments& arguments = triangle.arguments;
        arguments.slots = int(shape.layout.slots());
        arguments.nx = g.nx, arguments.ny = g.ny, arguments.nz = g.nz;
        slot_deltas(shape.layout, offsets_of(shape, side), arguments.delta);
    }
    scale_ = load(Side::lower, "scale");
}

void TriangleSweepsCuda::sweep(const TriangleFactors& factors, Side side, const double* b, const double* x, double* out,
                               bool times_inverse) const {
    const Triangle& triangle = side == Side::lower ? lower_ : upper_;
    launch(times_inverse ? triangle.scaled : triangle.sweep, factors, side, b, x, out);
}

void TriangleSweepsCuda::scale(const TriangleFactors& factors, const double* b, double* out) const {
    launch(scale_, factors, Side::lower, b, nullptr, out);
}

void TriangleSweepsCuda::launch(const Kernel& kernel, const TriangleFactors& factors, Side side, const double* b,
                                const double* x, double* out) const {
    const Places places = std::visit([&](const auto& f) { return places_of(f, side == Side::upper); }, factors);
    Arguments arguments = (side == Side::lower ? lower_ : upper_).arguments;
    arguments.triangle = places.triangle;
    arguments.inverse = places.inverse;
    arguments.of_triangle = places.of_triangle;
    arguments.of_inverse = places.of_inverse;
    arguments.entry_stride = places.entry_stride;
    arguments.b = b;
    arguments.x = x;
    arguments.out = out;
    const Cut cut(shape_);
    kernel.launch({unsigned((arguments.slots + cut.points - 1) / cut.points)}, unsigned(cut.threads), 0, arguments);
}

rtc::Programs TriangleSweepsCuda::programs(const TriangleShape& shape) {
    return {{source(), definitions(shape, Side::lower), "lower"}, {source(), definitions(shape, Side::upper), "upper"}};
}

}  // namespace hyperplane
