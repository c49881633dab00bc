// SPDX-License-Identifier: BSD-3-Clause
// A way of applying M^-1 from incomplete factors: exact triangular solves, or Jacobi sweeps in their place.
//
//     lower   y(p) = D^-1(p) (r(p) - sum_l E_l(p) y(p+l))           points ascending
//     upper   z(p) = y(p) - D^-1(p) sum_u F_u(p) z(p+u)             points descending
//
// or, of unit triangles (precond/factors/ilu_factors.hpp),
//
//     lower   v(p) = r(p) - sum_l W_l(p) v(p+l)                     v = D y
//     upper   z(p) = D^-1(p) v(p) - sum_u G_u(p) z(p+u)
#pragma once

#include <string>

#include "core/vector/blas1.hpp"
#include "precond/factors/ilu_factors.hpp"

namespace hyperplane {

class TriangularSolve {
public:
    virtual ~TriangularSolve() = default;
    /// The symbolic part, for factors that have room; what serves the pattern already is kept.
    virtual void analyse(const IluFactors& factors) = 0;
    /// Called when the factors have their values. Throws SetupError, as preconditioner `name`, where the solve cannot
    /// work with them.
    virtual void accept(const IluFactors& /*factors*/, const std::string& /*name*/) {}
    /// z = M^-1 r; r and z are distinct.
    virtual void apply(const IluFactors& factors, const Vector& r, Vector& z) const = 0;
    /// The same, and r^T z on the way, into the memory of the vectors.
    virtual void apply_dot(const IluFactors& factors, const Vector& r, Vector& z, double* rz) const {
        apply(factors, r, z);
        dot(r, z, rz);
    }
    /// Vectors that apply_dot reads besides what apply moves.
    virtual int vectors_of_dot(const IluFactors& /*factors*/) const { return 2; }

    /// The layout that it wants matrix and vectors in.
    virtual LayoutKind layout(Backend backend) const = 0;
    /// Memory held, and fewest bytes that one application moves.
    virtual Index bytes(const IluPattern& /*pattern*/, Backend /*backend*/) const { return 0; }
    virtual Index bytes_per_apply(const IluPattern& pattern, Backend /*backend*/) const {
        return IluFactors::bytes_per_apply(pattern);
    }
    /// Of factors that are always the same; `symmetric`: M would be with exact solves.
    virtual PreconditionerTraits traits(bool symmetric) const { return {.fixed = true, .symmetric = symmetric}; }
    /// Sweeps of an application; 0: it is exact.
    virtual int sweeps() const { return 0; }
    /// The kernels in use on a GPU, their tiles and shared memory; empty on a CPU.
    virtual std::string describe() const { return ""; }
};

/// Both triangles solved exactly, one after the other.
class ExactSolve : public TriangularSolve {
public:
    /// y = (I + E D^-1)^-1 r scaled by D^-1, or v = (I + W)^-1 r of unit triangles.
    virtual void lower(const IluFactors& factors, const Vector& r, Vector& y) const = 0;
    /// In place: y or v in, z out.
    virtual void upper(const IluFactors& factors, Vector& z) const = 0;

    void apply(const IluFactors& factors, const Vector& r, Vector& z) const override {
        lower(factors, r, z);
        upper(factors, z);
    }
};

}  // namespace hyperplane
