// hyperplane check DECK

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "apps/case.hpp"
#include "apps/verbs.hpp"
#include "apps/verdict.hpp"

namespace hyperplane {

int check_verb(const Invocation& invocation) {
    const Case a_case = read_case(invocation);
    const MemoryPlan memory = a_case.memory_plan();
    const Index room = available_memory(a_case.parameters);
    const bool fits = memory.total() <= room;
    for (const std::string& warning : a_case.problem->warnings()) spdlog::warn("{}", warning);

    const SystemShape& shape = a_case.shape();
    const Index unknowns = shape.grid.points() * shape.dof;
    if (invocation.has("json")) {
        fmt::print("{}", to_text({{"problem", a_case.name("problem")},
                                  {"solver", a_case.name("solver")},
                                  {"preconditioner", a_case.name("preconditioner")},
                                  {"layout", to_string(a_case.layout.kind())},
                                  {"device", a_case.device},
                                  {"unknowns", unknowns},
                                  {"steps", a_case.steps()},
                                  {"record", a_case.record_path()},
                                  {"memory", {{"predicted", memory.total()}, {"by_label", memory.by_label}}},
                                  {"memory_left", room},
                                  {"fits", fits}}));
    } else {
        if (invocation.has("verbose")) fmt::print("{}\n", to_ini(a_case.parameters));
        fmt::print("{} is valid: {} on {} x {} x {}, {} unknowns, {} step{}\n", a_case.deck.file,
                   a_case.name("problem"), shape.grid.nx, shape.grid.ny, shape.grid.nz, unknowns, a_case.steps(),
                   a_case.steps() == 1 ? "" : "s");
        fmt::print("{} with {}, {} layout, on {}; record {}\n", a_case.name("solver"), a_case.name("preconditioner"),
                   to_string(a_case.layout.kind()), a_case.device, a_case.record_path());
        fmt::print("memory it will need:\n{}{}: {} left\n", memory.table(), fits ? "fits" : "does not fit",
                   in_mib(room));
    }
    return int(fits ? ExitCode::ok : ExitCode::out_of_memory);
}

}  // namespace hyperplane
