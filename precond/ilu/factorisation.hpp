// SPDX-License-Identifier: BSD-3-Clause
// Interface of what computes incomplete factors. A factorisation has a symbolic part, which depends on the pattern
// alone, and a numeric part, which computes the values.
#pragma once

#include <string>

#include "precond/factors/ilu_factors.hpp"
#include "precond/factors/pivots.hpp"
#include "precond/kernel_set.hpp"

namespace hyperplane {

/// Memory that a factorisation holds besides the factors, in bytes.
struct FactorisationMemory {
    Index kept = 0;     ///< as long as the pattern is the same
    Index scratch = 0;  ///< released after the factors have been rounded to reduced precision; kept in double precision
};

class Factorisation {
public:
    virtual ~Factorisation() = default;
    /// The symbolic part, for factors that have been allocated: it makes the tables, kernels and memory that their
    /// pattern needs. It is called before every numeric part; what has been made for the same pattern before is kept.
    virtual void analyse(const IluFactors& factors) = 0;
    /// The numeric part: it computes the factors of A + alpha diag(A), where A is factors.matrix(), and reports pivots
    /// to `inverter`.
    virtual void compute(double alpha, const PivotRules& rules, IluFactors& factors, PivotInverter& inverter) = 0;
    /// Releases FactorisationMemory::scratch.
    virtual void release_scratch() {}

    virtual FactorisationMemory memory(const IluPattern& /*pattern*/, const Context& /*context*/) const { return {}; }
    /// The number and cost of sweeps in a numeric part, if it consists of sweeps.
    virtual SweepCounts sweeps() const { return {}; }
    virtual void set_sweeps(int /*count*/) {}
    /// Text that is appended to the message about a pivot that cannot be used.
    virtual std::string remark() const { return ""; }
    /// The setting because of which results may differ from run to run, such as "mode = async"; empty if they do not.
    virtual const char* varies() const { return ""; }
    /// The kernels that NVRTC compiles for a pattern on a GPU.
    virtual std::vector<KernelSet> kernels(const IluPattern& /*pattern*/) const { return {}; }
    /// The kernels in use on a GPU, their tiles and shared memory; empty on a CPU.
    virtual std::string describe() const { return ""; }
};

/// The pattern that the kernels of a factorisation are compiled for. Blocks are factored in double precision whatever
/// the storage; of single unknowns, D-ILU differs from the form that is rounded.
inline IluPattern as_factored(IluPattern pattern) {
    if (pattern.dof > 1) pattern.storage = FactorStorage::double_precision;
    return pattern;
}

}  // namespace hyperplane
