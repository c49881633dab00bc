// SPDX-License-Identifier: BSD-3-Clause
#include "io/collected_study.hpp"

#include "core/error.hpp"
#include "io/hdf5.hpp"
#include "io/sealed_file.hpp"

namespace hyperplane {

CollectedStudy read_collected_study(const std::string& path) {
    return read_proven(path, [&](bool /*sealed*/) {
        const hdf5::Quiet quiet;
        CollectedStudy found;
        found.path = path;
        const hdf5::Id file = hdf5::open_to_read(path);
        const hdf5::Group root = hdf5::Group::root(file, hdf5::Mode::read, path);
        int version = 0;
        root.attribute("study_schema_version", version);
        if (version < 1 || version > 2) root.wrong("study_schema_version", "is neither 1 nor 2");
        root.attribute("study", found.study);
        root.attribute("code_version", found.code_version);
        const hdf5::Group cases = root.group("cases");
        const auto read = [&](const char* name, auto field) { cases.column(name, {"", ""}, found.cases, field); };
        read("case", &CollectedCase::number);
        read("name", &CollectedCase::name);
        read("status", &CollectedCase::status);
        read("exit_code", &CollectedCase::exit_code);
        read("iterations", &CollectedCase::iterations);
        read("stop_reason", &CollectedCase::stop_reason);
        read("setup_seconds", &CollectedCase::setup_seconds);
        read("solve_seconds", &CollectedCase::solve_seconds);
        read("memory_peak", &CollectedCase::memory_peak);
        return found;
    });
}

bool is_collected_study(const std::string& path) {
    return is_of_kind(path, FileKind::study, [&] {
        const hdf5::Quiet quiet;
        const hdf5::Id file = hdf5::open_to_read(path);
        return hdf5::Group::root(file, hdf5::Mode::read, path).has_attribute("study_schema_version");
    });
}

}  // namespace hyperplane
