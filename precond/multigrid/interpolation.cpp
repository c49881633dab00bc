// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/interpolation.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "core/device/for_each_point.hpp"
#include "core/matrix/coefficients.hpp"
#include "core/ranks/cuts.hpp"
#include "precond/multigrid/setup_cuda.hpp"
#include "precond/multigrid/weight_formula.hpp"

namespace hyperplane::multigrid {
namespace {

/// For the child at each s, the entries of A in the order in which they are summed: those of b(0); for each subset T of
/// S, those of b(-s on T); the others.
struct ChildEntries {
    static constexpr int rest = 8, classes = 9;
    std::vector<int> entries, begin;  ///< begin[number_of(s) * classes + class]
    std::vector<Index> shift;         ///< of each entry's neighbour, where no axis is periodic
    std::vector<int> numbers;         ///< of the children, in the order |S| = 1, 2, 3
    int of_size[4] = {0, 0, 0, 0};    ///< how many of these have |S| = 1, 2, 3

    ChildEntries(const StructMatrix& a, const Places& places) {
        const std::vector<Int3>& offsets = a.stencil().offsets();
        for (int number = 0; number < 27; ++number)
            for (int wanted = 0; wanted < classes; ++wanted) {
                begin.push_back(int(entries.size()));
                for (std::size_t e = 0; e < offsets.size(); ++e)
                    if (class_of(offset_of(number), offsets[e]) == wanted) entries.push_back(int(e));
            }
        begin.push_back(int(entries.size()));
        for (const Int3 o : offsets) shift.push_back(a.layout().slot_delta(o));
        for (int size = 1; size <= 3; ++size)
            for (int number = 0; number < 27; ++number) {
                const int axes = axes_of(offset_of(number));
                if ((axes & 1) + (axes >> 1 & 1) + (axes >> 2) != size || places.of[number] < 0) continue;
                numbers.push_back(number);
                ++of_size[size];
            }
    }

private:
    static int class_of(Int3 s, Int3 o) {
        const Int3 t = signs_on(s, o);
        if (t == Int3{}) return 0;
        for (int subset = 1; subset <= axes_of(s); ++subset)
            if ((subset & axes_of(s)) == subset && t == -part_of(s, subset)) return subset;
        return rest;
    }
};

/// The weights of all children of one size |S|, which depend on those of smaller ones. The loop's grid holds the planes
/// of coarse points once for each child, since threads that compute all children of a point would be few on small
/// grids.
struct Weights {
    using in_tiles = void;
    Coefficients a;
    WeightsView<double> weights;
    SlotDeltas child_shift;
    const int *entries, *begin, *numbers;
    const Index* shift;
    int first_plane, planes;  ///< of the coarse points

    HYPERPLANE_HD int unknowns() const { return 16 * a.a.dof; }

    HYPERPLANE_HD void operator()(Int3 at, Index /*of the loop*/) const {
        const int number = numbers[at.z / planes];
        const Int3 coarse_point{at.x, at.y, first_plane + at.z % planes};
        const Index to = weights.order.slot(coarse_point);
        const Index own = a.layout.slot(weights.grids.first_child(coarse_point));
        Int3 p;
        const bool exists = weights.grids.child(coarse_point, offset_of(number), p);
        weights.at(number, to) = exists ? weight(p, number, own, to) : 0.0;
    }

    HYPERPLANE_HD double weight(Int3 p, int number, Index own_slot, Index to) const {
        const Int3 s = offset_of(number);
        const int* const of = begin + number * ChildEntries::classes;
        const Index slot = child_shift.usable ? child_shift.at(own_slot, number) : a.layout.slot(p);
        double magnitude = 0.0, sigma = 0.0, sum = 0.0;
        const double own = sum_of(p, slot, of[0], of[1], magnitude);
        const int all = axes_of(s);
        for (int subset = 1; subset <= all; ++subset) {
            if ((subset & all) != subset) continue;
            const double b = sum_of(p, slot, of[subset], of[subset + 1], magnitude);
            sigma -= b;
            sum -= subset == all ? b : b * weights.at(number_of(part_of(s, all & ~subset)), to);
        }
        sigma -= sum_of(p, slot, of[ChildEntries::rest], of[ChildEntries::rest + 1], magnitude);
        const double delta = used_delta(own, sigma, magnitude);
        return delta == 0.0 ? 0.0 : sum / delta;
    }

