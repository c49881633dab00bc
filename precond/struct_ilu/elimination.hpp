// SPDX-License-Identifier: BSD-3-Clause
// Exact incomplete elimination in wavefront order on either backend.
//
// Luo et al., "StructILU", ICS 2025: Algorithm 1, section 4.1. For each point p in natural order, for each lower offset
// l and upper offset u with e = l + u in the stencil:
//
//     X_e(p) -= E_l(p) D^-1(p+l) F_u(p+l)          X = A + alpha diag(A) initially
//     D^-1(p) = inverse of X_0(p)
#pragma once

#include <memory>
#include <optional>

#include "precond/ilu/factorisation.hpp"
#include "precond/tuning.hpp"

namespace hyperplane {

namespace wavefront_cuda {
class Factorisation;
}

class Elimination : public Factorisation {
public:
    explicit Elimination(const StructIluTuning& tuning = {});
    ~Elimination() override;

    void analyse(const IluFactors& factors) override;
    void compute(double alpha, const PivotRules& rules, IluFactors& factors, PivotInverter& inverter) override;
    FactorisationMemory memory(const IluPattern& pattern, const Context& context) const override;
    std::vector<KernelSet> kernels(const IluPattern& pattern) const override;
    std::string describe() const override;

private:
    StructIluTuning tuning_;
    std::optional<IluPattern> served_;                     ///< the pattern for which cuda_ was made
    std::unique_ptr<wavefront_cuda::Factorisation> cuda_;  ///< kernels, if the matrix is on a GPU
};

}  // namespace hyperplane
