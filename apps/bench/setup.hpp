// SPDX-License-Identifier: BSD-3-Clause
// Times of a preconditioner's set-up and application.
#pragma once

#include <functional>
#include <optional>

#include "core/interfaces/preconditioner.hpp"
#include "core/matrix/system_matrix.hpp"
#include "core/timer.hpp"

namespace hyperplane {

/// The cost of a set-up that is repeated.
struct SetupTimes {
    Timing again;           ///< seconds of the numeric part (Preconditioner::numeric_setup)
    double analysis = 0.0;  ///< seconds of the rest, which is done once, if measured separately; not part of any sum
    Index work_bytes = 0;   ///< bytes of a library's buffers
};

/// Times the lower of an application's two solves alone (Preconditioner::solve_lower), with the vector of the last
/// application; none if an application is not two solves.
std::optional<Timing> time_lower_solve(const Context& context, int repeats, const Preconditioner& m, const Vector& r,
                                       Vector& z);

/// Sets up `m`, which must have been set up before, for `p` several times. Afterwards M can be applied.
SetupTimes time_setup(const Context& context, int repeats, Preconditioner& m, const SystemMatrix& p);

/// Seconds of a call as it takes place in iterations: on a GPU it is replayed as a graph, since single launches take
/// longer.
Timing time_in_iterations(const Context& context, int repeats, const std::function<void()>& call);

/// Seconds of an application z = M^-1 r as it takes place in iterations, without conversions of vectors.
Timing time_apply(const Context& context, int repeats, const Preconditioner& m, const Vector& r, Vector& z);

}  // namespace hyperplane
