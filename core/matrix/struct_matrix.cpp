// SPDX-License-Identifier: BSD-3-Clause
#include "core/matrix/struct_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/grid/neighbour_slot.hpp"
#include "core/matrix/struct_matrix_cuda.hpp"
#include "core/ranks/cuts.hpp"
#include "core/ranks/halo_halves.hpp"
#include "core/ranks/messages_cuda.hpp"
#include "core/vector/blas1.hpp"
#include "core/vector/plane_sums.hpp"
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

/// Calls body(at) for every block of a product with x: first for those that read no halo, while it is on its way.
template <class Body>
void for_blocks(const StructMatrix& a, const Vector& x, const PlaneSums& order, const Body& body) {
    const Index blocks = order.blocks();
    const auto each = [&](Index begin, Index end, Index left_out_at, Index left_out) {
#pragma omp parallel for schedule(static, 1) num_threads(a.context().threads_for(a.unknowns()))
        for (Index at = begin; at < end; ++at) body(at < left_out_at ? at : at + left_out);
    };
    const Layout& layout = a.layout();
    if (!layout.is_part() || a.stencil().planes() == 0) return each(0, blocks, blocks, 0);
    const Index reach = a.stencil().planes() * layout.slots_of_plane();
    Index first = 0, last = blocks;  // the blocks [first, last) read no halo
    while (first < blocks && order.block(first).first < reach) ++first;
    while (last > first && order.block(last - 1).first + order.block(last - 1).count > layout.slots() - reach) --last;
    send_halo(x);
    each(first, last, last, 0);
    receive_halo(x);
    each(0, blocks - (last - first), first, last - first);
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
    const PlaneSums order(space(), 1);
    std::vector<double> partial(std::size_t(order.blocks()));
    apply_flat(x, y, [&](Index at, Index first, int count) {
        for (int c = 0; c < dof(); ++c) partial[at] += dot_run(x.component(c) + first, y.component(c) + first, count);
    });
    order.add_up(context(), partial, 1, product);
}

template <class Done>
void StructMatrix::apply_flat(const Vector& x, Vector& y, const Done& done) const {
    // Lines that are shorter take longer to begin than what is saved.
    constexpr int shortest_line = 32;
    if (const EqualLines* lines = equal_lines(); lines && lines->save_half() && grid().nx >= shortest_line)
        return apply_lines(*lines, x, y, done);
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

/// A coefficient as the lines of a product read it: the addresses of it and of the value that it multiplies, for slot
/// 0.
struct StructMatrix::LineTerm {
    const double *a, *x;
    Int3 o;       ///< to the neighbour
    Index ahead;  ///< slots to the neighbour
    bool own;     ///< the coefficient is stored at the point itself, not at the neighbour
};

std::vector<StructMatrix::LineTerm> StructMatrix::line_terms(const Vector& x, int row) const {
    std::vector<LineTerm> list;
    for (int e = 0; e < stencil_.size(); ++e) {
        const Int3 o = stencil_[e];
        const Index ahead = layout().distance(o);
        for (int col = 0; col < dof(); ++col)
            list.push_back({stores(e) ? values(e, row, col) : values(stencil_.mirror(e), col, row) + ahead,
                            x.component(col) + ahead, o, ahead, stores(e)});
    }
    return list;
}

template <class Done>
void StructMatrix::apply_lines(const EqualLines& lines, const Vector& x, Vector& y, const Done& done) const {
    const Layout& l = layout();
    const int nx = grid().nx, ny = grid().ny;
    const int lowest = std::max(0, l.begin_plane() - l.halo()), highest = std::min(grid().nz, l.end_plane() + l.halo());
    // The slots of these planes.
    const Index low = (lowest - l.begin_plane()) * l.slots_of_plane();
    const Index high = (highest - l.begin_plane()) * l.slots_of_plane();
    std::vector<std::vector<LineTerm>> all;
    for (int row = 0; row < dof(); ++row) all.push_back(line_terms(x, row));
    const PlaneSums order(space(), 1);
    for_blocks(*this, x, order, [&](Index at) {
        const Index first = order.block(at).first, last = first + order.block(at).count;
        thread_local std::vector<RunTerm> terms;
        for (Index slot = first; slot < last;) {
            const Index line = slot / nx;
            const Int3 p{int(slot % nx), int(line % ny), l.begin_plane() + int(line / ny)};
            const int count = int(std::min<Index>(nx - p.x, last - slot));
            for (int row = 0; row < dof(); ++row) {
                terms.clear();
                for (const LineTerm& term : all[row]) {
                    const int qx = p.x + term.o.x, qy = p.y + term.o.y, qz = p.z + term.o.z;
                    if (qy < 0 || qy >= ny || qz < lowest || qz >= highest) continue;
                    const Index shift = term.own ? lines.shift(p.y, p.z) : lines.shift(qy, qz);
                    terms.push_back({term.a + slot + shift, term.x + slot, 0, count});
                    if (dof() > 1) ask_for(terms.back().a + count, count);
                    // Beyond the line's ends the coefficient is zero, and multiplies some value that lies in memory.
                    const Index of_x = slot + term.ahead, of_a = (term.own ? slot : of_x) + shift;
                    if (qx < 0 && std::min(of_x, of_a) < low) terms.back().begin = -qx;
                    if (qx + count > nx && std::max(of_x, of_a) + count > high) terms.back().end = nx - qx;
                }
                accumulate<+1>(terms, nullptr, y.component(row) + slot, count);
            }
            slot += count;
        }
        done(at, first, int(last - first));
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

/// Calls body(t, entry, neighbour) for every position of a run whose neighbour lies across a periodic boundary.
template <class Body>
void StructMatrix::for_wrapped(const Run& run, const Body& body) const {
    const Int3 step = layout().step();
    for (int e = 0; e < stencil_.size(); ++e) {
        const RunNeighbours inside = layout().neighbours(run, stencil_[e]);
        for (int t = 0; t < run.count; ++t) {
            if (t == inside.begin && inside.begin < inside.end) t = inside.end;
            if (t >= run.count) break;
            const Int3 point = run.first + Int3{t * step.x, t * step.y, t * step.z};
            const Int3 neighbour = grid().wrapped(point + stencil_[e]);
            if (grid().contains(neighbour)) body(t, e, neighbour);
        }
    }
}

void StructMatrix::apply_wrapped(const Vector& x, Vector& y) const {
    for_each_run(context(), layout(), dof(), [&](const Run& run) {
        for_wrapped(run, [&](int t, int e, Int3 neighbour) {
            const RunNeighbours near{t, t + 1, slot_of_neighbour(layout(), neighbour) - t};
            for (int row = 0; row < dof(); ++row)
                for (int col = 0; col < dof(); ++col)
                    y.component(row)[run.slot + t] +=
                        along(run, near, e, row, col)[t] * x.component(col)[near.slot + t];
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
            if (grid().any_periodic())
                for_wrapped(run, [&](int t, int e, Int3 neighbour) {
                    add(e, {t, t + 1, slot_of_neighbour(layout(), neighbour) - t}, 0);
                });
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
