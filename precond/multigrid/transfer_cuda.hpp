// SPDX-License-Identifier: BSD-3-Clause
// Restriction and prolongation on a GPU between grids without periodic axes; transfer.cuh is the kernels' text.
#pragma once

#include "core/device/rtc.hpp"
#include "core/vector/vector.hpp"
#include "precond/multigrid/arguments.hpp"
#include "precond/multigrid/interpolation.hpp"

namespace hyperplane::multigrid {

/// What kernels with a thread for each coarse point need to know of two grids.
class StepLaunch {
public:
    template <class T>
    StepLaunch(const WeightsView<T>& weights, int threads)
        : StepLaunch(weights.fine, weights.coarse, weights.order, threads) {}

    const GridStep& step() const { return step_; }
    rtc::Blocks blocks() const { return blocks_; }
    /// AXIS_X, AXIS_Y, AXIS_Z, DOF and THREADS.
    static rtc::Definitions definitions(const Coarsening& grids, int dof, int threads);

private:
    StepLaunch(const Layout& fine, const Layout& coarse, const Layout& order, int threads);

    GridStep step_;
    rtc::Blocks blocks_;
};

class TransferCuda {
public:
    /// `rounded`: the weights are in single precision.
    TransferCuda(const Context& context, const Coarsening& grids, int dof, bool rounded);

    bool rounded() const { return rounded_; }
    /// coarse = P^T fine; T is double or float, as `rounded` says.
    template <class T>
    void restrict_to(const WeightsView<const T>& weights, const Vector& fine, Vector& coarse) const {
        launch(restrict_, weights, fine.data(), coarse.data());
    }
    /// fine = fine + P coarse
    template <class T>
    void add_to(const WeightsView<const T>& weights, Vector& fine, const Vector& coarse) const {
        launch(add_, weights, fine.data(), coarse.data());
    }

    static rtc::Programs programs(const Coarsening& grids, int dof, bool rounded);

private:
    static constexpr int threads = 256;
    using Kernel = rtc::Kernel<TransferArguments>;

    /// A kernel writes to one of the vectors alone.
    template <class T>
    static void launch(const Kernel& kernel, const WeightsView<const T>& weights, const double* fine,
                       const double* coarse) {
        const StepLaunch launch(weights, threads);
        TransferArguments all{.weights = weights.values,
                              .fine = const_cast<double*>(fine),
                              .coarse = const_cast<double*>(coarse),
                              .step = launch.step(),
                              .weight_stride = int(weights.stride),
                              .child = {},
                              .above_coarse = {},
                              .above_order = {}};
        for (int number = 0; number < 27; ++number) all.child[number] = int(weights.fine.slot_delta(offset_of(number)));
        for (int above = 0; above < 8; ++above) {
            const Int3 corner{above & 1, above >> 1 & 1, above >> 2};
            all.above_coarse[above] = int(weights.coarse.slot_delta(corner));
            all.above_order[above] = int(weights.order.slot_delta(corner));
        }
        kernel.launch(launch.blocks(), threads, 0, all);
    }
    static rtc::Definitions definitions(const Coarsening& grids, int dof, bool rounded);

    bool rounded_;
    Kernel restrict_, add_;
};

}  // namespace hyperplane::multigrid
