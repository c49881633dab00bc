// SPDX-License-Identifier: BSD-3-Clause
// Exact triangular solves in wavefront order: every dependency is respected, and points that do not depend on each
// other are computed in parallel.
//
// Luo et al., "StructILU", ICS 2025: Algorithm 2 and section 4.1. The equations are those of
// precond/triangular/triangular_solve.hpp. On a CPU (solve_cpu.hpp) threads compute runs of points in the order of
// precond/walks/wavefront.hpp; on a GPU (solve_cuda.hpp) thread blocks compute tiles of lines. Offsets that leave the
// grid or wrap around it are skipped.
#pragma once

#include <memory>

#include "precond/triangular/triangular_solve.hpp"
#include "precond/triangular/wavefront/eisenstat.hpp"
#include "precond/tuning.hpp"

namespace hyperplane {

namespace wavefront_cuda {
class Solves;
}

class WavefrontSolve : public ExactSolve {
public:
    explicit WavefrontSolve(const StructIluTuning& tuning = {}, bool eisenstat = false);
    ~WavefrontSolve() override;

    void analyse(const IluFactors& factors) override;
    void accept(const IluFactors& factors, const std::string& name) override;
    void lower(const IluFactors& factors, const Vector& r, Vector& y) const override;
    void upper(const IluFactors& factors, Vector& z) const override;
    /// For a symmetric matrix r^T z is a by-product of one of the solves: on a CPU in the natural layout, on a GPU in
    /// the hyperplane layout of one rank.
    void apply_dot(const IluFactors& factors, const Vector& r, Vector& z, double* rz) const override;
    /// On a CPU, where lines along x are solved in one pass.
    bool step(const IluFactors& factors, const Vector& b, double omega, Vector& x, Vector& t) const override;
    bool apply_single(const IluFactors& factors, const SingleVector& r, SingleVector& z) const override;
    bool step_single(const IluFactors& factors, const SingleMatrix& a, const SingleVector& b, double omega,
                     SingleVector& x, SingleVector& t) const override;
    int vectors_of_dot(const IluFactors& factors) const override { return dot_is_free(factors) ? 0 : 2; }

    bool offers_eisenstat(const IluPattern& pattern, Backend backend) const override;
    const EisenstatForm* eisenstat() const override { return form_ ? &*form_ : nullptr; }

    /// Lines along x are read fastest on a CPU (docs/performance.md), hyperplanes on a GPU.
    LayoutKind layout(Backend backend) const override {
        return backend == Backend::cuda ? LayoutKind::hyperplane : LayoutKind::natural;
    }
    Index bytes(const IluPattern& pattern, Backend backend) const override;
    std::vector<KernelSet> kernels(const IluPattern& pattern, bool single_vectors) const override;
    std::string describe() const override;

private:
    static bool dot_is_free(const IluFactors& factors);

    StructIluTuning tuning_;
    bool wants_eisenstat_;
    std::optional<IluPattern> served_;              ///< the pattern for which cuda_ was made
    std::unique_ptr<wavefront_cuda::Solves> cuda_;  ///< kernels, if the factors are on a GPU
    std::optional<ScaledTriangle> scaled_;          ///< for form_ on a GPU
    std::optional<WavefrontEisenstat> form_;
};

}  // namespace hyperplane
