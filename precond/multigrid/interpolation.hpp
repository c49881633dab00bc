// SPDX-License-Identifier: BSD-3-Clause
// Black-box interpolation P between a grid and the next coarser one (Dendy, Black box multigrid, J. Comput. Phys. 48,
// 1982), from the matrix alone; restriction is P^T.
//
// A fine point i has a set S of coarsened axes on which its index is odd. If S is empty, i is a coarse point and P
// copies its value. Otherwise the row of i is collapsed onto S: b(t) is the sum of a_i(o) over the offsets o whose
// components on S have the signs t. With delta = b(0), and P_(i+t) known since i + t is odd on fewer axes,
//
//     P_i = sum over t != 0 of -b(t) / delta P_(i+t)
//
//     delta = sigma = -(sum over t != 0 of b(t))   where |delta - sigma| <= 1e-10 sum |a_i| and sigma > 0
//
// so that constants are interpolated exactly where rows sum to zero but for rounding; where delta = 0, P_i = 0. For
// several unknowns a point, a_i(o) is the mean of the block's diagonal and each unknown is interpolated alike. For
// nonsymmetric matrices, a_i(o) is taken from (A + A^T) / 2.
//
// Weights are stored by coarse point: weight(s, I) couples I to its child at s (coarsening.hpp). The weight of the
// coarse point itself is 1 and is not stored. Their order is that of the fine layout's runs: where adjacent fine slots
// belong to adjacent points along an axis, so do adjacent weights, whatever the layout of the coarse grid. From the
// formula above, all weights of one coarse point are given by each other:
//
//     weight(s, I) = sum over nonempty subsets T of S of -b_i(-s on T) / delta_i weight(s off T, I)
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/function_ref.hpp"
#include "core/vector/single_vector.hpp"
#include "precond/multigrid/sources.hpp"

namespace hyperplane::multigrid {

/// Where a child's weights stand among those that are stored, by number_of(s); -1 for the coarse point itself and for
/// children that no point has.
struct Places {
    int of[27];
    int count = 0;

    explicit Places(const Coarsening& grids);
};

/// Kernels take it by value; T is double, const double or const float.
template <class T>
struct WeightsView {
    Coarsening grids;
    Layout fine, coarse, order;  ///< `order`: of the weights
    Places places;
    T* values;
    Index stride;  ///< distance from one child's first weight to the next one's

    /// `number`: number_of(s), not 13; `slot`: of the coarse point in the order of the weights.
    HYPERPLANE_HD T& at(int number, Index slot) const { return values[places.of[number] * stride + slot]; }
};

/// A layout of the coarse points: along its runs the fine points that coincide with them lie along a run of the fine
/// layout, where the levels allow.
Layout order_of_weights(const Coarsening& grids, const Layout& fine);

class TransferCuda;
class SetupCuda;
struct LineChildren;

/// Whether loops on a CPU can follow lines: the layout is natural, without periodic axes.
inline bool can_follow_lines(const Layout& layout) {
    return layout.kind() == LayoutKind::natural && !layout.grid().any_periodic();
}

/// Whether they follow lines of grids with periodic axes (periodic_lines.hpp).
inline bool follows_periodic_lines(const Layout& fine, const Layout& coarse, bool on_host) {
    return on_host && fine.grid().any_periodic() && fine.kind() == LayoutKind::natural &&
           coarse.kind() == LayoutKind::natural;
}

class Interpolation {
public:
    /// Computes the weights for a matrix on the fine grid; `coarse` is the layout of the coarse one. If it is that of a
    /// rank's part, weights get its halo, from the other ranks.
    /// `rounds`: round() will be called, so that kernels may round each weight when they have computed it.
    Interpolation(const Sources& sources, const Coarsening& grids, const Layout& coarse, bool rounds = false);
    Interpolation(const StructMatrix& a, const Coarsening& grids, const Layout& coarse)
        : Interpolation(Sources(a, grids, coarse), grids, coarse) {}

    /// Computes the weights anew for a matrix of the same shape.
    void compute(const Sources& sources, bool rounds = false);
    void compute(const StructMatrix& a) { compute(Sources(a, grids_, coarse_)); }

    const Coarsening& grids() const { return grids_; }
    const Layout& fine() const { return fine_; }
    const Layout& coarse() const { return coarse_; }
    /// Valid until round().
    WeightsView<const double> view() const { return view_of(first(weights_)); }
    /// The weights of children at s along a line of the natural layout, for the coarse points (0, j, k) and following,
    /// if products follow lines on a CPU; ones for the coarse points themselves. T is double until round(), then float.
    template <class T = double>
    const T* line(Int3 s, int j, int k) const {
        const int place = places_.of[number_of(s)];
        return place < 0 ? of(ones_, single_ones_, T{})
                         : of(weights_, singles_, T{}) + order_.halo_slots() + place * stride_ +
                               order_.slot({0, j, k}) + lines_->shift(j, k);
    }
    /// Lines of the weights, if products follow lines on a CPU, periodic ones included; else null.
    const EqualLines* equal_lines() const { return lines_ ? &*lines_ : nullptr; }
    /// Keeps the weights in single precision alone, until they are computed anew.
    void round();

    /// All weights by coarse point in natural order and number_of(s), for checks; 1 for the coarse points themselves
    /// and 0 for children that do not exist.
    std::vector<double> natural_weights() const;

