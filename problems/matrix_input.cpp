// SPDX-License-Identifier: BSD-3-Clause
#include "problems/matrix_input.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace hyperplane {

InputMatrix read_input_matrix(const Parameters& parameters, const char* key, const InputFiles& files) {
    const std::string& symmetry = parameters.text("problem", "symmetry");
    return files.matrix(parameters.text("problem", key), symmetry == "symmetric" ? FileSymmetry::symmetric
                                                         : symmetry == "general" ? FileSymmetry::general
                                                                                 : FileSymmetry::by_file);
}

std::vector<double> read_input_vector(const Parameters& parameters, const InputFiles& files, Index rows) {
    std::vector<double> values = files.vector(parameters.text("problem", "right_hand_side"));
    if (Index(values.size()) != rows)
        throw UsageError(fmt::format("{}: {} values for a matrix of {} rows",
                                     parameters.where("problem", "right_hand_side"), values.size(), rows));
    return values;
}

}  // namespace hyperplane
