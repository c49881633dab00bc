// SPDX-License-Identifier: BSD-3-Clause
// hyperplane study collect STUDY: writes one row for each case to FOLDER.h5 and FOLDER.csv (see docs/study.md).

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "apps/base/build_info.hpp"
#include "apps/base/quoting.hpp"
#include "apps/run/pattern_text.hpp"
#include "apps/run/pay_off.hpp"
#include "apps/run/preparation.hpp"
#include "apps/study/case_state.hpp"
#include "apps/study/subverbs.hpp"
#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/interfaces/problem.hpp"
#include "io/atomic_file.hpp"
#include "io/costs.hpp"
#include "io/hdf5.hpp"
#include "io/record_schema.hpp"
#include "io/sealed_file.hpp"

namespace hyperplane {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// A column of the table: integers, reals (NaN: no value) or texts.
struct Column {
    std::string name;
    hdf5::Label label;
    enum class Kind { count, real, text } kind;
    bool is_figure = false;  ///< a number that the run produced: a figure of merit
};

using Cell = std::string;  ///< as in the CSV; empty: no value

struct Row {
    const StudyCase* a_case;
    CaseState state;
    std::vector<Cell> cells;
};

/// Shortest text that reads back as the same number; empty for NaN.
Cell real(double value) {
    return std::isnan(value) ? "" : fmt::format("{}", value);
}

std::vector<Column> result_columns() {
    using K = Column::Kind;
    return {
        {"unknowns", {"1", "rows of the system"}, K::count},
        {"solves", {"1", "linear solves"}, K::count},
        {"iterations", {"1", "iterations of all solves"}, K::count},
        {"stop_reason", {"1", "why the last solve ended"}, K::text},
        {"relative_residual", {"1", "||b - A x|| / ||b|| of the last solve"}, K::real},
        {"setup_seconds",
         {"s", "wall time of all set-ups of the preconditioner, all parts of the run together"},
         K::real},
        {"solve_seconds", {"s", "wall time of all solves, all parts of the run together"}, K::real},
        {"seconds_per_iteration", {"s", "solve_seconds / iterations"}, K::real},
        {"parts", {"1", "number of parts of the run: 1 if nothing stopped it"}, K::count},
        {"places", {"1", "host and device; if the run went on elsewhere, that place after '; then'"}, K::text},
        {"pivots_modified", {"1", "pivots that the pivot policy changed"}, K::count},
        {"memory_peak", {"B", "most memory held at once"}, K::count},
        {"pays_off_from_solves",
         {"1",
          "number of solves with one set-up from which on the case takes less time than the first case with the same "
          "system on the same device that converged; none if never"},
         K::count},
    };
}

/// The values of the keys that a study varies and that say which system is solved, how exactly and where: all but those
/// of the method.
std::string system_of(const StudyCase& a_case) {
    const std::set<std::string> of_method{"solver", "preconditioner", "smoother", "ordering", "scaling"};
    const std::set<std::string> of_criterion{"solver.rtol", "solver.atol"};
    std::string system;
    for (const auto& [key, value] : a_case.values)
        if (of_criterion.count(key) || !of_method.count(key.substr(0, key.find('.'))))
            system += fmt::format("{}={}\n", key, value);
    return system;
}

/// The column pays_off_from_solves, a cell for each row.
std::vector<Cell> solves_that_pay(const std::vector<Row>& rows) {
    std::map<std::string, SetupAndSolve> baselines;
    std::vector<Cell> cells;
    for (const Row& row : rows) {
        cells.emplace_back();
        const auto& record = row.state.record;
        if (!record || record->exit_code != 0 || record->solves.empty()) continue;
        const SetupAndSolve costs = costs_of_solves(*record);
        const auto [baseline, is_first] = baselines.try_emplace(system_of(*row.a_case), costs);
        if (is_first) continue;
        if (const auto solves = solves_to_pay_off(baseline->second, costs)) cells.back() = fmt::format("{}", *solves);
    }
    return cells;
}

std::vector<Cell> result_cells(const RecordData& record, const Cell& pays_off) {
    const bool solved = !record.solves.empty();
    const SolveReport last = solved ? record.solves.back().report : SolveReport{};
    const double scale = last.b_norm > 0.0 ? last.b_norm : 1.0;
    const Costs costs = costs_of(record);
    Index modified = 0;
    for (const SolveRow& row : record.solves) modified += row.setup.pivots_modified;
    return {
        solved ? fmt::format("{}", record.solves.back().unknowns) : "",
        fmt::format("{}", record.solves.size()),
        fmt::format("{}", costs.iterations),
        solved ? to_string(last.reason) : "",
        solved ? real(last.true_residual / scale) : "",
        real(costs.setup),
        real(costs.solve),
        costs.iterations > 0 ? real(costs.per_iteration()) : "",
        fmt::format("{}", costs.parts),
        costs.places,
        fmt::format("{}", modified),
        fmt::format("{}", costs.memory),
        pays_off,
    };
}

/// Columns that only general matrices fill: their patterns, with rows in the order in which they are solved, and times
/// of reading, ordering and the parts of all set-ups.
std::vector<Column> general_columns() {
    using K = Column::Kind;
    return {
        {"rows", {"1", "block rows of the matrix"}, K::count},
        {"entries", {"1", "stored blocks of the matrix; with one unknown a row, its entries"}, K::count},
        {"lower_bandwidth", {"1", "largest i - j of a block (i, j)"}, K::count},
        {"upper_bandwidth", {"1", "largest j - i of a block (i, j)"}, K::count},
        {"lower_levels", {"1", "levels of the rows by the blocks below the diagonal"}, K::count},
        {"upper_levels", {"1", "levels of the rows by the blocks above the diagonal"}, K::count},
        {"rows_a_level", {"1", "rows / lower_levels"}, K::real},
        {"symmetry", {"1", "symmetric (the matrix), symmetric pattern or unsymmetric pattern"}, K::text},
        {"reading_seconds", {"s", "wall time of reading the matrix from its file"}, K::real, true},
        {"blocks_seconds", {"s", "wall time of looking for its blocks"}, K::real, true},
        {"matching_seconds", {"s", "wall time of matching its rows"}, K::real, true},
        {"ordering_seconds", {"s", "wall time of ordering its rows"}, K::real, true},
        {"symbolic_seconds", {"s", "symbolic part of setup_seconds"}, K::real, true},
        {"numeric_seconds", {"s", "numeric part of setup_seconds"}, K::real, true},
    };
}

std::vector<Cell> general_cells(const RecordData& record) {
    if (!record.pattern) return std::vector<Cell>(general_columns().size());
    const PatternStatistics& s = *record.pattern;
    const auto seconds = [&](const std::string& timer) {
        for (const TimerRow& row : record.timers)
            if (row.name == timer) return real(row.seconds);
        return Cell();
    };
    return {
        fmt::format("{}", s.rows),
        fmt::format("{}", s.blocks),
        fmt::format("{}", s.lower_bandwidth),
        fmt::format("{}", s.upper_bandwidth),
        fmt::format("{}", s.lower_levels),
        fmt::format("{}", s.upper_levels),
        real(s.rows_a_lower_level()),
        symmetry_text(s, record.symmetric),
        seconds(timer_of({"reading", 0.0})),
        seconds(timer_of({"blocks", 0.0})),
        seconds(timer_of({"matching", 0.0})),
        seconds(timer_of({"ordering", 0.0})),
        seconds(symbolic_timer),
        seconds(numeric_timer),
    };
}

std::set<std::string> norms_of(const std::vector<Row>& rows) {
    std::set<std::string> names;
    for (const Row& row : rows)
        if (row.state.record)
            for (const ErrorNorm& norm : row.state.record->verification) names.insert(norm.name);
    return names;
}

Cell norm_of(const CaseState& state, const std::string& name) {
    if (state.record)
        for (const ErrorNorm& norm : state.record->verification)
            if (norm.name == name) return real(norm.value);
    return "";
}

/// The table: each case with its varied keys, its results and its error norms.
struct Table {
    std::vector<Column> columns;
    std::vector<Row> rows;
};

Table make_table(const Study& study) {
    using K = Column::Kind;
    Table table;
    for (const StudyCase& a_case : study.cases) table.rows.push_back({&a_case, look_at(a_case), {}});
    const auto norms = norms_of(table.rows);
    table.columns = {{"case", {"1", "number of the case"}, K::count},
                     {"name", {"1", "name of the case"}, K::text},
                     {"hash", {"1", "of its resolved deck"}, K::text},
                     {"status", {"1", "done, failed, or why there is no result"}, K::text},
                     {"exit_code", {"1", "of the run; none if it has not ended"}, K::count}};
    for (const CaseAxis& axis : study.varied.axes)
        table.columns.push_back({axis.name(), {"1", "value of this key; empty if it does not apply"}, K::text});
    std::vector<Column> results = result_columns();
    for (Column& column : results) column.is_figure = column.kind != K::text;
    const bool general = std::ranges::any_of(
        table.rows, [](const Row& row) { return row.state.record && row.state.record->pattern.has_value(); });
    if (general) std::ranges::move(general_columns(), std::back_inserter(results));
    table.columns.insert(table.columns.end(), results.begin(), results.end());
    for (const std::string& norm : norms)
        table.columns.push_back({"error_" + norm, {"1", "error norm"}, K::real, true});
    table.columns.push_back({"record", {"1", "file of the record"}, K::text});

    const std::vector<Cell> pays_off = solves_that_pay(table.rows);
    for (Row& row : table.rows) {
        const StudyCase& c = *row.a_case;
        const auto& record = row.state.record;
        row.cells = {fmt::format("{}", c.number), c.name, c.hash, to_string(row.state.status),
                     record ? fmt::format("{}", record->exit_code) : ""};
        for (const CaseAxis& axis : study.varied.axes) {
            const auto at = c.values.find(axis.name());
            row.cells.push_back(at == c.values.end() ? "" : at->second);
        }
        std::vector<Cell> cells = record ? result_cells(*record, pays_off[std::size_t(&row - table.rows.data())])
                                         : std::vector<Cell>(results.size());
        if (record && general) std::ranges::move(general_cells(*record), std::back_inserter(cells));
        row.cells.insert(row.cells.end(), cells.begin(), cells.end());
        for (const std::string& norm : norms) row.cells.push_back(norm_of(row.state, norm));
        row.cells.push_back(c.record);
    }
    return table;
}

/// Figures of merit, one a line: "fom CASE FIGURE = VALUE UNIT", without the unit where it is 1. The last lines are
/// about the whole study.
std::string figures_of_merit(const Table& table) {
    std::string text;
    int succeeded = 0, failed = 0;
    for (const Row& row : table.rows) {
        if (!row.state.has_result()) continue;
        ++(row.state.record->exit_code == 0 ? succeeded : failed);
        for (std::size_t at = 0; at < table.columns.size(); ++at) {
            const Column& column = table.columns[at];
            if (!column.is_figure || row.cells[at].empty()) continue;
            const std::string units = column.label.units;
            text += fmt::format("fom {} {} = {}{}\n", row.a_case->name, column.name, row.cells[at],
                                units == "1" ? "" : " " + units);
        }
    }
    const int cases = int(table.rows.size());
    return text + fmt::format(
                      "fom study cases = {}\nfom study succeeded = {}\nfom study failed = {}\nfom study missing = {}\n",
                      cases, succeeded, failed, cases - succeeded - failed);
}

/// A field of a CSV file, quoted as RFC 4180 requires.
std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == text.npos) return text;
    std::string quoted = "\"";
    for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
}