    /// coarse = P^T fine, for vectors in double or in single precision. On ranks fine has its halo, and of `coarse`,
    /// which may be that of the whole grid, the own part is computed.
    void restrict_to(const Vector& fine, Vector& coarse) const;
    void restrict_to(const SingleVector& fine, SingleVector& coarse) const;
    /// Whether restrict_planes() serves: products follow lines on a CPU, on one rank, and each thread has several
    /// planes.
    bool restricts_planes() const;
    /// The same as restrict_to(), where compute(plane, to) writes a plane of `fine` to plane `to` of `scratch`, a
    /// vector of the fine grid, when the coarse planes beside it are next. So fine planes are read while they are in
    /// the caches.
    void restrict_planes(Vector& scratch, FunctionRef<void(int plane, int to)> compute, Vector& coarse) const;
    /// fine = fine + P coarse. On ranks `coarse` has its halo, or is that of the whole grid.
    void add_to(Vector& fine, const Vector& coarse) const;
    void add_to(SingleVector& fine, const SingleVector& coarse) const;

    /// The kernels of a GPU's products with P and P^T A P; none on a CPU, where an axis is periodic, or for stencils
    /// whose sums are too long.
    const SetupCuda* setup_kernels() const { return setup_.get(); }

    Index bytes() const {
        return (weights_.size() + ones_.size()) * Index(sizeof(double)) +
               (singles_.size() + single_ones_.size()) * Index(sizeof(float));
    }
    /// `coarse`: the layout of the coarse grid.
    static Index bytes(const Coarsening& grids, const Layout& coarse, bool rounded);

private:
    /// Computes the weights of the coarse points in the planes of a source.
    void compute_weights(const Source& source);
    void compute_by_points(const StructMatrix& a, const Layout& planes);
    /// Calls compute(run) for coarse lines, and copies the weights of those that follow from equal lines.
    void compute_different_lines(const Source& source, FunctionRef<void(const Run&)> compute);
    void compute_by_lines(const Source& source);
    void compute_by_periodic_lines(const Source& source);
    void find_equal_lines();
    void compute_line(const StructMatrix& a, const std::vector<LineChildren>& all, const Run& run);
    template <class T, class AnyVector>
    void restrict_by_lines(const AnyVector& fine, AnyVector& coarse) const;
    /// A coarse line; memory(z) is the plane of `fine` where the values of the fine plane z are.
    template <class T, class AnyVector, class Memory>
    void restrict_line(const Run& run, const AnyVector& fine, const Memory& memory, AnyVector& coarse) const;
    template <class T, class AnyVector>
    void add_by_lines(AnyVector& fine, const AnyVector& coarse) const;
    template <class T>
    void restrict_by_periodic_lines(const Vector& fine, Vector& coarse) const;
    template <class T>
    void add_by_periodic_lines(Vector& fine, const Vector& coarse) const;
    /// The weight of the first child at slot 0.
    template <class T>
    T* first(Buffer<T>& weights) const {
        return weights.data() + order_.halo_slots();
    }
    template <class T>
    const T* first(const Buffer<T>& weights) const {
        return weights.data() + order_.halo_slots();
    }
    template <class T>
    WeightsView<T> view_of(T* values) const {
        return {grids_, fine_, coarse_, order_, places_, values, stride_};
    }
    const TransferCuda& transfer(int dof, bool single) const;
    template <class T, class AnyVector>
    void restrict_in(const AnyVector& fine, AnyVector& coarse) const;
    template <class T, class AnyVector>
    void add_in(AnyVector& fine, const AnyVector& coarse) const;
    bool rounded() const { return rounded_; }
    /// Whether kernels write all weights, without halos, so that nobody has to fill their memory before.
    bool kernels_write_all() const { return setup_ && !order_.is_part(); }
    static const double* of(const Buffer<double>& doubles, const Buffer<float>&, double) { return doubles.data(); }
    static const float* of(const Buffer<double>&, const Buffer<float>& singles, float) { return singles.data(); }
    bool by_lines() const { return can_follow_lines(fine_) && coarse_.kind() == LayoutKind::natural && on_host_; }
    bool by_periodic_lines() const { return follows_periodic_lines(fine_, coarse_, on_host_); }

    Coarsening grids_;
    Layout fine_, coarse_, order_;
    Places places_;
    Index stride_;
    bool on_host_;
    bool has_kernels_;  ///< on a GPU, without periodic axes
    Context context_;
    std::optional<EqualLines> lines_;
    Buffer<double> weights_, ones_;
    Buffer<float> singles_, single_ones_;  ///< the same after round()
    bool rounded_ = false;                 ///< by round(): the weights are those in single precision
    bool rounds_at_once_ = false;          ///< kernels have written them already
    std::shared_ptr<const SetupCuda> setup_;
    mutable std::shared_ptr<const TransferCuda> transfer_, single_transfer_;  ///< loaded at first use
};

extern template void Interpolation::restrict_by_lines<double>(const Vector&, Vector&) const;
extern template void Interpolation::restrict_by_lines<double>(const SingleVector&, SingleVector&) const;
extern template void Interpolation::restrict_by_lines<float>(const Vector&, Vector&) const;
extern template void Interpolation::restrict_by_lines<float>(const SingleVector&, SingleVector&) const;
extern template void Interpolation::add_by_lines<double>(Vector&, const Vector&) const;
extern template void Interpolation::add_by_lines<double>(SingleVector&, const SingleVector&) const;
extern template void Interpolation::add_by_lines<float>(Vector&, const Vector&) const;
extern template void Interpolation::add_by_lines<float>(SingleVector&, const SingleVector&) const;
extern template void Interpolation::restrict_by_periodic_lines<double>(const Vector&, Vector&) const;
extern template void Interpolation::restrict_by_periodic_lines<float>(const Vector&, Vector&) const;
extern template void Interpolation::add_by_periodic_lines<double>(Vector&, const Vector&) const;
extern template void Interpolation::add_by_periodic_lines<float>(Vector&, const Vector&) const;

}  // namespace hyperplane::multigrid
