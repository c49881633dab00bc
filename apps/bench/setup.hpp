// SPDX-License-Identifier: BSD-3-Clause
// Times of a preconditioner's set-up and application.
#pragma once

#include <functional>

#include "core/interfaces/linear_operator.hpp"
#include "core/timer.hpp"

namespace hyperplane {

/// What a set-up costs once it has been done before.
struct SetupTimes {
    Timing again;           ///< seconds of its numeric part (Preconditioner::numeric_setup)
    double analysis = 0.0;  ///< seconds of the rest, once, if it is known apart; in no sum
    Index work_bytes = 0;   ///< bytes of a library's buffers
};

/// Sets `m` up for `p` again and again; M is whole afterwards. It must have been set up for `p` before.
SetupTimes time_setup(const Context& context, int repeats, Preconditioner& m, const StructMatrix& p);

/// Seconds of a call as iterations make it: on a GPU it is replayed as a graph, since launches one by one take longer.
Timing time_in_iterations(const Context& context, int repeats, const std::function<void()>& call);

/// Those of M^-1 r, without conversions of vectors.
Timing time_apply(const Context& context, int repeats, const Preconditioner& m, const Vector& r, Vector& z);

}  // namespace hyperplane
