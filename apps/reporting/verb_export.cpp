// SPDX-License-Identifier: BSD-3-Clause
// hyperplane export DECK [-o DIR] [--format mtx|mtx.gz|petsc] [--factors]

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <list>

#include "apps/base/log.hpp"
#include "apps/command/verbs.hpp"
#include "apps/run/build_case.hpp"
#include "apps/run/linear_system.hpp"
#include "core/interfaces/given_order.hpp"
#include "core/matrix/bsr_matrix.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "io/matrix_files.hpp"
#include "precond/factors/ldu.hpp"
#include "precond/registry.hpp"

namespace hyperplane {
namespace {

std::filesystem::path make_folder(const std::string& name) {
    std::error_code error;
    std::filesystem::create_directories(name, error);
    if (!std::filesystem::is_directory(name))
        throw FileError(fmt::format("{} is no folder and cannot be made one: {}", name, error.message()));
    return name;
}

/// Writes matrices and vectors to a folder, in the format that the command line names. The files get their names
/// together, so that those of different systems never lie side by side.
class Folder {
public:
    Folder(const Invocation& invocation, Overwrite overwrite) : overwrite_(overwrite) {
        format_ = invocation.value("format", "mtx");
        if (format_ != "mtx" && format_ != "mtx.gz" && format_ != "petsc")
            throw UsageError(
                fmt::format("--format {}: mtx (Matrix Market), mtx.gz (the same, compressed by gzip) and petsc (PETSc "
                            "binary) can be written",
                            format_));
        petsc_ = format_ == "petsc";
        folder_ = make_folder(invocation.value("output", "."));
    }

    /// "A" is "A.mtx", "A.mtx.gz" or "A.petsc".
    std::string file(const std::string& name) const { return name + "." + format_; }
    std::string path(const std::string& name) const { return (folder_ / file(name)).string(); }
    /// Throws FileError if files of these names could not be written, or if two of them would be one file.
    void guard(const std::vector<const char*>& names) const {
        std::vector<std::string> paths;
        for (const char* name : names) paths.push_back(path(name));
        for (const std::string& one : paths) require_writable(one, FileKind::matrix, overwrite_);
        refuse_one_file_of_two(paths, "export", "remove the link, or name another folder with -o");
    }

    void write(const std::string& name, const CsrMatrix& matrix, bool symmetric) {
        if (petsc_)
            write_petsc(open(name), matrix);
        else
            write_matrix_market(open(name), matrix, symmetric, gzip());
    }
    void write(const std::string& name, const std::vector<double>& vector) {
        if (petsc_)
            write_petsc(open(name), vector);
        else
            write_matrix_market(open(name), vector, gzip());
    }
    /// Gives all files their names, once all of them are on the disk and may have them.
    void commit() {
        for (AtomicFile& file : files_) file.sync();
        for (AtomicFile& file : files_) file.commit();
    }

private:
    bool gzip() const { return format_ == "mtx.gz"; }
    AtomicFile& open(const std::string& name) { return files_.emplace_back(path(name), FileKind::matrix, overwrite_); }

