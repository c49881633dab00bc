// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/interpolation.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "core/device/for_each_point.hpp"
#include "precond/multigrid/coefficients.hpp"
#include "precond/multigrid/weight_formula.hpp"

namespace hyperplane::multigrid {
namespace {

/// The weights of a coarse point, in the order |S| = 1, 2, 3.
struct Weights {
    using in_tiles = void;
    Coefficients a;
    WeightsView<double> weights;

    HYPERPLANE_HD void operator()(Int3 coarse_point, Index coarse_slot) const {
        for (int size = 1; size <= 3; ++size)
            for (int number = 0; number < 27; ++number) {
                const Int3 s = offset_of(number);
                if ((s.x != 0) + (s.y != 0) + (s.z != 0) != size || weights.places.of[number] < 0) continue;
                Int3 p;
                weights.at(number, coarse_slot) =
                    weights.grids.child(coarse_point, s, p) ? weight(p, s, coarse_slot) : 0.0;
            }
    }

    HYPERPLANE_HD double weight(Int3 p, Int3 s, Index coarse_slot) const {
        double b[27], sigma = 0.0, magnitude = 0.0;
        for (double& value : b) value = 0.0;
        const Index slot = a.layout.slot(p);
        for (int e = 0; e < a.entries; ++e) {
            Int3 q;
            if (!a.neighbour(p, e, q)) continue;
            const double value = a.scalar(e, slot, a.layout.slot(q));
            const int t = number_of(signs_on(s, a.offsets[e]));
            b[t] += value;
            magnitude += std::abs(value);
            if (t != 13) sigma -= value;
        }
        const double delta = used_delta(b[13], sigma, magnitude);
        if (delta == 0.0) return 0.0;
        double sum = 0.0;
        const int all = axes_of(s);
        for (int subset = 1; subset <= all; ++subset) {
            if ((subset & all) != subset) continue;
            const double rest = subset == all ? 1.0 : weights.at(number_of(part_of(s, all & ~subset)), coarse_slot);
            sum += -b[number_of(-part_of(s, subset))] / delta * rest;
        }
        return sum;
    }
};

template <class T>
struct Restriction {
    using in_tiles = void;
    WeightsView<const T> weights;
    ConstVectorView fine;
    VectorView coarse;
    SlotDeltas delta;  ///< of the fine layout
    int dof;

    HYPERPLANE_HD int unknowns() const { return 8 * dof; }

