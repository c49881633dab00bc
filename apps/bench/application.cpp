// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/application.hpp"

#include "apps/bench/rows.hpp"
#include "apps/bench/triangles.hpp"
#include "core/error.hpp"
#include "precond/jacobi/jacobi.hpp"
#include "precond/triangular/jacobi/preconditioner.hpp"
#include "precond/triangular/jacobi/source.hpp"

namespace hyperplane {
namespace {

/// Of factors in double precision; in fewer bits what their rounding may come to, where that is not the same on both
/// sides.
double bound_of(FactorStorage storage, double single, double half) {
    return storage == FactorStorage::single_precision ? single : storage == FactorStorage::half_scaled ? half : 1e-10;
}
/// z is compared with factors in double precision.
double bound_of_rounding(FactorStorage storage) {
    return bound_of(storage, 1e-5, 5e-2);
}
/// Both are rounded, but those of another set-up may differ in their last bits, and be rounded the other way.
double bound_of_ties(FactorStorage storage) {
    return bound_of(storage, 1e-7, 1e-3);
}

double error_of(const StructIlu& m, const Context& context, const Vector& r, const Vector& z) {
    const Buffer<Int3> offsets = copied_to(context, "bench", m.stencil().offsets());
    return solve_error(context, factors_of(m, offsets.data()), r, z);
}

}  // namespace

std::optional<ApplicationCheck> check_application(const Preconditioner& m,
                                                  const std::function<std::unique_ptr<Preconditioner>()>& same,
                                                  FactorStorage storage, const StructMatrix& a, const Vector& r,
                                                  const Vector& z) {
    const Context& context = a.context();
    const double bound = bound_of_rounding(FactorStorage::double_precision);
    if (dynamic_cast<const NoPreconditioner*>(&m)) return ApplicationCheck{difference(context, z, r), 0.0};
    if (dynamic_cast<const Jacobi*>(&m)) return ApplicationCheck{diagonal_error(a, r, z), bound_of_rounding(storage)};
    if (const auto* swept = dynamic_cast<const JacobiSweeps*>(&m)) {
        if (swept->options().mode != SweepMode::sync) return {};
        return ApplicationCheck{swept_error(context, swept->source().factors(), swept->options(), r, z), bound};
    }
    if (const auto* ilu = dynamic_cast<const StructIlu*>(&m))
        return ApplicationCheck{error_of(*ilu, context, r, z), bound};
    std::unique_ptr<Preconditioner> other = same();
    if (auto* ilu = dynamic_cast<StructIlu*>(other.get())) {
        ilu->setup(a);
        return ApplicationCheck{error_of(*ilu, context, r, z), bound_of_rounding(storage)};
    }
    std::unique_ptr<CopiableFactorisation> copiable(dynamic_cast<CopiableFactorisation*>(other.get()));
    if (!copiable)
        throw Error(ExitCode::internal, "bench: no check knows this preconditioner (apps/bench/application.cpp)");
    other.release();
    CopiedTriangles copy(std::move(copiable), storage, "check");
    copy.setup(a);
    return ApplicationCheck{solve_error(context, copy.factors(), r, z), bound_of_ties(storage)};
}

}  // namespace hyperplane
