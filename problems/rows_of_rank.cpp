// SPDX-License-Identifier: BSD-3-Clause
#include "problems/rows_of_rank.hpp"

#include <utility>
#include <vector>

#include "core/matrix/bsr_matrix.hpp"
#include "core/matrix/row_cuts.hpp"
#include "core/ranks/slab_ends.hpp"

namespace hyperplane {
namespace {

constexpr const char* rows_label = "rows of a rank";

class RowsOfRank final : public Problem {
public:
    RowsOfRank(std::shared_ptr<const Problem> whole, const Context& context, std::shared_ptr<const BlockPattern> part)
        : Problem(whole->shape()),
          whole_(std::move(whole)),
          context_(context),
          matrix_(context.alone(), shape_.pattern, shape_.dof, shape_.symmetric, rows_label) {
        const IndexSpace all = shape_.pattern->space();
        for (const Index row : row_cuts(*shape_.pattern, shape_.dof, context.ranks()->size(), context.backend()))
            begins_.push_back(row * shape_.dof);
        for (Vector* vector : {&u_, &other_}) *vector = Vector(context.alone(), all, shape_.dof, rows_label);
        if (shape_.regime != Regime::steady)
            for (Vector* vector : {&old_, &older_}) *vector = Vector(context.alone(), all, shape_.dof, rows_label);
        shape_.pattern = std::move(part);
    }

    void initial_state(Vector& u) const override {
        whole_->initial_state(u_);
        take(u_, u);
    }
    double time_step(const Vector& u) const override { return whole_->time_step(all(u)); }
    CflRange cfl_range() const override { return whole_->cfl_range(); }
    void residual(const Vector& u, const TimeLevel& level, Vector& f) const override {
        whole_->residual(all(u), all(level), other_);
        take(other_, f);
    }
    void jacobian(const Vector& u, const TimeLevel& level, SystemMatrix& a) const override {
        whole_->jacobian(all(u), all(level), matrix_);
        take(general(a));
    }
    void preconditioner_jacobian(const Vector& u, const TimeLevel& level, SystemMatrix& p) const override {
        whole_->preconditioner_jacobian(all(u), all(level), matrix_);
        take(general(p));
    }
    double suggested_shift(const TimeLevel& level) const override { return whole_->suggested_shift(all(level)); }
    double admissible_step(const Vector& u, const Vector& du) const override {
        gather(du, other_);
        return whole_->admissible_step(all(u), other_);
    }
    std::optional<BadState> bad_state(const Vector& u) const override { return whole_->bad_state(all(u)); }
    std::vector<Diagnostic> diagnostics(const Vector& u) const override { return whole_->diagnostics(all(u)); }
    std::vector<std::string> diagnostic_names() const override { return whole_->diagnostic_names(); }
    double courant_number(const Vector& u, double dt) const override { return whole_->courant_number(all(u), dt); }
    std::vector<Field> fields() const override { return whole_->fields(); }
    std::vector<ErrorNorm> errors(const Vector& u, double time) const override { return whole_->errors(all(u), time); }
    std::vector<std::string> error_names() const override { return whole_->error_names(); }
    std::vector<Preparation> preparation() const override { return whole_->preparation(); }
    std::vector<std::string> warnings() const override { return whole_->warnings(); }

private:
    void copy(const double* from, double* to, Index count) const {
        copy_between(context_, from, context_, to, count * Index(sizeof(double)));
    }
    /// The values of all ranks.
    void gather(const Vector& mine, Vector& all) const {
        if (context_.backend() == Backend::cpu)
            return context_.ranks()->all_gather({mine.data(), std::size_t(mine.size())},
                                                {all.data(), std::size_t(all.size())});
        copy(mine.data(), all.data() + begins_[context_.ranks()->rank()], mine.size());
        gather_slots(context_, begins_, 1, all.data(), 0);
    }
    const Vector& all(const Vector& u) const {
        gather(u, u_);
        return u_;
    }
    TimeLevel all(TimeLevel level) const {
        if (level.old) gather(*level.old, old_), level.old = &old_;
        if (level.older) gather(*level.older, older_), level.older = &older_;
        return level;
    }
    void take(const Vector& all, Vector& mine) const {
        copy(all.data() + mine.space().first_block_row() * mine.dof(), mine.data(), mine.size());
    }
    void take(BsrMatrix& mine) const {
        const Index first = matrix_.pattern()->row_begin()[mine.space().first_block_row()] * mine.dof() * mine.dof();
        copy(matrix_.values() + first, mine.values(), mine.nonzeros());
    }

    std::shared_ptr<const Problem> whole_;
    Context context_;
    mutable BsrMatrix matrix_;  ///< of all rows
    mutable Vector u_, other_, old_, older_;
    std::vector<Index> begins_;  ///< [rank]: its first value in a vector of all rows; then the number of all values
};

}  // namespace

std::shared_ptr<const Problem> rows_of_rank(std::shared_ptr<const Problem> whole, const Context& context) {
    const SystemShape& shape = whole->shape();
    auto part = rows_of_rank(context, shape.pattern, shape.dof, rows_label);
    if (auto made = whole->of_rank(context, part)) return made;
    return std::make_shared<RowsOfRank>(std::move(whole), context, std::move(part));
}

}  // namespace hyperplane
