// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/setup.hpp"

#include "apps/bench/kernels.hpp"
#include "core/ranks/links_cuda.hpp"

namespace hyperplane {

SetupTimes time_setup(const Context& context, int repeats, Preconditioner& m, const SystemMatrix& p) {
    const NumericSetup numeric = m.numeric_setup(p);
    const Timing again = time_calls(context, repeats, numeric.run, numeric.prepare);
    m.setup(p);
    return {again, numeric.analysis, numeric.work_bytes};
}

Timing time_in_iterations(const Context& context, int repeats, const std::function<void()>& call) {
    if (context.backend() == Backend::cpu) return time_calls(context, repeats, call);
    call();
    if constexpr (cuda_built)
        if (context.links() && !context.links()->records()) return time_calls(context, repeats, call);
    const device::Recording recording(context.stream(), call);
    return time_calls(context, repeats, [&] { recording.queue(); });
}

std::optional<Timing> time_lower_solve(const Context& context, int repeats, const Preconditioner& m, const Vector& r,
                                       Vector& z) {
    if (!m.solve_lower(r, z)) return {};
    return time_in_iterations(context, repeats, [&] { m.solve_lower(r, z); });
}

Timing time_apply(const Context& context, int repeats, const Preconditioner& m, const Vector& r, Vector& z) {
    m.apply(r, z);
    return time_in_iterations(context, repeats, [&] { m.apply_unconverted(r, z); });
}

}  // namespace hyperplane
