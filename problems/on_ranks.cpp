// SPDX-License-Identifier: BSD-3-Clause
#include "problems/on_ranks.hpp"

#include <utility>

#include "core/ranks/cuts.hpp"

namespace hyperplane {
namespace {

class OnRanks final : public Problem {
public:
    explicit OnRanks(std::shared_ptr<const Problem> problem)
        : Problem(problem->shape()), problem_(std::move(problem)) {}

    void initial_state(Vector& u) const override { problem_->initial_state(u); }
    double time_step(const Vector& u) const override {
        exchange_halo(u);
        return problem_->time_step(u);
    }
    CflRange cfl_range() const override { return problem_->cfl_range(); }
    void residual(const Vector& u, const TimeLevel& level, Vector& f) const override {
        exchange(u, level);
        problem_->residual(u, level, f);
    }
    void jacobian(const Vector& u, const TimeLevel& level, SystemMatrix& a) const override {
        exchange(u, level);
        problem_->jacobian(u, level, a);
        a.share_halos();
    }
    void preconditioner_jacobian(const Vector& u, const TimeLevel& level, SystemMatrix& p) const override {
        exchange(u, level);
        problem_->preconditioner_jacobian(u, level, p);
        p.share_halos();
    }
    double suggested_shift(const TimeLevel& level) const override { return problem_->suggested_shift(level); }
    double admissible_step(const Vector& u, const Vector& du) const override {
        return problem_->admissible_step(u, du);
    }
    std::optional<BadState> bad_state(const Vector& u) const override { return problem_->bad_state(u); }
    std::vector<Diagnostic> diagnostics(const Vector& u) const override {
        exchange_halo(u);
        return problem_->diagnostics(u);
    }
    std::vector<std::string> diagnostic_names() const override { return problem_->diagnostic_names(); }
    double courant_number(const Vector& u, double dt) const override {
        exchange_halo(u);
        return problem_->courant_number(u, dt);
    }
    std::vector<Field> fields() const override { return problem_->fields(); }
    std::vector<ErrorNorm> errors(const Vector& u, double time) const override { return problem_->errors(u, time); }
    std::vector<std::string> error_names() const override { return problem_->error_names(); }
    std::vector<Preparation> preparation() const override { return problem_->preparation(); }
    std::vector<std::string> warnings() const override { return problem_->warnings(); }
    std::shared_ptr<const RowMatching> row_matching() const override { return problem_->row_matching(); }

private:
    static void exchange(const Vector& u, const TimeLevel& level) {
        exchange_halo(u);
        for (const Vector* before : {level.old, level.older})
            if (before && before != &u) exchange_halo(*before);
    }

    std::shared_ptr<const Problem> problem_;
};

}  // namespace

std::shared_ptr<const Problem> on_ranks(std::shared_ptr<const Problem> problem) {
    return std::make_shared<OnRanks>(std::move(problem));
}

}  // namespace hyperplane
