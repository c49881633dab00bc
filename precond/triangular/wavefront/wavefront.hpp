// SPDX-License-Identifier: BSD-3-Clause
// Exact triangular solves, every dependency kept: points that may be computed together are, in a wavefront across the
// grid.
//
// Luo et al., "StructILU", ICS 2025: Algorithm 2 and section 4.1. The equations are those of
// precond/triangular/triangular_solve.hpp. On a CPU (solve_cpu.hpp) threads take runs of points in the order of
// precond/walks/wavefront.hpp; on a GPU (solve_cuda.hpp) blocks of threads take tiles of lines. Offsets that leave the
// grid or wrap around it are skipped.
#pragma once

#include <memory>

#include "precond/triangular/triangular_solve.hpp"
#include "precond/walks/tuning.hpp"

namespace hyperplane {

namespace struct_ilu {
class Solves;
}

class WavefrontSolve : public ExactSolve {
public:
    explicit WavefrontSolve(const StructIluTuning& tuning = {});
    ~WavefrontSolve() override;

    void analyse(const IluFactors& factors) override;
    void lower(const IluFactors& factors, const Vector& r, Vector& y) const override;
    void upper(const IluFactors& factors, Vector& z) const override;
    /// For a symmetric matrix r^T z falls out of one of the solves.
    void apply_dot(const IluFactors& factors, const Vector& r, Vector& z, double* rz) const override;
    int vectors_of_dot(const IluFactors& factors) const override { return dot_is_free(factors) ? 0 : 2; }

    /// On a CPU lines along x stream best (docs/performance.md), on a GPU hyperplanes do.
    LayoutKind layout(Backend backend) const override {
        return backend == Backend::cuda ? LayoutKind::hyperplane : LayoutKind::natural;
    }
    Index bytes(const IluPattern& pattern, Backend backend) const override;
    std::string describe() const override;

private:
    static bool dot_is_free(const IluFactors& factors);

    StructIluTuning tuning_;
    std::optional<IluPattern> served_;          ///< by cuda_
    std::unique_ptr<struct_ilu::Solves> cuda_;  ///< kernels, where the factors are on a GPU
};

}  // namespace hyperplane
