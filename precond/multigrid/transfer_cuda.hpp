// SPDX-License-Identifier: BSD-3-Clause
// Restriction and prolongation on a GPU between grids without periodic axes; transfer.cuh is the kernels' text.
#pragma once

#include "core/device/rtc.hpp"
#include "core/vector/vector.hpp"
#include "precond/multigrid/arguments.hpp"
#include "precond/multigrid/interpolation.hpp"

namespace hyperplane::multigrid {

GridSlots slots_of(const Layout& layout);

/// What kernels with a thread for each coarse point need to know of two grids.
class StepLaunch {
public:
    /// For the coarse points in the planes [begin, end); in hyperplane layout these are all planes.
    /// `layers`: so many threads of a thread block lie along the coordinate that changes most slowly.
    StepLaunch(const Layout& fine, const Layout& coarse, const Layout& order, int begin, int end, int threads,
               int layers = 1);

    const GridStep& step() const { return step_; }
    rtc::Blocks blocks() const { return blocks_; }
    /// AXIS_X, AXIS_Y, AXIS_Z, DOF and THREADS.
    static rtc::Definitions definitions(const Coarsening& grids, int dof, int threads);

private:
    GridStep step_;
    rtc::Blocks blocks_;
};

class TransferCuda {
public:
    /// `rounded`: the weights are in single precision; `single`: the vectors are.
    TransferCuda(const Context& context, const Coarsening& grids, int dof, bool rounded, bool single);

    bool rounded() const { return rounded_; }
    /// coarse = P^T fine at the points of the weights' part; T is double or float, as `rounded` says, and the vectors
    /// are what `single` says.
    template <class T, class AnyVector>
    void restrict_to(const WeightsView<const T>& weights, const AnyVector& fine, AnyVector& coarse) const {
        launch(restrict_, weights, fine, coarse, weights.coarse.begin_plane());
    }
    /// fine = fine + P coarse. The cells above coarse points contain the fine ones; that of the first one may belong to
    /// a coarse point of the rank below.
    template <class T, class AnyVector>
    void add_to(const WeightsView<const T>& weights, AnyVector& fine, const AnyVector& coarse) const {
        const int begin = weights.fine.begin_plane();
        launch(add_, weights, fine, coarse, weights.grids.axes[2] ? begin / 2 : begin);
    }

    static rtc::Programs programs(const Coarsening& grids, int dof, bool rounded, bool single);

private:
    static constexpr int threads = 256;
    using Kernel = rtc::Kernel<TransferArguments>;

    /// Launches a kernel for the coarse points from plane `begin` to the last one of the part. A kernel writes to one
    /// of the vectors alone.
    template <class T, class AnyVector>
    static void launch(const Kernel& kernel, const WeightsView<const T>& weights, const AnyVector& fine,
                       const AnyVector& coarse, int begin) {
        const StepLaunch launch(weights.fine, coarse.layout(), weights.order, begin, weights.coarse.end_plane(),
                                threads);
        TransferArguments all{.weights = weights.values - weights.order.halo_slots(),
                              .fine = const_cast<AnyVector&>(fine).memory().data(),
                              .coarse = const_cast<AnyVector&>(coarse).memory().data(),
                              .step = launch.step(),
                              .weight_stride = int(weights.stride),
                              .child = {},
                              .above_coarse = {},
                              .above_order = {}};
        for (int number = 0; number < 27; ++number) all.child[number] = int(weights.fine.slot_delta(offset_of(number)));
        for (int above = 0; above < 8; ++above) {
            const Int3 corner{above & 1, above >> 1 & 1, above >> 2};
            all.above_coarse[above] = int(coarse.layout().slot_delta(corner));
            all.above_order[above] = int(weights.order.slot_delta(corner));
        }
        kernel.launch(launch.blocks(), threads, 0, all);
    }
    static rtc::Definitions definitions(const Coarsening& grids, int dof, bool rounded, bool single);

    bool rounded_;
    Kernel restrict_, add_;
};

}  // namespace hyperplane::multigrid
