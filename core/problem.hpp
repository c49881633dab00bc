// What a PDE gives to the program: residual and Jacobian on a grid, with or without a time step.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/struct_matrix.hpp"

namespace hyperplane {

/// Shape of a problem's systems; known before anything is allocated.
struct SystemShape {
    Grid grid;
    Stencil stencil;
    int dof = 1;
    bool symmetric = false;                       ///< the Jacobian equals its transpose to the last bit
    bool constant_null_space = false;             ///< A 1 = 0; b and every Krylov vector lose their mean
    bool separate_preconditioner_matrix = false;  ///< Pmat differs from Amat
    bool linear = true;                           ///< one Newton step solves it
    std::vector<std::string> components;          ///< names of the unknowns, dof of them
};

/// The implicit Euler step being solved; dt = infinity is a steady problem.
struct TimeLevel {
    double time = 0.0;  ///< at the end of the step
    double dt = std::numeric_limits<double>::infinity();
};

/// A norm of the error against an exact solution.
struct ErrorNorm {
    std::string name;  ///< "max", "rms", ...
    double value;
};

/// F(u) = 0, solved by Newton's method A du = -F(u), u += du. Linear problems take one step.
class Problem {
public:
    virtual ~Problem() = default;

    virtual const SystemShape& shape() const = 0;
    virtual void initial_state(Vector& u) const = 0;
    /// The step's length for a transient run, from the deck's dt or CFL number; infinity when steady.
    virtual double time_step() const { return std::numeric_limits<double>::infinity(); }
    /// f = F(u); `old` is the state at the beginning of the time step.
    virtual void residual(const Vector& u, const Vector& old, TimeLevel level, Vector& f) const = 0;
    /// a = dF/du at u, in a's layout and storage.
    virtual void jacobian(const Vector& u, TimeLevel level, StructMatrix& a) const = 0;
    /// The matrix the preconditioner is built from, where shape() says it is another one.
    virtual void preconditioner_jacobian(const Vector& u, TimeLevel level, StructMatrix& p) const {
        jacobian(u, level, p);
    }
    /// Norms of u - exact where an exact solution is known, else nothing.
    virtual std::vector<ErrorNorm> errors(const Vector& /*u*/, double /*time*/) const { return {}; }
    /// Remarks worth a warning, e.g. a scheme that oscillates with these parameters.
    virtual std::vector<std::string> warnings() const { return {}; }
};

}  // namespace hyperplane
