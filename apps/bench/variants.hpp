// SPDX-License-Identifier: BSD-3-Clause
// The ways of running the kernels of struct_ilu that are compared.
#pragma once

#include <string>
#include <vector>

#include "apps/bench/cases.hpp"
#include "core/device/rtc.hpp"
#include "core/grid/layout.hpp"
#include "precond/struct_ilu/struct_ilu.hpp"

namespace hyperplane {

/// The names spmv, lower, upper and factorise.
std::vector<std::string> all_kernels();

/// How struct_ilu is made.
struct IluChoice {
    StructIluTuning tuning = {};
    bool by_level = false;  ///< one launch for each level instead of the acyclic mapping of tiles (section 4.1)
    bool may_share = true;  ///< E and F are the matrix's if elimination changes the diagonal alone (D-ILU)

    std::unique_ptr<IluPreconditioner> make(const Context& context, FactorStorage storage) const;
};

/// One way of running the kernels of struct_ilu, for --ablate, --build-up and --tunings.
struct Variant {
    /// The case's own; the other layout; both triangles of a symmetric matrix.
    enum class Storage { own, other_layout, both_triangles };

    std::string name, what;
    IluChoice choice;
    Storage storage = Storage::own;                                   ///< of the matrix
    std::vector<std::string> kernels{"lower", "upper", "factorise"};  ///< those that it changes
    FactorStorage factors = FactorStorage::double_precision;
};

/// The variants that each leave out one of the paper's choices, as far as a case has it on a backend.
std::vector<Variant> pieces(Backend backend, const BenchCase& setting);
/// The paper's choices on a GPU, each added to those before, in the order of its Figure 8. What is still missing after
/// the last one, the default has.
std::vector<Variant> built_up(const BenchCase& setting);
/// Other shapes of the kernels on a GPU, whose names contain one of these words, which commas separate; "all" stands
/// for all shapes.
std::vector<Variant> tunings(const std::string& words);

/// The layout of a variant's matrix, for a case whose matrix is in `layout`.
LayoutKind layout_of(const Variant& variant, LayoutKind layout);
/// The programs that NVRTC compiles for a variant of a case whose matrix is in `layout`. This needs no GPU; the list is
/// empty if the program was built without CUDA.
rtc::Programs programs_of(const Context& context, const BenchCase& setting, LayoutKind layout, const Variant& variant);

/// For each of these variants the name of an earlier one that has the same kernels for a case, "the default" if that
/// has them; empty if a variant's kernels are its own.
std::vector<std::string> same_kernels(const Context& context, const BenchCase& setting, LayoutKind layout,
                                      const std::vector<Variant>& variants);

}  // namespace hyperplane
