// SPDX-License-Identifier: BSD-3-Clause
// subdomain_ildu0: incomplete LDU of a matrix cut into subdomains, each of which one thread block solves.
//
// Gondhalekar, Haugen, Gibson, Feng, "Mapping Sparse Triangular Solves to GPUs via Fine-grained Domain Decomposition":
// the cuts are geometric (section 3, Algorithm 1), couplings between subdomains are dropped (3.2), ILDU(0) has unit
// triangles and stored inverse pivots (4.3, Algorithm 4), and both solves and the scaling are fused in one kernel,
// which keeps the subdomain's vector in shared memory (4.4). For blocks, on the stencil's pattern within a subdomain:
//
//     M = (I + W) D (I + G),       X = A + shift diag(A) initially; for each point p in the order of levels:
//
//     1.  for each lower offset l, ascending, and upper offset u with e = l + u in the stencil:
//             X_e(p) -= X_l(p) G_u(p+l)
//     2.      W_l(p)  = X_l(p) D^-1(p+l)
//     3.  D^-1(p) = inverse of X_0(p)
//     4.  G_u(p)  = D^-1(p) X_u(p) for each upper offset u
//
// An application, z = M^-1 r, computes within each subdomain
//
//     y(p) = r(p) - sum_l W_l(p) y(p+l)                    ascending
//     z(p) = D^-1(p) y(p) - sum_u G_u(p) z(p+u)            descending
//
// Both triangles are stored, also for a symmetric matrix (incomplete Cholesky, G = W^T), each in the order in which its
// solve reads it. If the storage is in reduced precision, W, D^-1 and G are computed in double precision, then each is
// rounded once by itself; G equals W^T up to rounding errors, because sums were computed in another order. Periodic
// axes are cut: couplings that wrap around are never within a subdomain. Subdomains do not depend on each other, so any
// part of them can be factored and applied on its own.
#pragma once

#include <memory>
#include <optional>

#include "precond/checks/applications.hpp"
#include "precond/factors/exported.hpp"
#include "precond/registry_row.hpp"
#include "precond/subdomain/factors.hpp"
#include "precond/subdomain/solve_cuda.hpp"

namespace hyperplane {

/// The options that a deck gives for a matrix on a grid.
struct SubdomainOptions {
    std::optional<Int3> size;  ///< points of a subdomain; none: Partition::by_default
    SubdomainVariant variant = SubdomainVariant::level;
    PivotOptions pivots;
    FactorStorage storage = FactorStorage::double_precision;

    Partition partition(const Grid& grid, int dof) const;
};

class SubdomainIldu0 : public Preconditioner, public ExportsFactors {
public:
    /// Throws UsageError for a variant that the context's backend does not have.
    SubdomainIldu0(const Context& context, const SubdomainOptions& options);

    SetupReport setup(const SystemMatrix& matrix) override;
    void suggest_shift(double alpha) override { options_.pivots.suggest_shift(alpha); }
    void apply(const Vector& r, Vector& z) const override;
    /// Variant unfused alone has two solves.
    bool solve_lower(const Vector& r, Vector& y) const override;
    PreconditionerTraits traits() const override { return {.fixed = true, .symmetric = symmetric_}; }
    Index bytes_per_apply() const override;
    ApplicationCheck check_application(const SystemMatrix& a, const Vector& r, const Vector& z,
                                       const MakeInDouble& in_double) const override {
        return check_exported(structured(a), options_.storage, r, z, in_double);
    }

    TriangleShape exported_shape(const Grid& grid, const Stencil& stencil, int dof, bool symmetric) const override;
    void export_factors(const TriangleCopy& to) const override { factors_->copy_triangles(to); }

    const SubdomainFactors& factors() const { return *factors_; }
    /// Takes effect with the next set-up.
    void tune(const SubdomainTuning& tuning) {
        tuning_ = tuning;
        cuda_.reset();
    }

    static PreconditionerPlan plan(const SubdomainOptions& options, const PreconditionerSetting& setting);
    /// The kernels that NVRTC compiles on a GPU.
    static std::vector<KernelSet> kernels(const SubdomainOptions& options, const PreconditionerSetting& setting);

private:
    Context context_;
    SubdomainOptions options_;
    SubdomainTuning tuning_;
    Layout layout_;
    bool symmetric_ = false;
    std::optional<SubdomainFactors> factors_;
    std::shared_ptr<SubdomainSolveCuda> cuda_;  ///< kernels, if the matrix is on a GPU
};

/// Which solves a pass over all subdomains performs: both of a subdomain, one after the other in two passes, or only
/// the lower ones.
enum class SubdomainPasses { fused, unfused, lower };
/// z = M^-1 r on a CPU, or (I + W)^-1 r. Factors must be stored by line; r and z may have any layout.
void solve_subdomains_cpu(const SubdomainFactors& factors, SubdomainPasses passes, const Vector& r, Vector& z);

/// Tunings of variant level that benchmarks compare, with their names.
const std::vector<std::pair<std::string, SubdomainTuning>>& subdomain_tunings();

PreconditionerRow subdomain_ildu0_row();

}  // namespace hyperplane
