// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/setup.hpp"

#include "apps/bench/kernels.hpp"
#include "core/device/device.hpp"
#include "precond/cusparse_ilu/cusparse_ilu.hpp"

namespace hyperplane {

SetupTimes time_setup(const Context& context, int repeats, Preconditioner& m, const StructMatrix& p) {
#if HYPERPLANE_CUSPARSE_BUILT
    if (auto* cusparse = dynamic_cast<CusparseIlu*>(&m)) {
        const Timing again = time_calls(
            context, repeats, [&] { cusparse->factorise(); }, [&] { cusparse->restore(p); });
        m.setup(p);
        return {again, cusparse->costs().analysis, cusparse->costs().work_bytes};
    }
#endif
    return {time_calls(context, repeats, [&] { m.setup(p); })};
}

Timing time_in_iterations(const Context& context, int repeats, const std::function<void()>& call) {
    if (context.backend() == Backend::cpu) return time_calls(context, repeats, call);
    call();
    const device::Recording recording(call);
    return time_calls(context, repeats, [&] { recording.queue(); });
}

Timing time_apply(const Context& context, int repeats, const Preconditioner& m, const Vector& r, Vector& z) {
    m.apply(r, z);
#if HYPERPLANE_CUSPARSE_BUILT
    if (const auto* cusparse = dynamic_cast<const CusparseIlu*>(&m))
        return time_in_iterations(context, repeats, [cusparse] {
            cusparse->lower_solve();
            cusparse->upper_solve();
        });
#endif
    return time_in_iterations(context, repeats, [&] { m.apply(r, z); });
}

}  // namespace hyperplane
