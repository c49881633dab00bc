// SPDX-License-Identifier: BSD-3-Clause
#include "core/matrix/struct_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/grid/neighbour_slot.hpp"
#include "core/matrix/line_product.hpp"
#include "core/matrix/product_blocks.hpp"
#include "core/matrix/struct_matrix_cuda.hpp"
#include "core/ranks/cuts.hpp"
#include "core/ranks/messages_cuda.hpp"
#include "core/vector/blas1.hpp"
#include "core/vector/plane_sums.hpp"
#include "core/vector/rounded_products.hpp"
#include "core/vector/run_kernel.hpp"

namespace hyperplane {
namespace {

void check_shape(const Grid& grid, const Stencil& stencil, int dof) {
    if (dof < 1 || dof > max_dof) throw UsageError(fmt::format("dof must lie in 1..{}, not {}", max_dof, dof));
    const int diameter = 2 * stencil.radius() + 1;
    const int extents[3] = {grid.nx, grid.ny, grid.nz};
    for (int axis = 0; axis < 3; ++axis)
        if (grid.periodic[axis] && extents[axis] < diameter)
            throw UsageError(
                fmt::format("grid.cells: {} points along periodic axis {} are too few for stencil {}; "
                            "it needs {} or more",
                            extents[axis], "xyz"[axis], stencil.name(), diameter));
}

/// Before a product with x on a CPU. A matrix without couplings along z reads no halo.
void bring_halo(const StructMatrix& a, const Vector& x) {
    if (a.layout().is_part() && a.stencil().planes() > 0) exchange_halo(x);
}

}  // namespace

StructMatrix::StructMatrix(const Context& context, const Layout& layout, Stencil stencil, int dof,
                           MatrixStorage storage, std::string label)
    : SystemMatrix(context, layout, dof, storage == MatrixStorage::lower),
      stencil_(std::move(stencil)),
      storage_(storage),
      stride_(stride(layout.slots_in_memory())) {
    check_shape(layout.grid(), stencil_, dof);
    values_ = Buffer<double>(context, std::move(label), Index(stored_entries()) * dof * dof * stride_);
}

Index StructMatrix::nonzeros() const {
    const Grid& g = grid();
    Index blocks = 0;
    for (Int3 o : stencil_.offsets()) {
        const Index x = g.periodic[0] ? g.nx : std::max(0, g.nx - std::abs(o.x));
        const Index y = g.periodic[1] ? g.ny : std::max(0, g.ny - std::abs(o.y));
        const Index z = g.periodic[2] ? g.nz : std::max(0, g.nz - std::abs(o.z));
        blocks += x * y * z;
    }
    return blocks * dof() * dof();
}

std::vector<const double*> StructMatrix::coefficients() const {
    std::vector<const double*> all;
    for (int e = 0; e < stored_entries(); ++e)
        for (int row = 0; row < dof(); ++row)
            for (int col = 0; col < dof(); ++col) all.push_back(values(e, row, col));
    return all;
}

std::vector<double*> StructMatrix::coefficients() {
    lines_.forget();
    std::vector<double*> all;
    for (const double* const values : std::as_const(*this).coefficients()) all.push_back(const_cast<double*>(values));
    return all;
}

void StructMatrix::share_halos() {
    // Along a periodic axis a plane may be in either halo, at different distances, so both must be complete.
    const int halo = layout().halo();
    exchange_halos(context(), layout(), grid().periodic[2] ? halo : std::min(stencil_.planes(), halo), coefficients());
}

void StructMatrix::set_zero(int entry) {
    const Index size = Index(dof()) * dof() * stride_;
    double* const first = values(entry) - space().halo_slots();
    if (backend() == Backend::cuda)
        context().stream().zero(first, size * Index(sizeof(double)));
    else
        fill_zero(context(), first, size);
}

void StructMatrix::assign(const StructMatrix& other) {
    lines_.forget();
    if (backend() == Backend::cuda || other.backend() == Backend::cuda)
        copy_between(other.context(), other.values_.data(), context(), values_.data(), bytes());
    else
        std::copy(other.values_.begin(), other.values_.end(), values_.begin());
}

double StructMatrix::at(Int3 point, int entry, int row, int col) const {
    const Int3 neighbour = grid().wrapped(point + stencil_[entry]);
    if (!grid().contains(neighbour)) return 0.0;
    return stores(entry) ? values(entry, row, col)[layout().slot(point)]
                         : values(stencil_.mirror(entry), col, row)[slot_of_neighbour(layout(), neighbour)];
}

Index StructMatrix::bytes_per_apply() const {
    return bytes() + 2 * unknowns() * Index(sizeof(double));
}

void StructMatrix::find_equal_lines() const {
    if (backend() == Backend::cuda || layout().kind() != LayoutKind::natural || lines_.get()) return;
    lines_.set(EqualLines(context(), layout(), coefficients()));
}

const StructMatrixCuda& StructMatrix::cuda() const {
    if constexpr (cuda_built)
        if (!cuda_) cuda_ = std::make_shared<StructMatrixCuda>(*this);
    return *cuda_;
}

void StructMatrix::apply(const Vector& x, Vector& y) const {
    if constexpr (cuda_built)
        if (backend() == Backend::cuda) return cuda().apply(*this, x, y);
    if (is_flat()) return apply_flat(x, y, [](Index, Index, int) {});
    bring_halo(*this, x);
    apply_runs(x, y);
    if (grid().any_periodic()) apply_wrapped(x, y);
}

void StructMatrix::subtract_product(const Vector& b, const Vector& x, Vector& r) const {
    if constexpr (cuda_built)
        if (backend() == Backend::cuda) return cuda().subtract_product(*this, b, x, r);
    if (is_flat())
        return apply_flat(x, r, [&](Index, Index first, int count) {  // while the piece is in the caches
            for (int c = 0; c < dof(); ++c) {
                const double* from = b.component(c) + first;
                double* to = r.component(c) + first;
                for (int t = 0; t < count; ++t) to[t] = from[t] - to[t];
            }
        });
    apply(x, r);
    xpby(b, -1.0, r);
}

bool StructMatrix::sums_products() const {
    if (backend() == Backend::cpu) return is_flat();
    if constexpr (cuda_built)
        return StructMatrixCuda::has_dot(layout(), dof()) && layout().grid().points() >= fewest_summed &&
               stencil().size() <= most_entries_summed && !(layout().is_part() && cuda::by_messages(context()));
    return false;
}

void StructMatrix::apply_dot(const Vector& x, Vector& y, double* product) const {
    if (!sums_products()) return LinearOperator::apply_dot(x, y, product);
    if constexpr (cuda_built)
        if (backend() == Backend::cuda) return cuda().apply_dot(*this, x, y, product);
    // With periodic axes the sums are those of dot(x, y), component by component.
    const int components = grid().any_periodic() ? dof() : 1;
    const PlaneSums order(space(), components);
    const Index blocks = order.blocks() / components;
    std::vector<double> partial(std::size_t(order.blocks()));
    apply_flat(x, y, [&](Index at, Index first, int count) {
        for (int c = 0; c < dof(); ++c)
            partial[std::size_t(at + (components > 1 ? c * blocks : 0))] +=
                dot_run(x.component(c) + first, y.component(c) + first, count);
    });
    order.add_up(context(), partial, 1, product);
}

template <class Done>
void StructMatrix::apply_flat(const Vector& x, Vector& y, const Done& done) const {
    const EqualLines* const lines = lines_to_follow(*this);
    if (lines || grid().any_periodic()) return line_product(*this, lines, x, y, done);
    // The values of x that lie in memory and in the grid.
    const Layout& l = layout();
    const Index lowest = -std::min(l.begin_plane(), l.halo()) * l.slots_of_plane();
    const Index highest = l.slots() + std::min(grid().nz - l.end_plane(), l.halo()) * l.slots_of_plane();
    const PlaneSums order(space(), 1);
    for_blocks(*this, x, order, [&](Index at) {
        const Index first = order.block(at).first;
        const int count = int(order.block(at).count);
        thread_local std::vector<RunTerm> terms;
        for (int row = 0; row < dof(); ++row) {
            terms.clear();
            for (int e = 0; e < stencil_.size(); ++e) {
                const RunNeighbours near{0, 0, first + l.distance(stencil_[e])};
                const int begin = int(std::clamp<Index>(lowest - near.slot, 0, count));
                const int end = int(std::clamp<Index>(highest - near.slot, begin, count));
                for (int col = 0; col < dof(); ++col) {
                    const double* const a = along({{}, count, first}, near, e, row, col);
                    terms.push_back({a, x.component(col) + near.slot, begin, end});
                    if (dof() > 1) ask_for(a + count, count);
                }
            }
            accumulate<+1>(terms, nullptr, y.component(row) + first, count);
        }
        done(at, first, count);
    });
}

void StructMatrix::apply_runs(const Vector& x, Vector& y) const {
    for_each_run(context(), layout(), dof(), [&](const Run& run) {
        thread_local std::vector<RunNeighbours> near;  // reused, since an allocation costs more than a short run
        thread_local std::vector<RunTerm> terms;
        near.resize(stencil_.size());
        for (int e = 0; e < stencil_.size(); ++e) near[e] = layout().neighbours(run, stencil_[e]);
        for (int row = 0; row < dof(); ++row) {
            terms.clear();
            for (int e = 0; e < stencil_.size(); ++e) {
                if (near[e].begin >= near[e].end) continue;
                for (int col = 0; col < dof(); ++col) {
                    const double* const a = along(run, near[e], e, row, col);
                    terms.push_back({a, x.component(col) + near[e].slot, near[e].begin, near[e].end});
                    if (dof() > 1) ask_for(a + run.count, run.count);
                }
            }
            accumulate<+1>(terms, nullptr, y.component(row) + run.slot, run.count);
        }
    });
}

/// Calls body(entry, neighbours) for positions of a run that follow one another and have neighbours across a periodic
/// boundary, in the order of the stencil's entries. `neighbours` are as those inside the grid.
template <class Body>
void StructMatrix::for_wrapped(const Run& run, const Body& body) const {
    const Int3 step = layout().step();
    for (int e = 0; e < stencil_.size(); ++e) {
        const RunNeighbours inside = layout().neighbours(run, stencil_[e]);
        RunNeighbours near{0, 0, 0};
        const auto end = [&] {
            if (near.begin < near.end) body(e, near);
            near.begin = near.end;
        };
        for (int t = 0; t < run.count; ++t) {
            if (t == inside.begin && inside.begin < inside.end) t = inside.end;
            if (t >= run.count) break;
            const Int3 point = run.first + Int3{t * step.x, t * step.y, t * step.z};
            const Int3 neighbour = grid().wrapped(point + stencil_[e]);
            if (!grid().contains(neighbour)) continue;
            const Index slot = slot_of_neighbour(layout(), neighbour) - t;
            if (near.end != t || near.slot != slot) {
                end();
                near = {t, t, slot};
            }
            ++near.end;
        }
        end();
    }
}

void StructMatrix::apply_wrapped(const Vector& x, Vector& y) const {
    for_each_run(context(), layout(), dof(), [&](const Run& run) {
        for_wrapped(run, [&](int e, const RunNeighbours& near) {
            for (int row = 0; row < dof(); ++row)
                for (int col = 0; col < dof(); ++col)
                    add_rounded_products(along(run, near, e, row, col) + near.begin,
                                         x.component(col) + near.slot + near.begin,
                                         y.component(row) + run.slot + near.begin, near.end - near.begin);
        });
    });
}

void StructMatrix::residual(const Vector& b, const Vector& x, Vector& r) const {
    if constexpr (cuda_built)
        if (backend() == Backend::cuda) return cuda().residual(*this, b, x, r);
    bring_halo(*this, x);
    const EqualLines* const lines = equal_lines();
    for_each_run(context(), layout(), dof(), [&](const Run& run) {
        thread_local std::vector<RunTerm> terms;
        thread_local std::vector<double> low;
        low.resize(run.count);
        for (int row = 0; row < dof(); ++row) {
            terms.clear();
            const auto add = [&](int e, const RunNeighbours& near, Index shift) {
                for (int col = 0; col < dof(); ++col)
                    terms.push_back(
                        {along(run, near, e, row, col) + shift, x.component(col) + near.slot, near.begin, near.end});
            };
            for (int e = 0; e < stencil_.size(); ++e) {
                const auto near = layout().neighbours(run, stencil_[e]);
                if (near.begin >= near.end) continue;
                const Int3 stored = stores(e) ? run.first : run.first + stencil_[e];
                add(e, near, lines ? lines->shift(stored.y, stored.z) : 0);
            }
            if (grid().any_periodic()) for_wrapped(run, [&](int e, const RunNeighbours& near) { add(e, near, 0); });
            subtract_exactly(terms, b.component(row) + run.slot, r.component(row) + run.slot, low.data(), run.count);
        }
    });
}

StructMatrix& structured(SystemMatrix& a) {
    auto* const found = dynamic_cast<StructMatrix*>(&a);
    if (!found) throw Error(ExitCode::internal, "a matrix on a grid was asked for, and this one is of another kind");
    return *found;
}

const StructMatrix& structured(const SystemMatrix& a) {
    return structured(const_cast<SystemMatrix&>(a));
}

const StructMatrix& on_host(const StructMatrix& a, std::optional<StructMatrix>& copy) {
    if (a.backend() == Backend::cpu) return a;
    copy.emplace(a.context().host(), a.layout(), a.stencil(), a.dof(), a.storage(), "host copy");
    copy->assign(a);
    return *copy;
}

}  // namespace hyperplane
