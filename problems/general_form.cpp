// SPDX-License-Identifier: BSD-3-Clause
#include "problems/general_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "core/error.hpp"
#include "core/interfaces/given_order.hpp"
#include "core/timer.hpp"

namespace hyperplane {
namespace {

constexpr const char* general_label = "general form";

class GeneralForm final : public Problem {
public:
    /// `order`: of the rows; null for natural order.
    GeneralForm(std::shared_ptr<const Problem> problem, const Context& context,
                const std::shared_ptr<const RowOrder>& order)
        : Problem(problem->shape()),
          problem_(std::move(problem)),
          context_(context),
          layout_(LayoutKind::natural, shape_.grid, shape_.stencil.level_map()),
          matrix_(context, layout_, shape_.stencil, shape_.dof,
                  shape_.symmetric ? MatrixStorage::lower : MatrixStorage::full, general_label) {
        GridPattern made = grid_pattern(context.host(), shape_.grid, shape_.stencil);
        if (order) put_in_order(made, order);
        shape_.pattern = std::move(made.pattern);
        entry_ = copied_to(context, general_label, made.entry);
        for (Vector* vector : {&u_, &other_}) *vector = Vector(context, layout_, shape_.dof, general_label);
        if (shape_.regime != Regime::steady)
            for (Vector* vector : {&old_, &older_}) *vector = Vector(context, layout_, shape_.dof, general_label);
    }

    void initial_state(Vector& u) const override {
        problem_->initial_state(u_);
        copy_rows(u_, place_, u);
    }
    double time_step(const Vector& u) const override { return problem_->time_step(on_grid(u)); }
    CflRange cfl_range() const override { return problem_->cfl_range(); }
    void residual(const Vector& u, const TimeLevel& level, Vector& f) const override {
        problem_->residual(on_grid(u), on_grid(level), other_);
        copy_rows(other_, place_, f);
    }
    void jacobian(const Vector& u, const TimeLevel& level, SystemMatrix& a) const override {
        problem_->jacobian(on_grid(u), on_grid(level), matrix_);
        copy_values(matrix_, entry_, place_, general(a));
    }
    void preconditioner_jacobian(const Vector& u, const TimeLevel& level, SystemMatrix& p) const override {
        problem_->preconditioner_jacobian(on_grid(u), on_grid(level), matrix_);
        copy_values(matrix_, entry_, place_, general(p));
    }
    double suggested_shift(const TimeLevel& level) const override { return problem_->suggested_shift(on_grid(level)); }
    double admissible_step(const Vector& u, const Vector& du) const override {
        copy_rows(du, place_, other_);
        return problem_->admissible_step(on_grid(u), other_);
    }
    std::optional<BadState> bad_state(const Vector& u) const override { return problem_->bad_state(on_grid(u)); }
    std::vector<Diagnostic> diagnostics(const Vector& u) const override { return problem_->diagnostics(on_grid(u)); }
    std::vector<std::string> diagnostic_names() const override { return problem_->diagnostic_names(); }
    double courant_number(const Vector& u, double dt) const override {
        return problem_->courant_number(on_grid(u), dt);
    }
    std::vector<Field> fields() const override { return problem_->fields(); }
    std::vector<ErrorNorm> errors(const Vector& u, double time) const override {
        Vector there(context_.host(), layout_, shape_.dof, general_label);
        from_natural(in_given_order(shape_, u), there);
        return problem_->errors(there, time);
    }
    std::vector<std::string> error_names() const override { return problem_->error_names(); }
    std::unique_ptr<Problem> in_order(const std::shared_ptr<const RowOrder>& order) const override {
        return std::make_unique<GeneralForm>(problem_, context_, order);
    }
    std::vector<Preparation> preparation() const override {
        std::vector<Preparation> all = problem_->preparation();
        if (shape_.order()) all.push_back({"ordering", ordering_seconds_});
        return all;
    }
    std::vector<std::string> warnings() const override { return problem_->warnings(); }

private:
    void put_in_order(GridPattern& made, const std::shared_ptr<const RowOrder>& order) {
        const auto begin = std::chrono::steady_clock::now();
        ReorderedPattern reordered = hyperplane::in_order(*made.pattern, order, general_label);
        std::vector<unsigned char> entry(made.entry.size());
        for (Index at = 0; at < reordered.from.size(); ++at) entry[at] = made.entry[reordered.from[at]];
        made = {std::move(reordered.pattern), std::move(entry)};
        place_ = copied_to(context_, general_label, std::vector<int>(order->place.begin(), order->place.end()));
        ordering_seconds_ = order->seconds + seconds_since(begin);
    }
    const Vector& on_grid(const Vector& u) const {
        copy_rows(u, place_, u_);
        return u_;
    }
    TimeLevel on_grid(TimeLevel level) const {
        if (level.old) copy_rows(*level.old, place_, old_), level.old = &old_;
        if (level.older) copy_rows(*level.older, place_, older_), level.older = &older_;
        return level;
    }

    std::shared_ptr<const Problem> problem_;
    Context context_;
    Layout layout_;
    mutable StructMatrix matrix_;
    mutable Vector u_, other_, old_, older_;
    Buffer<unsigned char> entry_;
    Buffer<int> place_;  ///< as in RowOrder; empty for natural order
    double ordering_seconds_ = 0.0;
};

}  // namespace

GridPattern grid_pattern(const Context& host, const Grid& grid, const Stencil& stencil) {
    const Index rows = grid.points();
    if (rows > most_block_rows)
        throw UsageError(
            fmt::format("grid.cells: {} points are more than the {} block rows of a general matrix; use "
                        "matrix.format = structured",
                        rows, most_block_rows));
    const auto neighbours = [&](Index row, auto&& body) {
        const Int3 point = grid.point(row);
        for (int e = 0; e < stencil.size(); ++e)
            if (const Int3 q = grid.wrapped(point + stencil[e]); grid.contains(q)) body(int(grid.row(q)), e);
    };
    Buffer<Index> row_begin(host, general_label, rows + 1);
#pragma omp parallel for schedule(static) num_threads(host.threads_for(rows))
    for (Index row = 0; row < rows; ++row) neighbours(row, [&](int, int) { ++row_begin[row + 1]; });
    for (Index row = 0; row < rows; ++row) row_begin[row + 1] += row_begin[row];
    Buffer<int> column(host, general_label, row_begin[rows]);
    GridPattern made{nullptr, std::vector<unsigned char>(std::size_t(row_begin[rows]))};
#pragma omp parallel for schedule(static) num_threads(host.threads_for(rows))
    for (Index row = 0; row < rows; ++row) {
        std::array<std::pair<int, int>, 125> found;
        int count = 0;
        neighbours(row, [&](int q, int e) { found[count++] = {q, e}; });
        std::sort(found.begin(), found.begin() + count);
        for (int at = 0; at < count; ++at) {
            column[row_begin[row] + at] = found[at].first;
            made.entry[row_begin[row] + at] = static_cast<unsigned char>(found[at].second);
        }
    }
    made.pattern = std::make_shared<const BlockPattern>(std::move(row_begin), std::move(column));
    return made;
}

std::unique_ptr<Problem> general_form(std::shared_ptr<const Problem> problem, const Context& context) {
    return std::make_unique<GeneralForm>(std::move(problem), context, nullptr);
}

}  // namespace hyperplane
