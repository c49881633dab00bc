// SPDX-License-Identifier: BSD-3-Clause
#include "io/companions.hpp"

#include <filesystem>

namespace hyperplane {

std::string stem_of(const std::string& record_path) {
    const std::string ending = ".h5", name = std::filesystem::path(record_path).filename().string();
    const bool cut = name.size() > ending.size() && name.ends_with(ending) && !name.ends_with("." + ending);
    return cut ? record_path.substr(0, record_path.size() - ending.size()) : record_path + ".";
}

}  // namespace hyperplane
