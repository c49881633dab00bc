// SPDX-License-Identifier: BSD-3-Clause
// Section [slurm] of a study, and the job script made from it.
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

/// A batch script whose array task i runs the i-th of `cases`. `memory` is the largest predicted memory of a host
/// in bytes, if known. The script names cases by the hashes of their decks, so that it is noticed if the study is
/// edited in the meantime.
std::string slurm_script(const Study& study, const std::vector<const StudyCase*>& cases, std::optional<Index> memory);

}  // namespace hyperplane