std::string to_csv(const Table& table) {
    std::string text;
    const auto line = [&](const auto& items, const auto& field) {
        for (const auto& item : items) text += fmt::format("{},", csv_field(field(item)));
        text.back() = '\n';
    };
    line(table.columns, [](const Column& column) { return column.name; });
    for (const Row& row : table.rows) line(row.cells, [](const Cell& cell) { return cell; });
    return text;
}

void write_column(const hdf5::Group& group, const Column& column, std::vector<Cell> cells) {
    if (column.kind == Column::Kind::text) return group.dataset(column.name, column.label, cells);
    if (column.kind == Column::Kind::count) {
        std::vector<Index> numbers;
        for (const Cell& cell : cells) numbers.push_back(cell.empty() ? -1 : std::stoll(cell));
        return group.dataset(column.name, column.label, numbers);
    }
    std::vector<double> numbers;
    for (const Cell& cell : cells) numbers.push_back(cell.empty() ? none : std::stod(cell));
    group.dataset(column.name, column.label, numbers);
}

/// Everything in one file: the table in /cases, the whole record of each case in /records/NAME.
std::vector<char> hdf5_image(const Study& study, Table& table, const std::string& path) {
    const hdf5::Quiet quiet;
    const hdf5::Id file = hdf5::create_in_memory();
    const hdf5::Group root = hdf5::Group::root(file, hdf5::Mode::write, path);
    int schema = 2;
    std::string name = study.name, source = study.cases.front().deck.source, version = build_info().version;
    root.attribute("study_schema_version", schema);
    root.attribute("study", name);
    root.attribute("code_version", version);
    root.scalar("source", {"1", "the study's file as it was read"}, source);
    const hdf5::Group cases = root.group("cases");
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        std::vector<Cell> cells;
        for (const Row& row : table.rows) cells.push_back(row.cells[c]);
        write_column(cases, table.columns[c], std::move(cells));
    }
    const hdf5::Group records = root.group("records");
    for (Row& row : table.rows)
        if (row.state.record) transfer_record(records.group(row.a_case->name), *row.state.record);
    return hdf5::image_of(file);
}

