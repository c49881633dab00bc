// SPDX-License-Identifier: BSD-3-Clause
#include "problems/matrix_input.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace hyperplane {

ParameterSpec repeated_entries_key() {
    return {.section = "problem",
            .key = "repeated_entries",
            .type = ParameterType::choice,
            .default_value = "refuse",
            .description =
                "what happens if a Matrix Market file gives an entry more than once: an error that names it "
                "(refuse), or the sum is taken (add)",
            .choices = {"refuse", "add"}};
}

FileSymmetry file_symmetry(const Parameters& parameters) {
    const std::string& symmetry = parameters.text("problem", "symmetry");
    return symmetry == "symmetric" ? FileSymmetry::symmetric
           : symmetry == "general" ? FileSymmetry::general
                                   : FileSymmetry::by_file;
}

InputMatrix read_input_matrix(const Parameters& parameters, const char* key, const InputFiles& files) {
    const std::string& file = parameters.text("problem", key);
    InputMatrix input = files.matrix(file, file_symmetry(parameters));
    if (input.repeated && parameters.text("problem", "repeated_entries") == "refuse")
        throw FileError(fmt::format(
            "{}: row {}, column {} is given more than once; set problem.repeated_entries = add if such entries are to "
            "be added",
            file, input.repeated->row + 1, input.repeated->column + 1));
    return input;
}

std::vector<double> read_input_vector(const Parameters& parameters, const InputFiles& files, Index rows) {
    std::vector<double> values = files.vector(parameters.text("problem", "right_hand_side"));
    if (Index(values.size()) != rows)
        throw UsageError(fmt::format("{}: {} values for a matrix of {} rows",
                                     parameters.where("problem", "right_hand_side"), values.size(), rows));
    return values;
}

}  // namespace hyperplane
