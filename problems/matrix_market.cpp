// SPDX-License-Identifier: BSD-3-Clause
#include "problems/matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/vector/blas1.hpp"
#include "problems/domain.hpp"
#include "problems/error_norms.hpp"
#include "problems/matrix_input.hpp"
#include "problems/matrix_market_rows.hpp"
#include "problems/time_parameters.hpp"

namespace hyperplane {
namespace {

constexpr int radius = 2;

/// Offset from the point of `row` to that of `column`, by the shorter way along periodic axes.
Int3 offset_between(const Grid& grid, int dof, Index row, Index column) {
    const auto shortest = [](int d, int n, bool periodic) {
        if (!periodic) return d;
        return 2 * d > n ? d - n : 2 * d < -n ? d + n : d;
    };
    const Int3 o = grid.point(column / dof) + -grid.point(row / dof);
    return {shortest(o.x, grid.nx, grid.periodic[0]), shortest(o.y, grid.ny, grid.periodic[1]),
            shortest(o.z, grid.nz, grid.periodic[2])};
}

Stencil stencil_of(const CsrMatrix& csr, const Grid& grid, int dof, const std::string& file) {
    constexpr int side = 2 * radius + 1;
    std::array<bool, side * side * side> met{};
    for (Index row = 0; row < csr.rows; ++row)
        for (Index at = csr.row_begin[row]; at < csr.row_begin[row + 1]; ++at) {
            const Int3 o = offset_between(grid, dof, row, csr.column[at]);
            if (std::max({std::abs(o.x), std::abs(o.y), std::abs(o.z)}) > radius)
                throw UsageError(fmt::format(
                    "{}: the entry at row {}, column {} couples points at offset ({}, {}, {}) of a {} x {} x {} grid "
                    "with {} a point, and no stencil of radius {} holds it; check grid.cells and problem.dof, and that "
                    "the matrix numbers points with x fastest; problem.name = matrix takes any pattern",
                    file, row + 1, csr.column[at] + 1, o.x, o.y, o.z, grid.nx, grid.ny, grid.nz,
                    counted(dof, "unknown"), radius));
            met[(o.x + radius) + side * ((o.y + radius) + side * (o.z + radius))] = true;
        }
    std::vector<Int3> offsets;
    for (int at = 0; at < int(met.size()); ++at)
        if (met[at]) offsets.push_back({at % side - radius, at / side % side - radius, at / (side * side) - radius});
    return Stencil::closure(std::move(offsets));
}

StructMatrix held_matrix(const Context& context, const SystemShape& shape, const CsrMatrix& csr) {
    const auto make = [&](const Context& where) {
        return StructMatrix(where, Layout(LayoutKind::natural, shape.grid, {}), shape.stencil, shape.dof,
                            shape.symmetric ? MatrixStorage::lower : MatrixStorage::full, "matrix of the file");
    };
    StructMatrix made = make(context.host());
    made.assign(csr);
    if (context.backend() == Backend::cpu) return made;
    StructMatrix held = make(context);
    held.assign(made);
    return held;
}

/// b in natural order; A 1 if none is given.
Buffer<double> held_rhs(const Context& context, const CsrMatrix& csr, const std::vector<double>& rhs) {
    const std::string label = "right-hand side of the file";
    Buffer<double> made(context.host(), label, csr.rows);
    std::copy(rhs.begin(), rhs.end(), made.begin());
    for (Index row = 0; row < csr.rows && rhs.empty(); ++row)
        for (Index at = csr.row_begin[row]; at < csr.row_begin[row + 1]; ++at) made[row] += csr.value[at];
    return moved_to(context, label, std::move(made));
}

/// The warning about a b = A 1 that tells little of the matrix.
std::string warning_about_rows(const CsrMatrix& csr) {
    std::vector<double> sums(std::size_t(csr.rows), 0.0);
    double largest = 0.0;
    for (Index row = 0; row < csr.rows; ++row)
        for (Index at = csr.row_begin[row]; at < csr.row_begin[row + 1]; ++at) {
            sums[row] += csr.value[at];
            largest = std::fmax(largest, std::abs(csr.value[at]));
        }
    return product_warning(sums, largest);
}

/// The system, copied to memory that the ledger counts; the arrays read from the file are released afterwards.
class FileSystem final : public Problem {
public:
    /// `rhs` is in natural order, dof fastest; if it is empty, b = A 1.
    FileSystem(const Context& context, SystemShape shape, const CsrMatrix& csr, const std::vector<double>& rhs,
               std::vector<std::string> warnings)
        : Problem(std::move(shape)),
          matrix_(held_matrix(context, shape_, csr)),
          rhs_(held_rhs(context, csr, rhs)),
          solution_is_one_(rhs.empty()),
          warnings_(std::move(warnings)) {
        if (std::string text = rhs.empty() ? warning_about_rows(csr) : ""; !text.empty())
            warnings_.push_back(std::move(text));
    }

