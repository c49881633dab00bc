// SPDX-License-Identifier: BSD-3-Clause
// Shared by the tests of preconditioners: constructing one from the keys of a deck, and applying it in natural order.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "precond/multicolor/coloured_points.hpp"
#include "precond/registry.hpp"
#include "reference/block_ilu.hpp"
#include "reference/bridge.hpp"

namespace hyperplane::testing_support {

/// Expects that `call` throws an Expected whose message contains `text`.
template <class Expected, class Call>
void expect_error(const Call& call, const std::string& text) {
    try {
        call();
        ADD_FAILURE() << "no error; expected: " << text;
    } catch (const Expected& error) {
        EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
}

using Settings = std::vector<std::pair<std::string, std::string>>;

inline Parameters parameters_of(const std::string& name, const Settings& settings) {
    Parameters parameters(common_preconditioner_parameters());
    parameters.add(find_preconditioner(name).parameters);
    parameters.set("preconditioner", "name", name);
    for (const auto& [key, value] : settings) parameters.set("preconditioner", key, value);
    return parameters;
}

inline PreconditionerSetting setting_of(const StructMatrix& a) {
    return {a.context(), {a.grid(), a.stencil(), a.dof(), a.symmetric()}};
}

/// A preconditioner for matrices of a's shape, before its set-up.
inline std::unique_ptr<Preconditioner> make(const std::string& name, const StructMatrix& a,
                                            const Settings& settings = {}) {
    return find_preconditioner(name).create(parameters_of(name, settings), setting_of(a));
}

/// Expects that these settings, or constructing a preconditioner with them for matrices of a's shape, throw a
/// UsageError whose message contains `text`.
inline void expect_refused(const std::string& name, const Settings& settings, const std::string& text) {
    expect_error<UsageError>([&] { parameters_of(name, settings); }, text);
}
inline void expect_refused(const std::string& name, const StructMatrix& a, const Settings& settings,
                           const std::string& text) {
    expect_error<UsageError>([&] { make(name, a, settings); }, text);
}

/// M^-1 r, both in natural order.
inline std::vector<double> apply(const LinearOperator& m, const StructMatrix& a, const std::vector<double>& r) {
    Vector z(a.context(), a.layout(), a.dof(), "z");
    for (Index at = 0; at < z.size(); ++at) z.data()[at] = NAN;
    m.apply(reference::to_vector(a.context(), a.layout(), a.dof(), r), z);
    return reference::from_vector(z);
}

inline constexpr LayoutKind layout_kinds[] = {LayoutKind::natural, LayoutKind::hyperplane};
inline constexpr MatrixStorage storages[] = {MatrixStorage::full, MatrixStorage::lower};

/// The unit roundoff of a storage in reduced precision.
inline double unit_roundoff(FactorStorage storage) {
    return storage == FactorStorage::single_precision ? 0x1p-24 : 0x1p-11;
}

inline double dot(const std::vector<double>& x, const std::vector<double>& y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

/// The reference's offsets of ILU(k), cached.
inline const std::vector<reference::Offset>& filled(const std::string& stencil, int k) {
    static std::map<std::pair<std::string, int>, std::vector<reference::Offset>> known;
    auto& offsets = known[{stencil, k}];
    if (offsets.empty()) offsets = reference::filled_offsets(reference::stencil_named(stencil).offsets, k);
    return offsets;
}

/// A layout for ILU(k) of `a`: a hyperplane layout has the levels of the filled stencil.
inline Layout layout_for(LayoutKind kind, const reference::StencilMatrix& a, const std::string& stencil, int k) {
    const LevelMap levels = reference::to_stencil({stencil, filled(stencil, k)}).level_map();
    return Layout(kind, reference::to_grid(a.box), levels);
}

/// The colour of each point in the linear colouring of the matrix's stencil.
inline std::vector<int> linearly_coloured(const reference::StencilMatrix& a) {
    const ColouredShape shape(reference::to_grid(a.box), reference::to_stencil({"", a.offsets}), ColourRule::stencil);
    std::vector<int> colours;
    for (int row = 0; row < a.box.points(); ++row)
        colours.push_back(shape.map.colour(reference::to_int3(a.box.point(row))));
    return colours;
}

/// The reference's ILU(k) on the pattern derived on the stencil.
inline reference::BlockIlu reference_ilu(const reference::StencilMatrix& a, const std::string& stencil, int k) {
    return reference::block_ilu(reference::assembled(a, false), reference::stencil_pattern(a.box, filled(stencil, k)));
}

}  // namespace hyperplane::testing_support
