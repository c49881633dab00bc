// SPDX-License-Identifier: BSD-3-Clause
// The grids of a multigrid method: matrices, interpolation and smoothers of all of them.
//
// Grid 0 is the matrix's own. From each grid the next one follows by coarsening along the axes with strong couplings
// (coarsening.hpp), with black-box interpolation (interpolation.hpp) and the Galerkin product (galerkin.hpp). The last
// grid has few points, or cannot be made coarser; its matrix is inverted densely (dense_solve.hpp), or some steps of l1
// Jacobi take the place of the inverse.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/vector/scalars.hpp"
#include "precond/multigrid/dense_solve.hpp"
#include "precond/multigrid/interpolation.hpp"
#include "precond/multigrid/rank_parts.hpp"
#include "precond/multigrid/setup_cuda.hpp"
#include "precond/multigrid/smoother.hpp"

namespace hyperplane::multigrid {

/// The smoother of each grid; the last one is that of all further grids, too.
struct SmootherChoices {
    std::vector<SmootherChoice> list;
    std::optional<SmootherChoice> coarsest;  ///< on the last grid; nothing: its matrix is inverted
    const SmootherChoice& on(int grid) const { return list[std::min(std::size_t(grid), list.size() - 1)]; }
};

/// One grid. The last one has no interpolation, and no smoother if its matrix is inverted; grid 0 neither matrix nor x
/// and b of its own, unless ranks have parts of it that are too thin for its set-up, so that each needs it as a whole.
struct GridParts {
    std::optional<StructMatrix> matrix;  ///< the Galerkin product; empty on grid 0, but for a copy of the whole grid
    Survey survey;
    std::optional<Interpolation> interpolation;
    Smoother smoother;
    Vector x, b, r, t;
    SingleParts single;
    RankParts gathered_from;  ///< where every rank has this grid as a whole, but not the one before: its ranks' parts
};

class Hierarchy {
public:
    /// Builds all grids for `a`, which must exist as long as this object is used. What was made for a matrix of the
    /// same shape before, whose grids were coarsened along the same axes, gets new values in the same memory.
    SetupReport setup(const StructMatrix& a, const CoarseningOptions& options, const SmootherChoices& smoothers,
                      const SmootherOptions& smoothing);
    void clear();

    int size() const { return int(parts_.size()); }
    const StructMatrix& matrix(int grid) const { return parts_[grid].matrix ? *parts_[grid].matrix : *a_; }
    /// Whether the given matrix is that of a rank's part, and all grids are computed as a whole.
    bool gathers_finest() const { return parts_[0].matrix.has_value(); }
    /// b and x of grid 0 from the vector of a rank's part, and to it, if gathers_finest().
    void gather_finest(const Vector& part);
    void to_part(Vector& part) const;
    /// Gathers the given matrix again, whose values have changed, if gathers_finest().
    void follow_finest_matrix();
    /// Whether cycles on this grid are in single precision.
    bool single(int grid) const { return parts_[grid].single.x.size() > 0; }
    /// Whether residuals of this grid's cycles in single precision take the matrix itself, since coefficients jump; on
    /// the finest grid, since constants solve the system besides.
    bool leaves_out_copy(int grid) const;
    /// The least bytes that a product with a grid's matrix moves in a cycle.
    Index product_bytes(int grid) const;