    void initial_state(Vector& u) const override { set_zero(u); }
    void residual(const Vector& u, const TimeLevel&, Vector& f) const override {
        residual_of_rows(matrix_, rhs_.data(), u, f);
    }
    void jacobian(const Vector&, const TimeLevel&, SystemMatrix& a) const override {
        copy_rows(matrix_, structured(a));
    }
    std::vector<Field> fields() const override {
        std::vector<Field> all = Problem::fields();
        if (solution_is_one_) add_error_fields(all, shape_.components, [](int, Int3, double) { return 1.0; });
        return all;
    }
    std::vector<ErrorNorm> errors(const Vector& u, double) const override {
        if (!solution_is_one_) return {};
        return error_norms(u, shape_.grid, [](Int3) { return 1.0; });
    }
    std::vector<std::string> error_names() const override { return names_of_error_norms(solution_is_one_); }
    std::vector<std::string> warnings() const override { return warnings_; }

private:
    StructMatrix matrix_;  ///< natural layout
    Buffer<double> rhs_;   ///< natural order, dof fastest
    bool solution_is_one_;
    std::vector<std::string> warnings_;  ///< about the file and b = A 1
};

}  // namespace

ParameterTable matrix_market_parameters() {
    return {
        {.section = "problem",
         .key = "matrix",
         .type = ParameterType::path,
         .default_value = "",
         .description =
             "file of the matrix, rows point by point with x fastest; grid.cells says how many points it has. Matrix "
             "Market coordinate format (real, integer or pattern; general, symmetric or skew-symmetric) or PETSc "
             "binary (AIJ or BAIJ), also compressed by gzip",
         .required = true},
        {.section = "problem",
         .key = "right_hand_side",
         .type = ParameterType::path,
         .default_value = "",
         .description =
             "file of b, a Matrix Market array or the first vector of a PETSc binary file; where none is given "
             "b = A 1, whose solution is 1"},
        {.section = "problem",
         .key = "symmetry",
         .type = ParameterType::choice,
         .default_value = "by_file",
         .description = "what the entries of the file are: symmetric, one triangle, whose mirror image is filled in; "
                        "general, all of them; by_file, what its banner says. Where there is a banner, symmetric and "
                        "general must not contradict it. A file without banner is general, but refused where its "
                        "entries lie in one triangle, which may mean either",
         .choices = {"by_file", "symmetric", "general"}},
        repeated_entries_key(),
        {.section = "problem",
         .key = "dof",
         .type = ParameterType::integer,
         .default_value = "1",
         .description = "unknowns a point, side by side in the matrix",
         .minimum = Bound{1},
         .maximum = Bound{max_dof}},
    };
}

std::unique_ptr<Problem> create_matrix_market(const Parameters& parameters, const Context& context,
                                              const InputFiles& files) {
    refuse_time_keys(parameters, "matrix_market is one linear system");
    if (!parameters.is_given("grid", "cells"))
        throw UsageError(
            "grid.cells is missing: matrix_market needs the points along x, y and z that the rows stand for; a matrix "
            "without a grid is problem.name = matrix with file = in place of matrix =");
    const Domain domain = make_domain(parameters, Centring::cell);
    const int dof = int(parameters.integer("problem", "dof"));
    const std::string& file = parameters.text("problem", "matrix");
    const InputMatrix input = read_input_matrix(parameters, "matrix", files);
    const CsrMatrix& csr = input.csr;
    const Grid& grid = domain.grid;
    if (csr.rows != grid.points() * dof)
        throw UsageError(
            fmt::format("{}: {} has {} rows, but {} x {} x {} points with {} each make {}; change "
                        "grid.cells or problem.dof",
                        parameters.where("grid", "cells"), file, csr.rows, grid.nx, grid.ny, grid.nz,
                        counted(dof, "unknown"), grid.points() * dof));
    std::vector<double> rhs;
    if (parameters.is_set("problem", "right_hand_side")) rhs = read_input_vector(parameters, files, csr.rows);
    check_solvable(csr, dof, rhs, parameters.where("problem", "right_hand_side"), true);
    const bool symmetric = !first_unsymmetric(csr);
    SystemShape shape{.grid = grid,
                      .stencil = stencil_of(csr, grid, dof, parameters.where("problem", "matrix")),
                      .dof = dof,
                      .symmetric = symmetric,
                      .components = {},
                      .unsymmetric_entry = symmetric ? "" : unsymmetric_text(csr, dof)};
    for (int c = 0; c < dof; ++c) shape.components.push_back(dof == 1 ? "u" : fmt::format("u{}", c));
    return std::make_unique<FileSystem>(context, std::move(shape), csr, rhs, input.warnings);
}

}  // namespace hyperplane