    Overwrite overwrite_;
    std::string format_;
    bool petsc_ = false;
    std::filesystem::path folder_;
    std::list<AtomicFile> files_;  ///< without their names yet
};

/// Throws UsageError if the preconditioner has none.
const HasLduFactors& factors_of(const Case& a_case) {
    const std::string& name = a_case.name("preconditioner");
    if (a_case.shape().matrix().kind() != MatrixKind::general)
        throw UsageError(
            "--factors: factors are exported of general matrices alone, and this one is on a grid; add --set "
            "matrix.format=general --set preconditioner.name=sync_free_ilu");
    const auto* const factors = dynamic_cast<const HasLduFactors*>(a_case.preconditioner.get());
    if (factors && factors->has_ldu()) return *factors;
    if (const std::string& same = find_preconditioner(name).same_general_factors; !same.empty())
        throw UsageError(
            fmt::format("--factors: the factors of preconditioner.name = {} stay with its library; those of {}, with "
                        "the same pattern, can be exported",
                        name, same));
    std::vector<std::string> others;
    for (const PreconditionerRow& row : preconditioners())
        if (row.exports_factors) others.push_back(row.name);
    throw UsageError(fmt::format("--factors: preconditioner.name = {} has no factors L, D and U; these have them: {}",
                                 name, fmt::join(others, ", ")));
}

/// The block rows at the places of an order, counted from 1.
std::vector<double> counted_from_one(const int* at_place, Index rows) {
    std::vector<double> numbers;
    for (Index place = 0; place < rows; ++place) numbers.push_back(at_place[place] + 1);
    return numbers;
}

void tell_order(const Folder& folder, const RowOrder& order) {
    fmt::print("{}: the block rows in the order {}, counted from 1 in that of {}, {} and {}\n", folder.path("order"),
               order.name, folder.file("A"), folder.file("b"), folder.file("x"));
    if (order.matches_rows())
        fmt::print("{}: the block row of {} and {} whose equation is solved at each of these places\n",
                   folder.path("equations"), folder.file("A"), folder.file("b"));
}

void tell_factors(const Folder& folder, const LduFactors& ldu, const RowOrder* order) {
    const std::string columns = folder.file(order ? "order" : "A");
    std::string places = "rows and columns in the order of " + columns;
    if (order && order->matches_rows())
        places = fmt::format("rows in the order of {}, columns in that of {}", folder.file("equations"), columns);
    fmt::print("{}, {} and {}: M = L D U, {}; {}, {} and {} entries\n", folder.path("L"), folder.file("D"),
               folder.file("U"), places, ldu.lower.value.size(), ldu.diagonal.value.size(), ldu.upper.value.size());
}

}  // namespace

int export_verb(const Invocation& invocation) {
    const Case a_case = read_case_without_run(invocation, "export");
    const HasLduFactors* const factors = invocation.has("factors") ? &factors_of(a_case) : nullptr;
    Folder folder(invocation, a_case.overwrite);
    const RowOrder* const order = a_case.shape().order();
    std::vector<const char*> names{"A", "b", "x"};
    if (order) names.push_back("order");
    if (order && order->matches_rows()) names.push_back("equations");
    if (factors) names.insert(names.end(), {"L", "D", "U"});
    folder.guard(names);
    Vector u = a_case.make_vector("state"), x = a_case.make_vector("correction");
    LinearSystem system = make_system(a_case);
    assemble_first(a_case, u, system);
    set_up(*a_case.preconditioner, system);
    const SolverOperators operators = operators_of(a_case, *system.a);
    History history;
    const SolveReport report = a_case.solver->solve(operators.a(), operators.m(), system.b, x, history);

    // Where rows have been moved, the matrix of the given order may be symmetric or not, whatever the solved one is.
    folder.write("A", csr_of(*system.a), a_case.shape().symmetric && !(order && order->matches_rows()));
    folder.write("b", equations_in_given_order(a_case.shape(), system.b));
    folder.write("x", in_given_order(a_case.shape(), x));
    if (order) folder.write("order", counted_from_one(order->given.data(), order->rows()));
    if (order && order->matches_rows()) folder.write("equations", counted_from_one(order->equations(), order->rows()));
    LduFactors ldu;
    if (factors) {
        ldu = factors->ldu();
        folder.write("L", ldu.lower, false);
        folder.write("D", ldu.diagonal, false);
        folder.write("U", ldu.upper, false);
    }
    folder.commit();
    if (order) tell_order(folder, *order);
    if (factors) tell_factors(folder, ldu, order);
    fmt::print("{}, {} and {}: A x = b of the first step, {} unknowns, {} nonzeros; x after {} iterations ({})\n",
               folder.path("A"), folder.file("b"), folder.file("x"), system.a->unknowns(), system.a->nonzeros(),
               report.iterations, to_string(report.reason));
    if (!converged(report.reason)) logging::error("x is not the solution: {}", explain(report));
    return int(exit_code(report.reason));
}

}  // namespace hyperplane
