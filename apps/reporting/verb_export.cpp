// SPDX-License-Identifier: BSD-3-Clause
// hyperplane export DECK [-o DIR]

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>

#include "apps/deck/named_deck.hpp"
#include "apps/run/build_case.hpp"
#include "apps/run/linear_system.hpp"
#include "apps/verbs.hpp"
#include "core/interfaces/given_order.hpp"
#include "core/matrix/bsr_matrix.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "io/matrix_files.hpp"

namespace hyperplane {
namespace {

std::filesystem::path make_folder(const std::string& name) {
    std::error_code error;
    std::filesystem::create_directories(name, error);
    if (!std::filesystem::is_directory(name))
        throw FileError(fmt::format("{} is no folder and cannot be made one: {}", name, error.message()));
    return name;
}

}  // namespace

int export_verb(const Invocation& invocation) {
    const Case a_case = read_case(invocation);
    leave_out_keys_of_runs(a_case.deck, a_case.overrides, "export");
    const auto folder = make_folder(invocation.value("output", "."));
    const RowOrder* const order = a_case.shape().order();
    std::vector<const char*> names{"A.mtx", "b.mtx", "x.mtx"};
    if (order) names.push_back("order.mtx");
    for (const char* name : names) guard_output(folder / name, FileKind::matrix, a_case.overwrite);
    Vector u = a_case.make_vector("state"), x = a_case.make_vector("correction");
    LinearSystem system = make_system(a_case);
    assemble_first(a_case, u, system);
    set_up(*a_case.preconditioner, system);
    const SolverOperators operators = operators_of(a_case, *system.a);
    History history;
    const SolveReport report = a_case.solver->solve(operators.a(), operators.m(), system.b, x, history);

    write_matrix_market(folder / "A.mtx", csr_of(*system.a), a_case.shape().symmetric, a_case.overwrite);
    write_matrix_market(folder / "b.mtx", in_given_order(a_case.shape(), system.b), a_case.overwrite);
    write_matrix_market(folder / "x.mtx", in_given_order(a_case.shape(), x), a_case.overwrite);
    if (order) {
        std::vector<double> rows;
        for (const int row : order->given) rows.push_back(row + 1);
        write_matrix_market(folder / "order.mtx", rows, a_case.overwrite);
        fmt::print("{}: the block rows in the order {}, counted from 1 in that of A.mtx, b.mtx and x.mtx\n",
                   (folder / "order.mtx").string(), order->name);
    }
    fmt::print("{}, b.mtx and x.mtx: A x = b of the first step, {} unknowns, {} nonzeros; x after {} iterations ({})\n",
               (folder / "A.mtx").string(), system.a->unknowns(), system.a->nonzeros(), report.iterations,
               to_string(report.reason));
    if (!converged(report.reason)) spdlog::error("x is not the solution: {}", explain(report.reason));
    return int(exit_code(report.reason));
}

}  // namespace hyperplane
