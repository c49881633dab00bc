// SPDX-License-Identifier: BSD-3-Clause
#include "precond/struct_ilu/cuda.hpp"

#include "precond/struct_ilu/factor_cuda.hpp"
#include "precond/triangular/wavefront/solve_cuda.hpp"

namespace hyperplane {

using struct_ilu::Factorisation;
using struct_ilu::Geometry;
using struct_ilu::Solves;

struct StructIluCuda::Device {
    StructIluSystem system;
    Solves solves;
    Factorisation factorisation;

    Device(const Context& context, const StructIluSystem& s, const Geometry& geometry, const StructIluTuning& tuning)
        : system(s), solves(context, s, geometry, tuning), factorisation(context, s, geometry, tuning) {}
};

StructIluCuda::StructIluCuda(const Context& context, const StructIluSystem& system, const StructIluTuning& tuning)
    : device_(std::make_unique<Device>(context, system, Geometry(system), tuning)) {}

StructIluCuda::~StructIluCuda() = default;

bool StructIluCuda::serves(const StructIluSystem& system) const {
    return device_->system == system;
}

void StructIluCuda::lower(const Factors& f, const Vector& r, Vector& y, double* dot) {
    device_->solves.lower(f, r.data(), y.data(), dot);
}

void StructIluCuda::upper(const Factors& f, Vector& z, double* dot) {
    device_->solves.upper(f, z.data(), z.data(), dot);
}

void StructIluCuda::factor(const StructMatrix& a, StructMatrix& x, double shift, const PivotRules& rules,
                           PivotInverter& inverter) {
    device_->factorisation.factor(a, x, shift, rules, inverter);
}

Index StructIluCuda::bytes(const StructIluSystem& system, const StructIluTuning& tuning) {
    const Geometry geometry(system);
    return Solves::bytes(system, geometry, tuning) + Factorisation::bytes(system, geometry, tuning);
}

std::vector<rtc::KernelResources> StructIluCuda::compile(const StructIluSystem& system, const std::string& architecture,
                                                         const StructIluTuning& tuning) {
    const Geometry geometry(system);
    auto rows = Solves::compile(system, geometry, tuning, architecture);
    if (is_narrow(system.storage) && !shares(system.dof)) return rows;  // factored as in double precision
    for (auto& row : Factorisation::compile(system, geometry, tuning, architecture)) rows.push_back(row);
    return rows;
}

std::string StructIluCuda::describe() const {
    return device_->solves.describe() + "; " + device_->factorisation.describe();
}

}  // namespace hyperplane