    // The steps of a cycle, in double and in single precision; b and x are vectors of the grid.
    void smooth_from_zero(int grid, const Vector& b, Vector& x);
    void smooth_from_zero(int grid, const SingleVector& b, SingleVector& x);
    void smooth(int grid, const Vector& b, Vector& x);
    void smooth(int grid, const SingleVector& b, SingleVector& x);
    /// r = b - A x, and then b of the next grid from r.
    void residual(int grid, const Vector& b, const Vector& x);
    void residual(int grid, const SingleVector& b, const SingleVector& x);
    void restrict_from(int grid, const Vector& like);
    void restrict_from(int grid, const SingleVector& like);
    /// Whether restrict_residual() serves. It takes the place of both, with their bits, but r is not of use afterwards.
    bool restricts_residual(int grid) const;
    void restrict_residual(int grid, const Vector& b, const Vector& x);
    /// x = x + P times x of the next grid.
    void prolong_to(int grid, Vector& x) const;
    void prolong_to(int grid, SingleVector& x) const;
    /// On the last grid, if its matrix is inverted.
    template <class AnyVector>
    void solve_coarsest(const AnyVector& b, AnyVector& x) const {
        coarsest_->apply(b, x);
    }
    /// A scalar in the memory of the vectors' backend.
    double* scalar() { return scalar_->data(); }
    GridParts& operator[](int grid) { return parts_[grid]; }
    const GridParts& operator[](int grid) const { return parts_[grid]; }
    const DenseSolve& coarsest() const { return *coarsest_; }
    Index bytes() const;

private:
    /// What the memory of all grids depends on, besides the axes along which they are coarsened.
    struct Shape {
        Layout layout;
        std::array<bool, 3> periodic;
        std::vector<Int3> offsets;
        int dof;
        MatrixStorage storage;
    };

    /// Vectors and copies of matrices of a grid that has them.
    void provide_singles(int grid, bool smoothed);
    /// Gives a survey a copy of the matrix to make, if a grid with a smoother has one.
    void provide_copy(int grid);
    void begin(const StructMatrix& a, const CoarseningOptions& options);
    /// Finds whether coarse grids have copies of their matrices in single precision (jumps.hpp). It is the finest
    /// matrix that decides, before anything else is computed.
    void decide_about_copies(const CoarseningOptions& options);
    void gather_finest_matrix(const CoarseningOptions& options);
    /// The axes along which a grid will probably be coarsened: those of the set-up before; in a first one, if a grid
    /// was coarsened along all axes that can be, the next one is, too.
    std::optional<Axes> guess(int grid) const;
    /// The couplings of grids whose axes were guessed, by grid.
    using Guessed = std::vector<std::pair<int, CouplingSums>>;
    /// Makes all grids. Where axes are guessed, the couplings are not read, so that the GPU is waited for once, after
    /// the last product, and not on each grid.
    Guessed coarsen(const CoarseningOptions& options, const SmootherChoices& smoothers, bool guesses);
    /// Waits for the couplings, and returns whether they lead to the axes that were guessed; otherwise nothing that was
    /// computed is of use.
    bool confirm(const Guessed& guessed, const CoarseningOptions& options);
    /// Returns the grids whose smoothers' set-ups are only queued.
    std::vector<int> prepare_smoothers(const SmootherChoices& smoothers, const SmootherOptions& smoothing);
    /// Throws an OutOfMemory whose message names the keys by which the grid becomes smaller.
    void invert_coarsest(const StructMatrix& coarsest, std::future<std::optional<DenseSolve::Factors>>& factors);
    void provide_vectors(int grid, const CoarseningOptions& options, bool coarsest_is_smoothed);
    /// `queued` is what prepare_smoothers() returned, and `meanwhile` is work of the host.
    void set_up_smoothers(const std::vector<int>& queued, int count, SetupReport& all,
                          const std::function<void()>& meanwhile);
    /// Adds the grid to the message of a SetupError, whose keys get the names that the deck has for them.
    void on_grid(int grid, const std::function<void(GridParts&)>& act);
    void add_report(int grid, const SetupReport& report, SetupReport& all) const;

    const StructMatrix* a_ = nullptr;
    std::optional<Shape> shape_;
    std::vector<GridParts> parts_;
    bool complete_ = false;  ///< the last set-up came to its end
    bool jumps_ = false;     ///< coefficients jump by more than copies in single precision resolve
    std::optional<DenseSolve> coarsest_;
    std::optional<Scalars> scalar_;
};

/// The name of a grid in plans and timers, as in "grid 1, 17 x 9 x 5".
std::string name_of(int grid, const Grid& extents);

/// Throws UsageError if the matrix of a coarsest grid is too large to be inverted densely.
void check_coarsest(const Grid& grid, int dof);

}  // namespace hyperplane::multigrid
