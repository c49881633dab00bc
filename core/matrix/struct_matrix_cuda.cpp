// SPDX-License-Identifier: BSD-3-Clause
#include "core/matrix/struct_matrix_cuda.hpp"

#include <fmt/format.h>

#include <limits>

#include "core/error.hpp"
#include "core/grid/grid_point.hpp"
#include "core/ranks/cuts.hpp"
#include "core/ranks/messages_cuda.hpp"
#include "core/vector/sums_cuda.hpp"

namespace hyperplane {
namespace {

rtc::Source spmv_source() {
    return {rtc::core_texts(), "core/matrix/spmv.cuh"};
}

/// Rows of a thread: all of a small block, else few, so that enough threads have loads in flight.
int rows_of(int dof) {
    return dof <= 5 ? dof : dof == 6 ? 3 : 2;
}

/// The slots of a thread block, by measurement (docs/log/spmv.md).
struct ProductShape {
    int planes = 1, width = 256;
    bool once = false;  ///< coefficients are read once, and not to be kept

    ProductShape(const Layout& layout, const Stencil& stencil, int dof, MatrixStorage storage) {
        if (layout.kind() == LayoutKind::natural || layout.grid().any_periodic()) return;
        if (storage == MatrixStorage::lower) {
            if (dof == 1) planes = 16, width = 32;
        } else if (dof == 1) {
            planes = 2, width = 128, once = true;
        } else if (dof == 6 || (dof == 2 && stencil.size() > 13)) {
            planes = 4, width = 64, once = true;
        }
    }
    unsigned threads() const { return unsigned(planes * width); }
    /// For the slots [first, end): all of them where a block has several planes, since only the natural layout is cut.
    unsigned blocks(const Layout& layout, Index first, Index end) const {
        const auto parts = [](Index size, int part) { return unsigned((size + part - 1) / part); };
        const Grid& g = layout.grid();
        return planes == 1 ? parts(end - first, width) : parts(Index(g.ny) * g.nz, width) * parts(g.nx, planes);
    }
};

/// Whether all that a row needs is loaded at once: on grids so small that each multiprocessor has few warps.
bool loads_at_once(const Layout& layout, const Stencil& stencil, int dof) {
    return layout.kind() == LayoutKind::natural && !layout.grid().any_periodic() && dof == 1 && stencil.size() <= 27 &&
           layout.slots() <= 40000;
}

rtc::Definitions definitions(const Layout& layout, const Stencil& stencil, int dof, MatrixStorage storage, bool exact,
                             const char* real = "double") {
    const auto n = [](int value) { return std::to_string(value); };
    const ProductShape shape(layout, stencil, dof, storage);
    rtc::Definitions all = grid_point_definitions(layout, stencil.offsets());
    all.insert({{"DOF", n(dof)},
                {"ENTRIES", n(stencil.size())},
                {"STORED", n(storage == MatrixStorage::lower ? stencil.diagonal() + 1 : stencil.size())},
                {"ROWS", n(rows_of(dof))},
                {"PERIODIC", n(layout.grid().any_periodic())},
                {"PLANES", n(shape.planes)},
                {"WIDTH", n(shape.width)},
                {"ONCE", n(shape.once)},
                {"AT_ONCE", n(!exact && loads_at_once(layout, stencil, dof))},
                {"EXACT", n(exact)},
                {"DOT", n(!exact && real == std::string("double") && StructMatrixCuda::has_dot(layout, dof))},
                {"REAL", real}});
    return all;
}

/// Returns a kernel's argument for the slots [first, end). The matrix is of a whole grid or of a rank's part; vectors
/// are given by their memory.
template <class Matrix, class Real>
SpmvArguments<rtc::most_entries, Real> arguments_of(const Matrix& a, const Real* values, const Real* b, const Real* x,
                                                    Real* y, Index first, Index end) {
    const Layout& layout = a.layout();
    const Grid& g = layout.grid();
    const int halo = int(layout.halo_slots());
    SpmvArguments<rtc::most_entries, Real> arguments{.a = values,
                                                     .x = x,
                                                     .b = b,
                                                     .y = y,
                                                     .slots = int(layout.slots_in_memory()),
                                                     .stride = int(a.stride()),
                                                     .nx = g.nx,
                                                     .ny = g.ny,
                                                     .nz = layout.planes() + 2 * layout.halo(),
                                                     .periodic_x = g.periodic[0],
                                                     .periodic_y = g.periodic[1],
                                                     .periodic_z = g.periodic[2] && !layout.is_part(),
                                                     .first = halo + int(first),
                                                     .end = halo + int(end),
                                                     .delta = {}};
    slot_deltas(layout, a.stencil().offsets(), arguments.delta);
    return arguments;
}

/// Launches the kernel with these arguments.
template <class Matrix, class Real>
void launch_product(const rtc::Kernel<SpmvArguments<rtc::most_entries, Real>>& kernel, const Matrix& a,
                    const Real* values, const Real* b, const Real* x, Real* y, Index first, Index end) {
    const Layout& layout = a.layout();
    const int rows = rows_of(a.dof());
    const ProductShape shape(layout, a.stencil(), a.dof(), a.storage());
    kernel.launch({shape.blocks(layout, first, end), unsigned((a.dof() + rows - 1) / rows)}, shape.threads(), 0,
                  arguments_of(a, values, b, x, y, first, end));
}

}  // namespace

StructMatrixCuda::StructMatrixCuda(const StructMatrix& a)
    : apply_(a.context(), spmv_source(), definitions(a.layout(), a.stencil(), a.dof(), a.storage(), false), "spmv") {
    if (a.layout().slots_in_memory() > std::numeric_limits<int>::max())
        throw UsageError(fmt::format("a GPU takes grids of up to {} points, this one has {}",
                                     std::numeric_limits<int>::max(), a.layout().slots_in_memory()));
}

void StructMatrixCuda::apply(const StructMatrix& a, const Vector& x, Vector& y) const {
    launch(apply_, a, nullptr, x, y);
}

bool StructMatrixCuda::has_dot(const Layout& layout, int dof) {
    return dof == 1 && layout.kind() == LayoutKind::natural && !layout.grid().any_periodic();
}

void StructMatrixCuda::apply_dot(const StructMatrix& a, const Vector& x, Vector& y, double* product) const {
    const Context& context = a.context();
    const Layout& l = a.layout();
    if (!apply_dot_)
        apply_dot_ = rtc::Kernel<DotArguments>(context, spmv_source(),
                                               definitions(l, a.stencil(), a.dof(), a.storage(), false), "spmv_dot");
    if (l.is_part()) exchange_halo(x);
    const cuda::SumOrder order(x.space(), 1);
    apply_dot_.launch({unsigned(order.blocks())}, 256, 0,
                      {.partial = cuda::pieces(context),
                       .plane = int(order.plane),
                       .pieces = order.pieces,
                       .length = int(order.length),
                       .odd = order.head(0, 0),
                       .product = arguments_of(a, a.values(0) - l.halo_slots(), static_cast<const double*>(nullptr),
                                               x.memory().data(), y.memory().data(), 0, l.slots())});
    cuda::add_pieces(context, order, product);
}

void StructMatrixCuda::subtract_product(const StructMatrix& a, const Vector& b, const Vector& x, Vector& y) const {
    launch(apply_, a, &b, x, y);
}

void StructMatrixCuda::residual(const StructMatrix& a, const Vector& b, const Vector& x, Vector& r) const {
    if (!residual_)
        residual_ = Kernel(a.context(), spmv_source(), definitions(a.layout(), a.stencil(), a.dof(), a.storage(), true),
                           "spmv");
    launch(residual_, a, &b, x, r);
}

void StructMatrixCuda::launch(const Kernel& kernel, const StructMatrix& a, const Vector* b, const Vector& x,
                              Vector& y) const {
    const Layout& l = a.layout();
    const auto rows = [&](Index first, Index end) {
        launch_product(kernel, a, a.values(0) - l.halo_slots(), b ? b->memory().data() : nullptr, x.memory().data(),
                       y.memory().data(), first, end);
    };
    const int reach = l.is_part() ? a.stencil().planes() : 0;
    const Index inside = reach * l.slots_of_plane();  // the first slot that reads no halo
    if (reach > 0 && cuda::by_messages(a.context()) && 2 * inside < l.slots()) {
        cuda::begin_halo_messages(x);
        rows(inside, l.slots() - inside);
        cuda::end_halo_messages(x);
        rows(0, inside);
        return rows(l.slots() - inside, l.slots());
    }
    if (reach > 0) exchange_halo(x);
    rows(0, l.slots());
}

rtc::Programs StructMatrixCuda::programs(const Layout& layout, const Stencil& stencil, int dof, MatrixStorage storage) {
    return {{spmv_source(), definitions(layout, stencil, dof, storage, false)},
            {spmv_source(), definitions(layout, stencil, dof, storage, true), "residual"}};
}

SingleMatrixCuda::SingleMatrixCuda(const SingleMatrix& a)
    : kernel_(a.context(), spmv_source(), definitions(a.layout(), a.stencil(), a.dof(), a.storage(), false, "float"),
              "spmv") {}

void SingleMatrixCuda::subtract_product(const SingleMatrix& a, const SingleVector& b, const SingleVector& x,
                                        SingleVector& r) const {
    launch_product(kernel_, a, a.values(0), b.data(), x.data(), r.data(), 0, a.layout().slots());
}

rtc::Programs SingleMatrixCuda::programs(const Layout& layout, const Stencil& stencil, int dof, MatrixStorage storage) {
    return {{spmv_source(), definitions(layout, stencil, dof, storage, false, "float"), "single precision"}};
}

}  // namespace hyperplane
