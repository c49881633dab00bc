// SPDX-License-Identifier: BSD-3-Clause
// A way of computing incomplete factors, in two parts that are called apart: what follows from the pattern alone, and
// the values.
#pragma once

#include <string>

#include "precond/factors/ilu_factors.hpp"
#include "precond/factors/pivots.hpp"

namespace hyperplane {

/// Memory that a factorisation holds besides the factors, in bytes.
struct FactorisationMemory {
    Index kept = 0;     ///< as long as the pattern is the same
    Index scratch = 0;  ///< released once factors have been rounded to reduced precision, else kept too
};

class Factorisation {
public:
    virtual ~Factorisation() = default;
    /// The symbolic part, for factors that have room: tables, kernels and memory of this pattern. Called before every
    /// numeric part; what serves the pattern already is kept.
    virtual void analyse(const IluFactors& factors) = 0;
    /// The numeric part: the factors of A + alpha diag(A), A being factors.matrix(). Pivots are reported to `inverter`.
    virtual void compute(double alpha, const PivotRules& rules, IluFactors& factors, PivotInverter& inverter) = 0;
    /// Releases FactorisationMemory::scratch.
    virtual void release_scratch() {}

    /// Throws UsageError where this factorisation cannot follow the rules.
    virtual void check(const PivotRules& /*rules*/) const {}
    virtual FactorisationMemory memory(const IluPattern& /*pattern*/, Backend /*backend*/) const { return {}; }
    /// Sweeps of a numeric part, where it is made of them.
    virtual SweepCounts sweeps() const { return {}; }
    virtual void set_sweeps(int /*count*/) {}
    /// What is added to the message about a pivot that cannot be used.
    virtual std::string remark() const { return ""; }
    /// What may give other bits in another run, as "mode = async"; empty: nothing does.
    virtual const char* varies() const { return ""; }
    /// The kernels in use on a GPU, their tiles and shared memory; empty on a CPU.
    virtual std::string describe() const { return ""; }
};

}  // namespace hyperplane
