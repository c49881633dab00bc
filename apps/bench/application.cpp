// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/application.hpp"

#include "apps/bench/rows.hpp"
#include "apps/bench/triangles.hpp"
#include "core/error.hpp"
#include "precond/jacobi/jacobi.hpp"
#include "precond/struct_ilu/struct_ilu.hpp"
#include "precond/triangular/jacobi/swept_pair.hpp"

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

/// M^-1 r from factors where they lie; none where asynchronous sweeps give other bits in another run.
std::optional<double> error_of(const IluPreconditioner& m, const Context& context, const Vector& r, const Vector& z) {
    const Buffer<Int3> offsets = copied_to(context, "bench", m.factors().stencil().offsets());
    const TriangleFactors factors = m.factors().triangle_factors(offsets.data());
    const auto* swept = dynamic_cast<const JacobiSolve*>(&m.solve());
    if (!swept) return solve_error(context, factors, r, z);
    if (swept->options().mode != SweepMode::sync) return {};
    return swept_error(context, factors, swept->options(), r, z);
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
    if (const auto* swept = dynamic_cast<const SweptPair*>(&m)) {
        if (swept->options().mode != SweepMode::sync) return {};
        return ApplicationCheck{swept_error(context, swept->copy().factors(), swept->options(), r, z), bound};
    }
    if (const auto* ilu = dynamic_cast<const IluPreconditioner*>(&m)) {
        const std::optional<double> error = error_of(*ilu, context, r, z);
        return error ? std::optional(ApplicationCheck{*error, bound}) : std::nullopt;
    }
    const std::unique_ptr<Preconditioner> other = same();
    SetupReport report = other->setup(a);
    if (const auto* ilu = dynamic_cast<const IluPreconditioner*>(other.get()))
        return ApplicationCheck{*error_of(*ilu, context, r, z), bound_of_rounding(storage)};
    const auto* pair = dynamic_cast<const ExportsFactors*>(other.get());
    if (!pair)
        throw Error(ExitCode::internal, "bench: no check knows this preconditioner (apps/bench/application.cpp)");
    FactorCopy copy(storage);
    copy.fill(*pair, a, "check", report);
    return ApplicationCheck{solve_error(context, copy.factors(), r, z), bound_of_ties(storage)};
}

}  // namespace hyperplane
