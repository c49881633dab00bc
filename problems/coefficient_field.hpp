// SPDX-License-Identifier: BSD-3-Clause
// The coefficient K of a cell-centred diffusion problem: diag(kx, ky, kz) in each cell.
#pragma once

#include <optional>
#include <string>

#include "core/device/context.hpp"
#include "core/interfaces/field.hpp"
#include "core/interfaces/input_files.hpp"
#include "core/parameters/parameters.hpp"
#include "problems/domain.hpp"

namespace hyperplane {

/// The coefficient as formulas read it; kernels take it by value.
struct CoefficientView {
    std::array<const double*, 3> values{nullptr, nullptr, nullptr};  ///< in natural order; null if 1 everywhere
    std::array<double, 3> scale{1.0, 1.0, 1.0};

    HYPERPLANE_HD double at(int axis, Index row) const {
        return values[axis] ? scale[axis] * values[axis][row] : scale[axis];
    }
};

/// Throws UsageError if keys are given that the chosen problem.coefficient does not use.
void check_coefficient_keys(const Parameters& parameters);

/// Owns the values of a view, in the context's memory. The host computes them for every backend, so their bits are
/// equal.
class CoefficientField {
public:
    /// The values of problem.coefficient on a domain of cells: const, aniso, or
    ///   lognormal  exp(s G), G = sqrt(2/M) sum_{m<M} cos(w_m x + phi_m), M = 200, w_m normal with standard
    ///              deviation 1 / correlation_length, phi_m uniform in (0, 2 pi)
    ///   white      exp(s G), G standard normal in each cell
    ///   checker    8 boxes along each axis, alternately 1 and contrast
    ///   inclusions 4^3 cubes of value contrast, each half as wide as the period in which it is centred
    ///   spe10like  lognormal, with shorter correlation and a tenth of the permeability along z
    ///   file       kx, ky, kz of each cell
    /// Throws UsageError if a coefficient in a file is not positive.
    CoefficientField(const Parameters& parameters, const Domain& domain, const Context& context,
                     const InputFiles& files);

    const CoefficientView& view() const { return view_; }
    /// The field `coefficient` (of spe10like: `permeability`), a number where it is equal along all axes and a vector
    /// otherwise; nothing if it is the same everywhere.
    std::optional<Field> field(const Grid& grid) const;

private:
    std::string name_ = "coefficient";
    Buffer<double> values_;
    CoefficientView view_;
};

}  // namespace hyperplane
