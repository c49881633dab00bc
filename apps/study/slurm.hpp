// SPDX-License-Identifier: BSD-3-Clause
// Section [slurm] of a study, and the job script made of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/parameters/parameters.hpp"

namespace hyperplane {

struct Study;
struct StudyCase;

/// The keys of [slurm].
ParameterTable slurm_parameters();

/// A batch script whose array task i runs the i-th of `cases`; `memory` in bytes is what the largest is predicted to
/// need, where that is known. The script refers to cases by the hashes of their decks, so that a study edited in the
/// meantime is noticed.
std::string slurm_script(const Study& study, const std::vector<const StudyCase*>& cases, std::optional<Index> memory);

}  // namespace hyperplane
