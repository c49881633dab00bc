// SPDX-License-Identifier: BSD-3-Clause
// The ways to run the kernels of struct_ilu that are timed beside each other.
#pragma once

#include <string>
#include <vector>

#include "apps/bench/cases.hpp"
#include "core/device/context.hpp"
#include "precond/struct_ilu/struct_ilu.hpp"

namespace hyperplane {

/// spmv, lower, upper, factorise.
std::vector<std::string> all_kernels();

/// How struct_ilu is made.
struct IluChoice {
    StructIluTuning tuning = {};
    bool by_level = false;  ///< a launch for each level in place of the acyclic mapping of tiles (section 4.1)
    bool may_share = true;  ///< where elimination changes the diagonal alone, E and F are the matrix's (D-ILU)

    std::unique_ptr<IluPreconditioner> make(const Context& context, FactorStorage storage) const;
};

/// One way to run the kernels of struct_ilu, for --ablate and --tunings.
struct Variant {
    /// As the case has it; natural where that is hyperplane, or the other way round; all of a symmetric matrix.
    enum class Storage { own, other_layout, both_triangles };

    std::string name, what;
    IluChoice choice;
    Storage storage = Storage::own;                                   ///< of the matrix
    std::vector<std::string> kernels{"lower", "upper", "factorise"};  ///< those it changes
    FactorStorage factors = FactorStorage::double_precision;
};

/// The paper's pieces, each left out: those that a case has on a backend.
std::vector<Variant> pieces(Backend backend, const BenchCase& setting);
/// Other shapes of the kernels on a GPU whose names hold `part`; "all": every one.
std::vector<Variant> tunings(const std::string& part);

}  // namespace hyperplane
