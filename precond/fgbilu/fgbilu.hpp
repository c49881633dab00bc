// SPDX-License-Identifier: BSD-3-Clause
// FGBILU: block incomplete LU without fill, hyperplane by hyperplane, a thread for each element of a block.
//
// Luo, Edwards, Luo, Mueller, "A fine-grained block ILU scheme on regular structures for GPGPUs", Computers & Fluids
// 119, 2015. M is the same as that of struct_ilu at fill level 0:
//
//     M = (D + E) D^-1 (D + F)
//     X_e(p) = A_e(p) - sum over l + u = e of E_l(p) D^-1(p+l) F_u(p+l)             (1), for any stencil
//     D^-1(p) = inverse of X_0(p)                                                    by Gauss-Jordan elimination
//     y(p) = D^-1(p) (r(p) - sum_l E_l(p) y(p+l)),   z(p) = y(p) - D^-1(p) sum_u F_u(p) z(p+u)
//
// Levels l = i + b j + c k of the stencil take the place of the paper's p = i + j + k, which are the levels of star7.
// The difference from struct_ilu is how the work of a level is distributed to threads, the `style`:
//
//     kernels    Each step is a loop over all elements of all points (Algorithms 4 and 6). (1) takes a pair of steps
//                for each group of entries l that do not change each other; all those of star7 are one group. The
//                inversion of D takes a step for the scale with which pivots are compared, and three for each row.
//     blocks     A point is taken through all steps at once (Algorithms 9 and 10). On a GPU a thread block does this
//                (precond/fgbilu/blocks_cuda.hpp). It keeps W_l(p) = E_l(p) D^-1(p+l) and G_u(p) = D^-1(p) F_u(p) in
//                place of E and F, so that D^-1 v can be computed before the neighbours' z are known:
//                    v(p) = r(p) - sum_l W_l(p) v(p+l),   z(p) = D^-1(p) v(p) - sum_u G_u(p) z(p+u)
//                On a CPU fgbilu_row makes exact elimination with wavefront solves instead, in which threads compute
//                runs of points (Algorithms 2 and 3), namely lines along x. With runs of points of a hyperplane, the
//                blocks of a row would be far apart in memory.
//
// The paper has a superfluous b in line 2 of Algorithm 6 (b): z = F x is correct, as in Algorithm 10. The correction
// iteration (3), x += M^-1 (b - A x), whose residual is Algorithm 7, is solver richardson.
//
// For star7 elimination changes the diagonal alone: only D^-1 is stored, and E and F are the matrix's. A matrix with
// `lower` storage gives incomplete Cholesky: F = E^T is read from E.
//
// Ranks on GPUs keep every dependency. They have copies of the matrix and of a vector in the hyperplane layout, on a
// grid with the planes of other ranks next to the cuts (precond/ilu/hyperplane_copy.hpp). They factor one after the
// other, and in the solves the kernels of hyperplanes pass on values to the next rank
// (precond/fgbilu/between_ranks.cuh).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/interfaces/preconditioner.hpp"
#include "precond/checks/applications.hpp"
#include "precond/factors/exported.hpp"
#include "precond/factors/pivot_record.hpp"
#include "precond/factors/reduced.hpp"
#include "precond/fgbilu/blocks_cuda.hpp"
#include "precond/ilu/hyperplane_copy.hpp"
#include "precond/ilu/ilu_preconditioner.hpp"
#include "precond/reproductions/fgbilu_by_element.hpp"

namespace hyperplane {

enum class FgBiluStyle { kernels, blocks };

struct FgBiluOptions {
    FgBiluStyle style = FgBiluStyle::blocks;
    PivotOptions pivots;
    FactorStorage storage = FactorStorage::double_precision;
};

/// On a CPU this class has style kernels, whatever the options say.
class FgBilu : public Preconditioner, public ExportsFactors {
public:
    FgBilu(const Context& context, const FgBiluOptions& options, const FgBiluTuning& tuning = {})
        : context_(context), options_(options), tuning_(tuning) {
        if (context.backend() == Backend::cpu) options_.style = FgBiluStyle::kernels;
    }

    SetupReport setup(const SystemMatrix& matrix) override;
    void suggest_shift(double alpha) override { options_.pivots.suggest_shift(alpha); }
    void apply(const Vector& r, Vector& z) const override;
    PreconditionerTraits traits() const override { return {.fixed = true, .symmetric = a_ && a_->symmetric()}; }
    Index bytes_per_apply() const override;
    ApplicationCheck check_application(const SystemMatrix& a, const Vector& r, const Vector& z,
                                       const MakeInDouble& in_double) const override {
        return check_exported(structured(a), options_.storage, r, z, in_double);
    }

    TriangleShape exported_shape(const Grid& grid, const Stencil& stencil, int dof, bool symmetric) const override;
    void export_factors(const TriangleCopy& to) const override;

    static PreconditionerPlan plan(const FgBiluOptions& options, const PreconditionerSetting& setting);
    /// The kernels that NVRTC compiles on a GPU.
    static std::vector<KernelSet> kernels(const FgBiluOptions& options, const PreconditionerSetting& setting);

private:
    void prepare(const StructMatrix& a);
    FgBiluFactors factors() const;
    /// A's, or its copy's, not periodic, with the stencil's levels.
    const Layout& layout() const { return system_->layout; }
    void build(double alpha, PivotInverter& inverter);
    /// Rounds the factors of a matrix in a layout, and releases those in double precision.
    void round_factors(const Layout& of_matrix, SetupReport& report);

    Context context_;
    FgBiluOptions options_;
    FgBiluTuning tuning_;
    const StructMatrix* a_ = nullptr;        ///< on ranks on GPUs the copy
    std::optional<StructMatrix> factor_;     ///< E, D^-1 and F; absent if E and F are the matrix's
    std::optional<StructMatrix> inverse_;    ///< D^-1 in that case
    std::optional<ReducedFactors> reduced_;  ///< replaces both after a set-up in reduced precision
    std::unique_ptr<HyperplaneCopy> copy_;   ///< on ranks on GPUs
    std::optional<IluPattern> system_;       ///< what offsets_, record_ and one of the two below are made for
    Buffer<Int3> offsets_;
    std::unique_ptr<PivotRecord> record_;          ///< a part for each column of a level
    std::unique_ptr<FgBiluByElement> by_element_;  ///< style kernels
    std::unique_ptr<FgBiluCuda> cuda_;             ///< style blocks on a GPU
};

/// Combines exact elimination and the given solve (make_exact_ilu of struct_ilu); this is style blocks on a CPU.
using MakeExactIlu = std::unique_ptr<IluPreconditioner> (*)(const Context&, const IluOptions&,
                                                            std::unique_ptr<TriangularSolve>);
PreconditionerRow fgbilu_row(MakeExactIlu make_exact_ilu);

}  // namespace hyperplane
