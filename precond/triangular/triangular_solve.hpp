// SPDX-License-Identifier: BSD-3-Clause
// Interface of what applies M^-1, given incomplete factors: exact triangular solves, or Jacobi sweeps in their place.
//
//     lower   y(p) = D^-1(p) (r(p) - sum_l E_l(p) y(p+l))           points ascending
//     upper   z(p) = y(p) - D^-1(p) sum_u F_u(p) z(p+u)             points descending
//
// or, if the triangles are unit (precond/factors/ilu_factors.hpp),
//
//     lower   v(p) = r(p) - sum_l W_l(p) v(p+l)                     v = D y
//     upper   z(p) = D^-1(p) v(p) - sum_u G_u(p) z(p+u)
#pragma once

#include <string>

#include "core/matrix/single_matrix.hpp"
#include "core/vector/blas1.hpp"
#include "precond/checks/applications.hpp"
#include "precond/factors/ilu_factors.hpp"
#include "precond/kernel_set.hpp"

namespace hyperplane {

class TriangularSolve {
public:
    virtual ~TriangularSolve() = default;
    /// The symbolic part, called for factors that have been allocated. What has been made for the same pattern before
    /// is kept.
    virtual void analyse(const IluFactors& factors) = 0;
    /// Called after the factors have been computed. Throws SetupError if this solve cannot use them; `name` is the
    /// preconditioner's name in its message.
    virtual void accept(const IluFactors& /*factors*/, const std::string& /*name*/) {}
    /// z = M^-1 r; r and z are distinct.
    virtual void apply(const IluFactors& factors, const Vector& r, Vector& z) const = 0;
    /// z = M^-1 r and *rz = r^T z, where `rz` points to memory of the vectors' backend.
    virtual void apply_dot(const IluFactors& factors, const Vector& r, Vector& z, double* rz) const {
        apply(factors, r, z);
        dot(r, z, rz);
    }
    /// x = x + omega M^-1 (b - A x), where A is the factors' matrix and t is overwritten. Returns false, and does
    /// nothing, where no pass over memory can serve two of these operations (precond/smoother_passes.hpp).
    virtual bool step(const IluFactors& /*factors*/, const Vector& /*b*/, double /*omega*/, Vector& /*x*/,
                      Vector& /*t*/) const {
        return false;
    }
    /// The same two with vectors in single precision (precond/smoother_passes.hpp); they return false, and do nothing,
    /// where there are no such solves.
    virtual bool apply_single(const IluFactors& /*factors*/, const SingleVector& /*r*/, SingleVector& /*z*/) const {
        return false;
    }
    virtual bool step_single(const IluFactors& /*factors*/, const SingleMatrix& /*a*/, const SingleVector& /*b*/,
                             double /*omega*/, SingleVector& /*x*/, SingleVector& /*t*/) const {
        return false;
    }
    /// Number of vectors that apply_dot reads in addition to what apply moves.
    virtual int vectors_of_dot(const IluFactors& /*factors*/) const { return 2; }

    /// The preferred layout of matrix and vectors.
    virtual LayoutKind layout(Backend backend) const = 0;
    /// Bytes held, and fewest bytes that one application moves.
    virtual Index bytes(const IluPattern& /*pattern*/, Backend /*backend*/) const { return 0; }
    virtual Index bytes_per_apply(const IluPattern& pattern, Backend /*backend*/) const {
        return IluFactors::bytes_per_apply(pattern);
    }
    /// The traits of M for given factors; `symmetric` says whether M is symmetric if the solves are exact.
    virtual PreconditionerTraits traits(bool symmetric) const { return {.fixed = true, .symmetric = symmetric}; }
    /// Checks z = M^-1 r, where `triangles` is a view of the factors.
    virtual ApplicationCheck check(const Context& context, const TriangleFactors& triangles, const Vector& r,
                                   const Vector& z) const {
        return check_solves(context, triangles, r, z);
    }
    /// Whether eisenstat() will be there after a set-up for this pattern.
    virtual bool offers_eisenstat(const IluPattern& /*pattern*/, Backend /*backend*/) const { return false; }
    /// The part in conjugate gradients of the factors that were accepted last; null if there is none.
    virtual const EisenstatForm* eisenstat() const { return nullptr; }
    /// Number of Jacobi sweeps in an application; 0 for exact solves.
    virtual int sweeps() const { return 0; }
    /// The kernels that NVRTC compiles for a pattern on a GPU; with `single_vectors` also those of apply_single.
    virtual std::vector<KernelSet> kernels(const IluPattern& /*pattern*/, bool /*single_vectors*/) const { return {}; }
    /// The kernels in use on a GPU, their tiles and shared memory; empty on a CPU.
    virtual std::string describe() const { return ""; }
};

/// Solves both triangles exactly, one after the other.
class ExactSolve : public TriangularSolve {
public:
    /// y = D^-1 (I + E D^-1)^-1 r, or v = (I + W)^-1 r if the triangles are unit.
    virtual void lower(const IluFactors& factors, const Vector& r, Vector& y) const = 0;
    /// Replaces y, or v, by z.
    virtual void upper(const IluFactors& factors, Vector& z) const = 0;

    void apply(const IluFactors& factors, const Vector& r, Vector& z) const override {
        lower(factors, r, z);
        upper(factors, z);
    }
};

}  // namespace hyperplane
