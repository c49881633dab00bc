// SPDX-License-Identifier: BSD-3-Clause
// Factorisation of subdomains with five to eight unknowns a point on the tensor cores of a GPU
// (precond/subdomain/factor.cuh). A program built without CUDA does not have it.
#pragma once

#include <vector>

#include "core/device/rtc.hpp"
#include "core/grid/stencil.hpp"
#include "precond/subdomain/factor_arguments.hpp"

namespace hyperplane {

class SubdomainFactorCuda {
public:
    SubdomainFactorCuda(const Context& context, int dof);

    /// Whether there are kernels for these unknowns a point.
    static bool serves(int dof) { return dof >= 5 && dof <= 8; }
    /// Factors all subdomains. The kernels' argument holds everything.
    void factor(const SubdomainFactorArguments& arguments, Index subdomains) const;

    /// The products at a point, for the kernels' argument.
    static std::vector<SubdomainProduct> products(const Stencil& stencil);

    /// What NVRTC compiles.
    static rtc::Program program(int dof);

private:
    rtc::Kernel<SubdomainFactorArguments> load_, factor_;
};

}  // namespace hyperplane