    HYPERPLANE_HD double sum_of(Int3 p, Index slot, int first, int last, double& magnitude) const {
        double sum = 0.0;
        for (int at = first; at < last; ++at) {
            const int e = entries[at];
            Int3 q;
            if (!child_shift.usable && !a.neighbour(p, e, q)) continue;
            const Index there = child_shift.usable ? slot_plus(slot, shift[e], child_shift.slots) : a.layout.slot(q);
            const double value = a.scalar(e, slot, there);
            sum += value;
            magnitude += std::abs(value);
        }
        return sum;
    }
};

/// T and Real: double or float, of the weights and of the vectors.
template <class T, class Real>
struct Restriction {
    using in_tiles = void;
    WeightsView<const T> weights;
    BasicVectorView<const Real> fine;
    BasicVectorView<Real> coarse;
    SlotDeltas delta;  ///< of the fine layout
    int dof;

    HYPERPLANE_HD int unknowns() const { return 8 * dof; }

    HYPERPLANE_HD void operator()(Int3 coarse_point, Index /*of the rank's part*/) const {
        const Axes& axes = weights.grids.axes;
        const Index coarse_slot = coarse.layout.slot(coarse_point);
        const Index own = weights.fine.slot(weights.grids.first_child(coarse_point));
        const Index of_weights = weights.order.slot(coarse_point);
        for (int c = 0; c < dof; ++c) {
            double sum = fine.at(own, c);
            for (int z = -axes[2]; z <= axes[2]; ++z)
                for (int y = -axes[1]; y <= axes[1]; ++y)
                    for (int x = -axes[0]; x <= axes[0]; ++x) {
                        const int number = number_of({x, y, z});
                        Index slot;
                        if (number != 13 && child_slot(coarse_point, own, number, slot))
                            sum += weights.at(number, of_weights) * double(fine.at(slot, c));
                    }
            coarse.at(coarse_slot, c) = Real(sum);
        }
    }
    /// Without periodic axes the weight of a child that does not exist, zero, multiplies the value of another point.
    HYPERPLANE_HD bool child_slot(Int3 coarse_point, Index own, int number, Index& slot) const {
        if (!delta.usable) {
            Int3 p;
            if (!weights.grids.child(coarse_point, offset_of(number), p)) return false;
            slot = weights.fine.slot(p);
            return true;
        }
        slot = delta.at(own, number);
        return true;
    }
};

template <class T, class Real>
struct Prolongation {
    using in_tiles = void;
    WeightsView<const T> weights;
    BasicVectorView<Real> fine;
    BasicVectorView<const Real> coarse;
    int dof;

    HYPERPLANE_HD int unknowns() const { return dof; }

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        const int odd = weights.grids.odd_axes(p);
        for (int above = 7; above >= 0; --above) {  // the axes on which the parent lies above p, as bits
            if ((above & odd) != above) continue;
            const Int3 s{sign(odd, above, 0), sign(odd, above, 1), sign(odd, above, 2)};
            Int3 parent;
            if (!weights.grids.parent(p, s, parent)) continue;
            const Index coarse_slot = coarse.layout.slot(parent);
            const double weight = odd == 0 ? 1.0 : weights.at(number_of(s), weights.order.slot(parent));
            for (int c = 0; c < dof; ++c) fine.at(slot, c) += weight * coarse.at(coarse_slot, c);
        }
    }
    /// p is the child at s of a parent below it, for s > 0, or above it.
    HYPERPLANE_HD static int sign(int odd, int above, int axis) {
        return odd >> axis & 1 ? (above >> axis & 1 ? -1 : 1) : 0;
    }
};

}  // namespace

Layout order_of_weights(const Coarsening& grids, const Layout& fine) {
    LevelMap levels = fine.levels();
    const int step = grids.axes[0] ? 2 : 1;
    const auto halved = [&](int level, bool coarsened) {
        const int ahead = coarsened ? 2 * level : level;
        return ahead % step == 0 ? ahead / step : level;
    };
    levels.y = halved(levels.y, grids.axes[1]);
    levels.z = halved(levels.z, grids.axes[2]);
    return Layout(fine.kind(), grids.coarse, levels);
}

Places::Places(const Coarsening& grids) {
    for (int number = 0; number < 27; ++number) {
        const bool stored = number != 13 && grids.has_children_at(offset_of(number));
        of[number] = stored ? count++ : -1;
    }
}

