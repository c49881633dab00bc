// SPDX-License-Identifier: BSD-3-Clause
// What the tests of preconditioners share: making one as a deck would, and applying it in natural order.
#pragma once

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

/// `call` ends in an Expected whose message holds `text`.
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
    return {a.context(), a.grid(), a.stencil(), a.dof(), a.symmetric()};
}

/// A preconditioner for matrices like `a`, not set up yet.
inline std::unique_ptr<Preconditioner> make(const std::string& name, const StructMatrix& a,
                                            const Settings& settings = {}) {
    return find_preconditioner(name).create(parameters_of(name, settings), setting_of(a));
}

/// These settings, or a preconditioner made with them for matrices like `a`, end in a UsageError that holds `text`.
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

/// Of values kept in fewer bits.
inline double unit_roundoff(FactorStorage storage) {
    return storage == FactorStorage::single_precision ? 0x1p-24 : 0x1p-11;
}

inline double dot(const std::vector<double>& x, const std::vector<double>& y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

/// The reference's offsets of ILU(k), kept once computed.
inline const std::vector<reference::Offset>& filled(const std::string& stencil, int k) {
    static std::map<std::pair<std::string, int>, std::vector<reference::Offset>> known;
    auto& offsets = known[{stencil, k}];
    if (offsets.empty()) offsets = reference::filled_offsets(reference::stencil_named(stencil).offsets, k);
    return offsets;
}

/// A layout in which ILU(k) of `a` can be swept: a hyperplane layout takes the filled stencil's levels.
inline Layout layout_for(LayoutKind kind, const reference::StencilMatrix& a, const std::string& stencil, int k) {
    const LevelMap levels = reference::to_stencil({stencil, filled(stencil, k)}).level_map();
    return Layout(kind, reference::to_grid(a.box), levels);
}

/// Each point's colour under the linear colouring of its stencil.
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
