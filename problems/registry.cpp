#include "problems/registry.hpp"

#include "problems/domain.hpp"
#include "problems/poisson.hpp"

namespace hyperplane {
namespace {

ParameterTable time_parameters() {
    return {
        {.section = "time",
         .key = "steps",
         .type = ParameterType::integer,
         .default_value = "1",
         .description = "implicit time steps, for transient problems",
         .minimum = Bound{1}},
        {.section = "time",
         .key = "time_step",
         .type = ParameterType::real,
         .default_value = "",
         .description = "length of a time step; or give cfl",
         .unit = "time units",
         .minimum = Bound{0, true}},
        {.section = "time",
         .key = "cfl",
         .type = ParameterType::real,
         .default_value = "",
         .description = "Courant number, time_step times the largest velocity component over the mean spacing; or give "
                        "time_step",
         .minimum = Bound{0, true}},
    };
}

}  // namespace

const std::vector<RegistryRow<CreateProblem>>& problems() {
    static const std::vector<RegistryRow<CreateProblem>> rows{
        {"poisson", {}, "Poisson's equation on nodes or cells, constant or variable coefficient",
         "-div(K grad u) = f on a box. On nodes: second-order differences with a constant diagonal K (star7), or one of\n"
         "three 27-point operators (box27). On cells: two-point fluxes with a coefficient that may jump by orders of\n"
         "magnitude. Source: E. Bueler, PETSc for Partial Differential Equations, chapter 6 (nodes).",
         poisson_parameters(), create_poisson},
    };
    return rows;
}

ParameterTable common_problem_parameters() {
    ParameterSpec name{.section = "problem",
                       .key = "name",
                       .type = ParameterType::choice,
                       .default_value = "",
                       .description = "the problem to solve",
                       .required = true};
    for (const auto& row : problems()) {
        name.choices.push_back(row.name);
        name.choices.insert(name.choices.end(), row.aliases.begin(), row.aliases.end());
    }
    ParameterTable table{std::move(name)};
    for (ParameterTable part : {grid_parameters(), time_parameters()})
        table.insert(table.end(), part.begin(), part.end());
    return table;
}

}  // namespace hyperplane
