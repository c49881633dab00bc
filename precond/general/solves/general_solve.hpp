// SPDX-License-Identifier: BSD-3-Clause
// The interface of what applies M^-1 with the factors of a general matrix. It is implemented by exact solves on a CPU
// (host_solve.hpp), on a GPU (solve_cuda.hpp), by parts (precond/sync_free_ilu/part_solve.hpp) and stage by stage on
// ranks (rank_solve.hpp), and by Jacobi sweeps in their place (precond/general/sweeps/swept.hpp).
#pragma once

#include <string>

#include "core/error.hpp"
#include "core/vector/vector.hpp"
#include "precond/factors/storage.hpp"
#include "precond/general/factors/factors.hpp"

namespace hyperplane {

class GeneralSolve {
public:
    virtual ~GeneralSolve() = default;
    /// Takes over new values of the factors, in double. Throws SetupError if it cannot use them; `name` is the
    /// preconditioner's name in its message.
    virtual void take(const GeneralFactors& factors, const std::string& name) = 0;
    /// Takes them over in reduced precision, where they are the factors of `a`, and does not need their values any
    /// more. Returns the events of all ranks that share its rows.
    virtual Rounding round(const GeneralFactors& /*factors*/, const BsrMatrix& /*a*/) { throw in_double_alone(); }
    /// z = M^-1 r.
    virtual void apply(const Vector& r, Vector& z) const = 0;
    /// The fewest bytes that an application moves.
    virtual Index bytes_per_apply() const = 0;
    /// The way that solves go (Preconditioner::solve_way); empty where there is one alone.
    virtual std::string way() const { return ""; }
    /// The numbers that solves in reduced precision compute with, as factors with unit triangles in the host's memory.
    /// `shape` are factors with the same pattern that may be without values.
    virtual GeneralFactors widened(const GeneralFactors& /*shape*/) const { throw in_double_alone(); }

private:
    static Error in_double_alone() {
        return Error(ExitCode::internal, "reduced precision was asked of solves that are in double alone");
    }
};

}  // namespace hyperplane
