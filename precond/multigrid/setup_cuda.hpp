// SPDX-License-Identifier: BSD-3-Clause
// Couplings, interpolation weights and Galerkin products on a GPU, for grids without periodic axes; couplings.cuh and
// setup.cuh are the kernels' texts.
#pragma once

#include <array>
#include <vector>

#include "precond/multigrid/transfer_cuda.hpp"

namespace hyperplane::multigrid {

/// What kernels depend on, besides the axes that are coarsened.
struct SetupShape {
    Stencil stencil;
    int dof;
    MatrixStorage storage;

    int stored_entries() const { return storage == MatrixStorage::lower ? stencil.diagonal() + 1 : stencil.size(); }
};

class SetupCuda {
public:
    SetupCuda(const Context& context, const SetupShape& shape, const Coarsening& grids);

    /// Whether there are kernels for a matrix: no axis is periodic, and its sums are not so long that their compilation
    /// would take minutes.
    static bool takes(const SetupShape& shape, const Coarsening& grids);

    /// The weights and the rows of the coarse points in some planes. `a` may be a copy of the fine planes near these
    /// (sources.hpp). `singles`: if given, receives the weights in single precision, too.
    void interpolate(const StructMatrix& a, const Layout& planes, const WeightsView<double>& weights,
                     float* singles) const;
    void product(const StructMatrix& a, const Layout& planes, const WeightsView<const double>& weights,
                 StructMatrix& coarse) const;

private:
    std::vector<Int3> positions_;
    int layers_ = 0;  ///< planes of coarse points that a thread block has
    Stencil coarse_;
    rtc::Kernel<SetupArguments> interpolate_, product_;
};

/// The sums of c_id / max_e c_ie over all points for the axes that can be coarsened, on a grid without periodic axes;
/// and all of a survey but for the traits of matrices that are not symmetric or have several unknowns.
class CouplingSums {
public:
    /// Queues the sums; `copy` is that of a survey.
    CouplingSums(const StructMatrix& a, Axes candidates, float* copy);
    /// Waits for the sums and returns those of the axes; the survey receives the rest.
    std::array<double, 3> read(Survey& survey) const;
    /// The bytes that the sums hold until then, for a matrix in this layout.
    static Index bytes(const Layout& layout);

private:
    const StructMatrix* a_;
    bool copies_, examines_;
    int pieces_;  ///< thread blocks of a plane
    Buffer<double> sums_;
};

/// What NVRTC compiles for the set-up of a step from a grid without periodic axes to the next one.
rtc::Programs setup_programs(const SetupShape& shape, const Coarsening& grids);

}  // namespace hyperplane::multigrid
