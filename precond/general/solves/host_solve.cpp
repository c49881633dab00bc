// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/solves/host_solve.hpp"

#include "core/profile.hpp"
#include "precond/general/factors/cpu.hpp"
#include "precond/general/factors/reduced_rows.hpp"
#include "precond/general/solves/solve_way.hpp"

namespace hyperplane {

Rounding HostSolve::round(const GeneralFactors& factors, const BsrMatrix& a) {
    if (reduced_.storage() != storage_) reduced_ = general_cpu::reduced_rows(context_, storage_, factors, "factor");
    return general_cpu::round(factors, a, reduced_);
}

void HostSolve::apply(const Vector& r, Vector& z) const {
    const StoredValues* const reduced = is_reduced(storage_) ? &reduced_ : nullptr;
    {
        const ProfileScope scope(context_, "lower", bytes_per_apply() / 2);
        general_cpu::lower_solve(factors_, lower_, r.data(), z.data(), reduced);
    }
    const ProfileScope scope(context_, "upper", bytes_per_apply() / 2);
    general_cpu::upper_solve(factors_, upper_, z.data(), reduced);
}

Index HostSolve::bytes_per_apply() const {
    return general_cpu::bytes_per_apply(factors_.pattern().rows(), factors_.pattern().blocks(), factors_.dof, storage_);
}

std::string HostSolve::way() const {
    if (upper_.goes_by_part() || factors_.pattern().rows() == 0) return "";
    return lower_.goes_by_level() || upper_.goes_by_level() ? name_of(SolveWay::levels) : "natural_order";
}

GeneralFactors HostSolve::widened(const GeneralFactors& shape) const {
    return general_cpu::widened(shape, reduced_);
}

}  // namespace hyperplane
