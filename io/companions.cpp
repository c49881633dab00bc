// SPDX-License-Identifier: BSD-3-Clause
#include "io/companions.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "core/error.hpp"

namespace hyperplane {

std::string stem_of(const std::string& record_path) {
    const std::string ending = ".h5", name = std::filesystem::path(record_path).filename().string();
    const bool cut = name.size() > ending.size() && name.ends_with(ending) && !name.ends_with("." + ending);
    return cut ? record_path.substr(0, record_path.size() - ending.size()) : record_path + ".";
}

void check_record_name(const std::string& record_path, const std::string& where, bool writes_fields) {
    for (const auto& [ending, what] :
         {std::pair(".part", "a file that is not whole yet"), std::pair(".lock", "a lock"),
          std::pair(".checkpoint", "a checkpoint"), std::pair(".vtkhdf", "a file of fields"),
          std::pair(".profile.json", "a profile")})
        if (record_path.ends_with(ending))
            throw UsageError(
                fmt::format("{}: {} has the name of {} beside a record, because it ends in {}; choose a name that ends "
                            "in .h5",
                            where, record_path, what, ending));
    if (const std::string series = "_series", stem = stem_of(record_path); writes_fields && stem.ends_with(series))
        throw UsageError(
            fmt::format("{}: with output.fields the fields of {} would be written as {}.vtkhdf, which is the series in "
                        "time of {}.h5; choose a name that does not end in _series",
                        where, record_path, stem, stem.substr(0, stem.size() - series.size())));
}

}  // namespace hyperplane