Interpolation::Interpolation(const Sources& sources, const Coarsening& grids, const Layout& coarse, bool rounds)
    : grids_(grids),
      fine_(sources.matrix().layout()),
      coarse_(coarse),
      order_(order_of_weights(grids, fine_).of_planes(coarse.begin_plane(), coarse.end_plane(), coarse.halo())),
      places_(grids),
      stride_(StructMatrix::stride(coarse.slots_in_memory())),
      on_host_(sources.matrix().backend() == Backend::cpu),
      has_kernels_(cuda_built && !on_host_ && !grids.fine.any_periodic()),
      context_(sources.matrix().context()) {
    if constexpr (cuda_built) {
        const StructMatrix& a = sources.matrix();
        const SetupShape shape{a.stencil(), a.dof(), a.storage()};
        if (has_kernels_ && SetupCuda::takes(shape, grids))
            setup_ = std::make_shared<SetupCuda>(context_, shape, grids);
    }
    compute(sources, rounds);
}

void Interpolation::compute(const Sources& sources, bool rounds) {
    rounds_at_once_ = rounds && kernels_write_all();
    rounded_ = false;
    const Initially holds = kernels_write_all() ? Initially::anything : Initially::zero;
    if (!rounds_at_once_) singles_ = {};
    if (rounds_at_once_ && singles_.size() == 0)
        singles_ = Buffer<float>(context_, "multigrid: interpolation", places_.count * stride_, holds);
    single_ones_ = {};
    lines_.reset();
    if (weights_.size() == 0) {
        weights_ = Buffer<double>(context_, "multigrid: interpolation", places_.count * stride_, holds);
        ones_ = Buffer<double>(context_, "multigrid: interpolation", on_host_ ? grids_.coarse.nx : 0);
        if (on_host_) std::fill(ones_.begin(), ones_.end(), 1.0);
    }
    for (const Source& source : sources.list()) compute_weights(source);
    std::vector<double*> of_children;
    for (int place = 0; place < places_.count; ++place) of_children.push_back(first(weights_) + place * stride_);
    exchange_halos(context_, order_, order_.halo(), of_children);
    if ((by_lines() || by_periodic_lines()) && !lines_) find_equal_lines();
}

void Interpolation::compute_weights(const Source& source) {
    if constexpr (cuda_built)
        if (setup_)
            return setup_->interpolate(*source.a, source.planes, view_of(first(weights_)),
                                       rounds_at_once_ ? first(singles_) : nullptr);
    if (by_lines()) return compute_by_lines(source);
    by_periodic_lines() ? compute_by_periodic_lines(source) : compute_by_points(*source.a, source.planes);
}

void Interpolation::round() {
    rounded_ = true;
    if (rounds_at_once_) {
        weights_ = {};
        return;
    }
    singles_ = Buffer<float>(context_, "multigrid: interpolation", weights_.size());
    single_ones_ = Buffer<float>(context_, "multigrid: interpolation", ones_.size());
    if (on_host_) std::fill(single_ones_.begin(), single_ones_.end(), 1.0f);
    round_to_single(context_, weights_.data(), singles_.data(), weights_.size());
    weights_ = {};
    ones_ = {};
}

void Interpolation::compute_by_points(const StructMatrix& a, const Layout& coarse_planes) {
    const Buffer<Int3> offsets = offsets_of(a, "multigrid: tables");
    const ChildEntries lists(a, places_);
    const auto copied = [&](const auto& values) { return copied_to(context_, "multigrid: tables", values); };
    const auto entries = copied(lists.entries), begin = copied(lists.begin), numbers = copied(lists.numbers);
    const auto shift = copied(lists.shift);
    const int* of_size = numbers.data();
    for (int size = 1; size <= 3; of_size += lists.of_size[size++]) {
        Grid planes = grids_.coarse;
        planes.nz = coarse_planes.planes() * lists.of_size[size];
        if (planes.nz == 0) continue;
        for_each_point(
            a.context(), Layout(LayoutKind::natural, planes, {}), "interpolation",
            Weights{Coefficients(a, offsets.data()), view_of(first(weights_)), SlotDeltas(a.layout()), entries.data(),
                    begin.data(), of_size, shift.data(), coarse_planes.begin_plane(), coarse_planes.planes()});
    }
}

