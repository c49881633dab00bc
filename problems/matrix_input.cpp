// SPDX-License-Identifier: BSD-3-Clause
#include "problems/matrix_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/with_place.hpp"

namespace hyperplane {

namespace {

/// A sum in twice the working precision (Knuth's two-sum), and that of the absolute values of its terms.
struct CoefficientSum {
    double sum = 0.0, low = 0.0, magnitude = 0.0;
    void add(double value) {
        const double before = sum;
        sum += value;
        const double added = sum - before;
        low += (before - (sum - added)) + (value - added);
        magnitude += std::abs(value);
    }
    double value() const { return sum + low; }
    /// Whether it is zero to the rounding of its terms, however many they are; the sum of their magnitudes may
    /// overflow.
    bool is_zero() const {
        return std::abs(value()) <= 1e-13 * std::min(magnitude, std::numeric_limits<double>::max());
    }
};

CoefficientSum sum_of_row(const CsrMatrix& csr, Index row) {
    CoefficientSum sum;
    for (Index at = csr.row_begin[row]; at < csr.row_begin[row + 1]; ++at) sum.add(csr.value[at]);
    return sum;
}

/// Whether the equations of one unknown add up to zero in all columns.
bool columns_add_up_to_zero(const CsrMatrix& csr, int dof, int unknown) {
    CoefficientSum all;  // most matrices need no sum of each column
    for (Index row = unknown; row < csr.rows; row += dof)
        for (Index at = csr.row_begin[row]; at < csr.row_begin[row + 1]; ++at) all.add(csr.value[at]);
    if (!all.is_zero()) return false;
    std::vector<CoefficientSum> column(std::size_t(csr.rows));
    for (Index row = unknown; row < csr.rows; row += dof)
        for (Index at = csr.row_begin[row]; at < csr.row_begin[row + 1]; ++at)
            column[csr.column[at]].add(csr.value[at]);
    return std::ranges::all_of(column, &CoefficientSum::is_zero);
}

bool rows_add_up_to_zero(const CsrMatrix& csr) {
    for (Index row = 0; row < csr.rows; ++row)
        if (!sum_of_row(csr, row).is_zero()) return false;
    return true;
}

/// Whether the block of dof x dof entries that has this place has an entry that is stored.
bool is_stored(const CsrMatrix& csr, int dof, Index row, Index column) {
    const Index first_row = row - row % dof, first_column = column - column % dof;
    for (Index r = first_row; r < first_row + dof; ++r) {
        const auto end = csr.column.begin() + csr.row_begin[r + 1];
        const auto at = std::lower_bound(csr.column.begin() + csr.row_begin[r], end, first_column);
        if (at != end && *at < first_column + dof) return true;
    }
    return false;
}

/// What unsymmetric_text says of the first zero that is stored while nothing is in the mirror image of its block.
std::string unpaired_zero_text(const CsrMatrix& csr, int dof) {
    for (Index row = 0; row < csr.rows; ++row)
        for (Index at = csr.row_begin[row]; at < csr.row_begin[row + 1]; ++at) {
            const Index column = csr.column[at];
            if (!is_stored(csr, dof, column, row))
                return fmt::format("row {0}, column {1} is a zero that is stored, row {1}, column {0} is not stored",
                                   row + 1, column + 1);
        }
    return "";
}

}  // namespace

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

void check_repeated_entries(const Parameters& parameters, bool each_once) {
    const bool adds = parameters.text("problem", "repeated_entries") == "add";
    if (each_once && adds && parameters.is_given("problem", "repeated_entries"))
        throw UsageError(parameters.where("problem", "repeated_entries") +
                         ": a PETSc file gives no entry twice, so there is nothing to add; leave the key out");
}

InputMatrix read_input_matrix(const Parameters& parameters, const char* key, const InputFiles& files) {
    const std::string& file = parameters.text("problem", key);
    return with_place(parameters.where("problem", key), [&] {
        InputMatrix input = files.matrix(file, file_symmetry(parameters));
        check_repeated_entries(parameters, input.each_once);
        if (input.repeated && parameters.text("problem", "repeated_entries") == "refuse")
            throw FileError(fmt::format(
                "{}:{}: row {}, column {} is given already in line {}; set problem.repeated_entries = add if such "
                "entries are to be added",
                file, input.repeated->again, input.repeated->place.row + 1, input.repeated->place.column + 1,
                input.repeated->line));
        return input;
    });
}

double entry_of(const CsrMatrix& csr, Index row, Index column) {
    const auto begin = csr.column.begin() + csr.row_begin[row], end = csr.column.begin() + csr.row_begin[row + 1];
    const auto at = std::lower_bound(begin, end, column);
    return at != end && *at == column ? csr.value[at - csr.column.begin()] : 0.0;
}

std::optional<EntryPlace> first_unsymmetric(const CsrMatrix& csr) {
    for (Index row = 0; row < csr.rows; ++row)
        for (Index at = csr.row_begin[row]; at < csr.row_begin[row + 1]; ++at)
            if (entry_of(csr, csr.column[at], row) != csr.value[at]) return EntryPlace{row, csr.column[at]};
    return std::nullopt;
}

std::string unsymmetric_text(const CsrMatrix& csr, int dof) {
    const std::optional<EntryPlace> place = first_unsymmetric(csr);
    if (!place) return unpaired_zero_text(csr, dof);
    const auto [row, column] = *place;
    return fmt::format("row {}, column {} is {}, row {}, column {} is {}", row + 1, column + 1,
                       entry_of(csr, row, column), column + 1, row + 1, entry_of(csr, column, row));
}

std::vector<double> read_input_vector(const Parameters& parameters, const InputFiles& files, Index rows) {
    const std::string& file = parameters.text("problem", "right_hand_side");
    return with_place(parameters.where("problem", "right_hand_side"), [&] {
        std::vector<double> values = files.vector(file);
        if (Index(values.size()) != rows)
            throw FileError(fmt::format("{} holds {} values, and the matrix has {} rows", file, values.size(), rows));
        return values;
    });
}

std::string zeros_warning(const CsrMatrix& csr) {
    std::vector<char> rows(std::size_t(csr.rows), 0), columns(std::size_t(csr.rows), 0);
    for (Index row = 0; row < csr.rows; ++row)
        for (Index at = csr.row_begin[row]; at < csr.row_begin[row + 1]; ++at)
            if (csr.value[at] != 0.0) rows[row] = columns[csr.column[at]] = 1;
    for (const auto& [name, met] : {std::pair("row", &rows), std::pair("column", &columns)}) {
        const Index zeros = std::count(met->begin(), met->end(), 0);
        if (zeros == 0) continue;
        const Index first = std::find(met->begin(), met->end(), 0) - met->begin();
        return fmt::format(
            "{} {}{} has no coefficient other than zero, so the matrix is singular: most right-hand sides have no "
            "solution, the others many",
            name, first + 1, zeros > 1 ? fmt::format(" (one of {} such {}s)", zeros, name) : "");
    }
    return "";
}

void check_solvable(const CsrMatrix& csr, int dof, const std::vector<double>& rhs, const std::string& key,
                    bool from_file) {
    if (rhs.empty()) return;
    for (int unknown = 0; unknown < dof; ++unknown) {
        const Index points = csr.rows / dof;
        double largest = 0.0, squares = 0.0;
        for (Index row = unknown; row < csr.rows; row += dof) largest = std::max(largest, std::abs(rhs[row]));
        if (largest == 0.0) continue;
        const int exponent = std::ilogb(largest);
        CoefficientSum scaled;  // by a power of two, so that neither it nor the squares overflow
        for (Index row = unknown; row < csr.rows; row += dof) {
            const double value = std::scalbn(rhs[row], -exponent);
            scaled.add(value);
            squares += value * value;
        }
        // No residual is smaller, over ||b||, than that of the sum divided among all rows. What is left of a mean that
        // was removed and then rounded to a few digits may remain.
        if (!(std::abs(scaled.value()) > 1e-6 * std::sqrt(double(points) * squares)) ||
            !columns_add_up_to_zero(csr, dof, unknown))
            continue;
        const double sum = std::scalbn(scaled.value(), exponent);
        const double mean = std::scalbn(scaled.value() / double(points), exponent);
        throw UsageError(fmt::format(
            "{}: the system has no solution: the rows of the matrix{} add up to zero, as they do where no value is "
            "prescribed, but the right-hand side adds up to {:g}. {}",
            key, dof == 1 ? "" : fmt::format(" for unknown {} of each point", unknown), sum,
            from_file ? fmt::format("Subtract its mean, {:g}, from each of its values", mean)
                      : "Give a file of values that add up to zero"));
    }
}

std::string sums_warning(const CsrMatrix& csr, bool of_rows) {
    const char* const name = columns_add_up_to_zero(csr, 1, 0)     ? "column"
                             : of_rows && rows_add_up_to_zero(csr) ? "row"
                                                                   : nullptr;
    if (!name) return "";
    return fmt::format(
        "the entries of each {} of the matrix add up to zero but for rounding, so the matrix is singular or nearly so: "
        "most right-hand sides have no solution, the others many",
        name);
}

std::string product_warning(std::span<const double> product, double largest) {
    const auto [least, most] = std::minmax_element(product.begin(), product.end());
    if (std::fmax(std::abs(*least), std::abs(*most)) <= 1e-14 * largest)
        return "b = A 1 is zero but for rounding, since the entries of each row of the matrix add up to zero but for "
               "rounding: the matrix is singular or nearly so, and x = 0 solves the system about as well as x = 1 "
               "does; problem.right_hand_side gives another b";
    // With a b so close to an eigenvector, one step reaches the usual tolerances.
    if (product.size() > 1 && *most - *least <= 1e-8 * std::abs(*most))
        return fmt::format(
            "b = A 1 is {:g} to eight digits in every row, so b is an eigenvector of the matrix, which Krylov methods "
            "without a preconditioner solve for in one iteration or two: iterations and times say nothing of other "
            "right-hand sides; problem.right_hand_side gives another b",
            *most);
    return "";
}

}  // namespace hyperplane
