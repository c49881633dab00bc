// SPDX-License-Identifier: BSD-3-Clause
// The matrices with which kernels are timed.
#pragma once

#include <string>
#include <vector>

#include "core/grid/stencil.hpp"

namespace hyperplane {

/// A matrix with which kernels are timed: n^3 points, random entries, diagonally dominant.
struct BenchCase {
    Stencil stencil = Stencil::star7();
    int dof = 1;
    int n = 64;
    bool symmetric = false;  ///< one triangle stored, incomplete Cholesky

    std::string name() const;  ///< "star7:1:512", with ":sym" if symmetric
};

/// Parses "star7:1:96:sym, box27:4:32": stencil, dof, n; or a file with such cases, one or more a line, and comments
/// after #. Throws UsageError. Some names stand for several cases:
///
///   table2         the four stencils of the StructILU paper's Table 2, whose operations do not depend on the size
///   table3         the 25 cases of that paper's Table 3 (RTX 3090 sizes); table3:4 are those of 4 unknowns
///   table3-a100    the same cases in the sizes of the A100's column
///   figure8        three of the four systems of that paper's Figure 8, in the sizes of the A100's column
///   figure9        star13 and diamond13 with two unknowns, sizes up, as in that paper's Figure 9
///   fgbilu-tables  the system of the FGBILU paper's Tables 2 to 4
///   fgbilu-figure9 star7 with six unknowns, sizes up, as in the FGBILU paper's Figure 9
///   table3-small   table3 with a fifth of the points a side ("quick" is another name for it)
///   levels         star7 on grids so small that levels, not bytes, are the limit
///   middle         seven systems of middle size, which levels pace
///   ablation       one case or two for each choice of struct_ilu
std::vector<BenchCase> parse_bench_cases(const std::string& text);

/// Returns the names of these lists as help and messages have them: "table2, table3[:DOF], ...".
std::string names_of_case_lists();

}  // namespace hyperplane