std::vector<double> Interpolation::natural_weights() const {
    const auto read = [&](const auto& buffer) {
        std::vector<std::decay_t<decltype(*buffer.data())>> values(static_cast<std::size_t>(buffer.size()));
        if (on_host_)
            std::copy(buffer.begin(), buffer.end(), values.begin());
        else
            buffer.context().stream().copy(buffer.data(), values.data(), buffer.size() * Index(sizeof(values[0])));
        return std::vector<double>(values.begin(), values.end());
    };
    const std::vector<double> stored = rounded() ? read(singles_) : read(weights_);
    std::vector<double> weights;
    for (Index at = 0; at < grids_.coarse.points(); ++at) {
        const Index slot = order_.slot(grids_.coarse.point(at));
        for (int number = 0; number < 27; ++number) {
            const int place = places_.of[number];
            weights.push_back(number == 13 ? 1.0 : place < 0 ? 0.0 : stored[place * stride_ + slot]);
        }
    }
    return weights;
}

const TransferCuda& Interpolation::transfer(int dof, bool single) const {
    std::shared_ptr<const TransferCuda>& kept = single ? single_transfer_ : transfer_;
    if constexpr (cuda_built)
        if (!kept || kept->rounded() != rounded())
            kept = std::make_shared<TransferCuda>(context_, grids_, dof, rounded(), single);
    return *kept;
}

void Interpolation::restrict_to(const Vector& fine, Vector& coarse) const {
    rounded() ? restrict_in<float>(fine, coarse) : restrict_in<double>(fine, coarse);
}

void Interpolation::restrict_to(const SingleVector& fine, SingleVector& coarse) const {
    rounded() ? restrict_in<float>(fine, coarse) : restrict_in<double>(fine, coarse);
}

void Interpolation::add_to(Vector& fine, const Vector& coarse) const {
    rounded() ? add_in<float>(fine, coarse) : add_in<double>(fine, coarse);
}

void Interpolation::add_to(SingleVector& fine, const SingleVector& coarse) const {
    rounded() ? add_in<float>(fine, coarse) : add_in<double>(fine, coarse);
}

namespace {

/// The type of a vector's values.
template <class AnyVector>
using RealOf = std::remove_pointer_t<decltype(std::declval<AnyVector&>().data())>;

}  // namespace

template <class T, class AnyVector>
void Interpolation::restrict_in(const AnyVector& fine, AnyVector& coarse) const {
    using Real = RealOf<AnyVector>;
    if (by_lines()) return restrict_by_lines<T>(fine, coarse);
    if constexpr (std::is_same_v<Real, double>)
        if (by_periodic_lines()) return restrict_by_periodic_lines<T>(fine, coarse);
    const WeightsView<const T> weights = view_of(of(weights_, singles_, T{}) + order_.halo_slots());
    if constexpr (cuda_built)
        if (has_kernels_) return transfer(fine.dof(), std::is_same_v<Real, float>).restrict_to(weights, fine, coarse);
    for_each_point(
        fine.context(), coarse_, "restriction",
        Restriction<T, Real>{
            weights, {fine.layout(), fine.data()}, {coarse.layout(), coarse.data()}, SlotDeltas(fine_), fine.dof()});
}

template <class T, class AnyVector>
void Interpolation::add_in(AnyVector& fine, const AnyVector& coarse) const {
    using Real = RealOf<AnyVector>;
    if (by_lines()) return add_by_lines<T>(fine, coarse);
    if constexpr (std::is_same_v<Real, double>)
        if (by_periodic_lines()) return add_by_periodic_lines<T>(fine, coarse);
    const WeightsView<const T> weights = view_of(of(weights_, singles_, T{}) + order_.halo_slots());
    if constexpr (cuda_built)
        if (has_kernels_) return transfer(fine.dof(), std::is_same_v<Real, float>).add_to(weights, fine, coarse);
    for_each_point(
        fine.context(), fine_, "prolongation",
        Prolongation<T, Real>{weights, {fine.layout(), fine.data()}, {coarse.layout(), coarse.data()}, fine.dof()});
}

Index Interpolation::bytes(const Coarsening& grids, const Layout& coarse, bool rounded) {
    const Index values = Places(grids).count * StructMatrix::stride(coarse.slots_in_memory()) + grids.coarse.nx;
    return values * Index(rounded ? sizeof(float) : sizeof(double));
}

}  // namespace hyperplane::multigrid
