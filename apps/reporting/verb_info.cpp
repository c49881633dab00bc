// SPDX-License-Identifier: BSD-3-Clause
// hyperplane info build|device|FILE.h5

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/base/build_info.hpp"
#include "apps/base/environment.hpp"
#include "apps/base/json_text.hpp"
#include "apps/command/verbs.hpp"
#include "apps/compare/text.hpp"
#include "apps/reporting/info_text.hpp"
#include "apps/run/case.hpp"
#include "apps/run/preparation.hpp"
#include "apps/run/verdict.hpp"
#include "core/counted.hpp"
#include "core/error.hpp"
#include "io/comparison.hpp"
#include "io/deck.hpp"

namespace hyperplane {
namespace {

using Json = nlohmann::ordered_json;

Json build_json() {
    const BuildInfo& b = build_info();
    return {{"version", b.version}, {"git_sha", b.git_sha}, {"compiler", b.compiler}, {"build_type", b.build_type},
            {"hdf5", b.hdf5},       {"boost", b.boost},     {"openmp", b.openmp},     {"backends", b.backends}};
}

Json device_json() {
    Json json = {{"host", host_name()},
                 {"processor", processor_name()},
                 {"processors", omp_get_num_procs()},
                 {"threads", Context::cpu().threads()},
                 {"memory", in_mib(machine_memory())},
                 {"memory_left", in_mib(available_memory())}};
    const std::string why = device::unavailable();
    if (why.empty())
        for (const device::Properties& gpu : device::all()) json["cuda"].push_back(describe(gpu));
    else
        json["cuda"] = "not available: " + why;
    return json;
}

Json record_json(const RecordData& record) {
    Json json = {{"file", record.path},
                 {"schema_version", record.schema_version},
                 {"status", record.status},
                 {"exit_code", record.exit_code},
                 {"message", record.message},
                 {"code_version", record.code_version},
                 {"git_sha", record.git_sha},
                 {"deck", record.deck_file},
                 {"stencil", record.stencil},
                 {"layout", record.layout},
                 {"dof", record.dof},
                 {"cells", {record.grid.nx, record.grid.ny, record.grid.nz}},
                 {"overrides", record.overrides},
                 {"environment", record.environment}};
    json["solves"] = Json::array();
    for (const SolveRow& row : record.solves)
        json["solves"].push_back(Json{{"step", row.step},
                                      {"iterations", row.report.iterations},
                                      {"stop_reason", to_string(row.report.reason)},
                                      {"b_norm", row.report.b_norm},
                                      {"relative_residual", row.report.true_residual / row.report.b_norm},
                                      {"setup_seconds", row.setup_seconds},
                                      {"solve_seconds", row.solve_seconds}});
    for (const ErrorNorm& norm : record.verification) json["errors"][norm.name] = norm.value;
    for (const TimerRow& row : record.timers)
        json["timers"].push_back(
            Json{{"name", row.name}, {"seconds", row.seconds}, {"calls", row.calls}, {"bytes", row.bytes}});
    if (!record.triangular_solves.empty()) json["triangular_solves"] = record.triangular_solves;
    if (const auto iterations = preparation_in_iterations(record.timers, costs_of(record).per_iteration()))
        json["preparation_in_iterations"] = *iterations;
    for (const ProfileRow& row : record.profile)
        json["profile"].push_back(
            Json{{"name", row.name}, {"seconds", row.seconds}, {"calls", row.calls}, {"bytes", row.bytes}});
    if (record.memory_limit > 0.0) json["limits"] = {{"memory", record.memory_limit}};
    json["costs"] = to_json(costs_of(record));
    json["parts"] = to_json(record.parts);
    json["memory"] = {{"peak", record.peak_total}, {"predicted", record.predicted_total}};
    return json;
}

Json study_json(const CollectedStudy& study) {
    Json json = {{"file", study.path}, {"study", study.study}, {"code_version", study.code_version}};
    json["cases"] = Json::array();
    for (const CollectedCase& row : study.cases)
        json["cases"].push_back(Json{{"number", row.number},
                                     {"name", row.name},
                                     {"status", row.status},
                                     {"exit_code", row.exit_code},
                                     {"iterations", row.iterations},
                                     {"stop_reason", row.stop_reason},
                                     {"setup_seconds", row.setup_seconds},
                                     {"solve_seconds", row.solve_seconds},
                                     {"memory_peak", row.memory_peak}});
    return json;
}

/// Lines "key   value". Nested objects are indented; an object in a list takes one line.
std::string outline(const Json& json, int indent) {
    std::string text;
    for (const auto& [key, value] : json.items()) {
        text += fmt::format("{:{}}{:<{}} ", "", indent, key, 20 - indent);
        if (value.is_object()) {
            text += fmt::format("\n{}", outline(value, indent + 2));
        } else if (value.is_array() && !value.empty() && value[0].is_object()) {
            text += "\n";
            for (const Json& row : value) text += fmt::format("{:{}}{}\n", "", indent + 2, row.dump());
        } else {
            text += fmt::format("{}\n", value.is_string() ? value.get<std::string>() : value.dump());
        }
    }
    return text;
}

}  // namespace

int info_verb(const Invocation& invocation) {
    const std::string& topic = invocation.arguments[0];
    const std::string near = nearest(topic, {"build", "device"});
    if (std::error_code ignored; !near.empty() && near != topic && !std::filesystem::exists(topic, ignored))
        throw FileError(fmt::format("{}: no such file; did you mean info {}?", topic, near));
    const bool json = invocation.has("json"), all = invocation.has("all");
    const auto print = [](const Json& object) {
        fmt::print("{}\n", object.dump(2, ' ', false, Json::error_handler_t::replace));
    };
    if (topic == "build" || topic == "device") {
        const Json object = topic == "build" ? build_json() : device_json();
        json ? print(object) : fmt::print("{}", outline(object, 0));
        return 0;
    }
    if (is_comparison(topic)) {
        const ComparisonData comparison = read_comparison(topic);
        fmt::print("{}", json ? to_text(comparison_json(comparison))
                              : comparison_text(comparison, isatty(STDOUT_FILENO) != 0, all));
        return 0;
    }
    if (is_collected_study(topic)) {
        const CollectedStudy study = read_collected_study(topic);
        json ? print(study_json(study)) : fmt::print("{}", info_text(study, all));
        return 0;
    }
    const RecordData record = read_record(topic);
    if (json)
        print(record_json(record));
    else
        fmt::print("{}",
                   all ? info_text(record, true) + "\n" + outline(record_json(record), 0) : info_text(record, false));
    return 0;
}

}  // namespace hyperplane