    HYPERPLANE_HD void operator()(Int3 coarse_point, Index coarse_slot) const {
        const Axes& axes = weights.grids.axes;
        const Index own = weights.fine.slot(weights.grids.first_child(coarse_point));
        for (int c = 0; c < dof; ++c) {
            double sum = fine.at(own, c);
            for (int z = -axes[2]; z <= axes[2]; ++z)
                for (int y = -axes[1]; y <= axes[1]; ++y)
                    for (int x = -axes[0]; x <= axes[0]; ++x) {
                        const int number = number_of({x, y, z});
                        Index slot;
                        if (number != 13 && child_slot(coarse_point, own, number, slot))
                            sum += weights.at(number, coarse_slot) * fine.at(slot, c);
                    }
            coarse.at(coarse_slot, c) = sum;
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

template <class T>
struct Prolongation {
    using in_tiles = void;
    WeightsView<const T> weights;
    VectorView fine;
    ConstVectorView coarse;
    int dof;

    HYPERPLANE_HD int unknowns() const { return dof; }

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        const int odd = weights.grids.odd_axes(p);
        for (int above = 7; above >= 0; --above) {  // the axes on which the parent lies above p, as bits
            if ((above & odd) != above) continue;
            const Int3 s{sign(odd, above, 0), sign(odd, above, 1), sign(odd, above, 2)};
            Int3 parent;
            if (!weights.grids.parent(p, s, parent)) continue;
            const Index coarse_slot = weights.coarse.slot(parent);
            const double weight = odd == 0 ? 1.0 : weights.at(number_of(s), coarse_slot);
            for (int c = 0; c < dof; ++c) fine.at(slot, c) += weight * coarse.at(coarse_slot, c);
        }
    }
    /// p is the child at s of a parent below it, for s > 0, or above it.
    HYPERPLANE_HD static int sign(int odd, int above, int axis) {
        return odd >> axis & 1 ? (above >> axis & 1 ? -1 : 1) : 0;
    }
};

struct RoundedWeights {
    const double* from;
    float* to;
    Index stride;
    int places;

    HYPERPLANE_HD void operator()(Int3, Index coarse_slot) const {
        for (int place = 0; place < places; ++place)
            to[place * stride + coarse_slot] = float(from[place * stride + coarse_slot]);
    }
};

}  // namespace

Places::Places(const Coarsening& grids) {
    for (int number = 0; number < 27; ++number) {
        const bool stored = number != 13 && grids.has_children_at(offset_of(number));
        of[number] = stored ? count++ : -1;
    }
}

Interpolation::Interpolation(const StructMatrix& a, const Coarsening& grids, const Layout& coarse)
    : grids_(grids),
      fine_(a.layout()),
      coarse_(coarse),
      places_(grids),
      stride_(StructMatrix::stride(coarse.slots())),
      on_host_(a.backend() == Backend::cpu),
      context_(a.context()) {
    compute(a);
}

void Interpolation::compute(const StructMatrix& a) {
    singles_ = {};
    single_ones_ = {};
    if (weights_.size() == 0) {
        weights_ = Buffer<double>(context_, "multigrid: interpolation", places_.count * stride_);
        ones_ = Buffer<double>(context_, "multigrid: interpolation", on_host_ ? grids_.coarse.nx : 0);
        if (on_host_) std::fill(ones_.begin(), ones_.end(), 1.0);
    }
    by_lines() ? compute_by_lines(a) : compute_by_points(a);
}

void Interpolation::round() {
    singles_ = Buffer<float>(context_, "multigrid: interpolation", weights_.size());
    single_ones_ = Buffer<float>(context_, "multigrid: interpolation", ones_.size());
    if (on_host_) std::fill(single_ones_.begin(), single_ones_.end(), 1.0f);
    for_each_point(context_.backend(), coarse_, "rounding of weights",
                   RoundedWeights{weights_.data(), singles_.data(), stride_, places_.count});
    weights_ = {};
    ones_ = {};
}

void Interpolation::compute_by_points(const StructMatrix& a) {
    const Buffer<Int3> offsets = offsets_of(a);
    for_each_point(
        a.backend(), coarse_, "interpolation",
        Weights{Coefficients(a, offsets.data()), {grids_, fine_, coarse_, places_, weights_.data(), stride_}});
}

std::vector<double> Interpolation::natural_weights() const {
    const auto read = [&](const auto& buffer) {
        std::vector<std::decay_t<decltype(*buffer.data())>> values(static_cast<std::size_t>(buffer.size()));
        if (on_host_)
            std::copy(buffer.begin(), buffer.end(), values.begin());
        else
            device::copy(buffer.data(), values.data(), buffer.size() * Index(sizeof(values[0])));
        return std::vector<double>(values.begin(), values.end());
    };
    const std::vector<double> stored = rounded() ? read(singles_) : read(weights_);
    std::vector<double> weights;
    for (Index at = 0; at < grids_.coarse.points(); ++at) {
        const Index slot = coarse_.slot(grids_.coarse.point(at));
        for (int number = 0; number < 27; ++number) {
            const int place = places_.of[number];
            weights.push_back(number == 13 ? 1.0 : place < 0 ? 0.0 : stored[place * stride_ + slot]);
        }
    }
    return weights;
}

void Interpolation::restrict_to(const Vector& fine, Vector& coarse) const {
    rounded() ? restrict_in<float>(fine, coarse) : restrict_in<double>(fine, coarse);
}

void Interpolation::add_to(Vector& fine, const Vector& coarse) const {
    rounded() ? add_in<float>(fine, coarse) : add_in<double>(fine, coarse);
}

template <class T>
void Interpolation::restrict_in(const Vector& fine, Vector& coarse) const {
    if (by_lines()) return restrict_by_lines<T>(fine, coarse);
    const WeightsView<const T> weights{grids_, fine_, coarse_, places_, of(weights_, singles_, T{}), stride_};
    for_each_point(
        fine.backend(), coarse_, "restriction",
        Restriction<T>{weights, hyperplane::view(fine), hyperplane::view(coarse), SlotDeltas(fine_), fine.dof()});
}

template <class T>
void Interpolation::add_in(Vector& fine, const Vector& coarse) const {
    if (by_lines()) return add_by_lines<T>(fine, coarse);
    const WeightsView<const T> weights{grids_, fine_, coarse_, places_, of(weights_, singles_, T{}), stride_};
    for_each_point(fine.backend(), fine_, "prolongation",
                   Prolongation<T>{weights, hyperplane::view(fine), hyperplane::view(coarse), fine.dof()});
}

Index Interpolation::bytes(const Coarsening& grids, bool rounded) {
    const Index values = Places(grids).count * StructMatrix::stride(grids.coarse.points()) + grids.coarse.nx;
    return values * Index(rounded ? sizeof(float) : sizeof(double));
}

}  // namespace hyperplane::multigrid