/// The common part of the names of both files, of which the user may have given either.
std::string without_extension(const std::string& name) {
    const std::string extension = std::filesystem::path(name).extension().string();
    return extension == ".h5" || extension == ".csv" ? name.substr(0, name.size() - extension.size()) : name;
}

}  // namespace

int study_collect(const Study& study, const Invocation& invocation) {
    refuse_other_study(study);
    const std::string output = invocation.has("output") ? without_extension(invocation.value("output")) : study.folder;
    const std::string image_path = output + ".h5", csv_path = output + ".csv";
    const Overwrite overwrite = invocation.overwrite();
    require_writable(image_path, FileKind::study, overwrite);
    require_writable(csv_path, FileKind::csv, overwrite);
    refuse_one_file_of_two({image_path, csv_path}, "study collect", "remove the link, or give -o another name");
    Table table = make_table(study);
    int results = 0;
    for (const Row& row : table.rows) results += row.state.has_result();
    if (results == 0)
        throw FileError(fmt::format(
            "{0}: none of its {1} has a result, so nothing is written; hyperplane study run {2} computes them, "
            "hyperplane study status {2} says what became of each",
            study.file, counted(Index(table.rows.size()), "case"), shown_argument(study.file)));
    const std::vector<char> image = hdf5_image(study, table, image_path);
    write_sealed(image_path, image, {FileKind::study}, overwrite);
    write_atomically(csv_path, to_csv(table), FileKind::csv, overwrite);
    fmt::print("{}, {}: {} of {} cases have a result\n", image_path, csv_path, results, table.rows.size());
    if (invocation.has("fom")) fmt::print("{}", figures_of_merit(table));
    return int(ExitCode::ok);
}

}  // namespace hyperplane
