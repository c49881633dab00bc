// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/preconditioned_system.hpp"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "apps/bench/decks.hpp"
#include "apps/bench/rows.hpp"
#include "apps/run/build_case.hpp"
#include "apps/run/linear_system.hpp"
#include "apps/run/memory_demand.hpp"
#include "apps/run/shared_memory.hpp"
#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "precond/registry.hpp"
#include "precond/scaling/scaled.hpp"

namespace hyperplane {
namespace {

class RandomSystem : public PreconditionedSystem {
public:
    RandomSystem(const Context& context, const BenchCase& setting)
        : PreconditionedSystem(setting.name(), context), setting_(setting) {
        grid_.nx = grid_.ny = grid_.nz = setting.n;
    }
    Made make(const Candidate& candidate, const Parameters& parameters) override {
        const PreconditionerSetting setting{context(), {grid_, setting_.stencil, setting_.dof, setting_.symmetric}};
        const PreconditionerRow& row = find_preconditioner(candidate.preconditioner.name);
        check_storage(row, parameters);
        if (row.needs_symmetry && !setting_.symmetric) {
            BenchCase symmetric = setting_;
            symmetric.symmetric = true;
            throw UsageError(
                fmt::format("{} needs a symmetric matrix, which the case {} has", row.name, symmetric.name()));
        }
        check_matrix(row, setting);
        const PreconditionerPlan plan = row.plan(parameters, setting);
        again_ = [&row, parameters, setting] { return row.create(parameters, setting); };
        return {again_(), plan.space, plan.traits.drops_couplings};
    }
    std::unique_ptr<Preconditioner> make_again() override { return again_(); }
    int dof() const override { return setting_.dof; }
    Index unknowns() const override { return grid_.points() * setting_.dof; }
    const SystemMatrix& matrix(const IndexSpace& space) override {
        if (!matrix_ || !(matrix_->space() == space)) {
            matrix_.reset();
            matrix_.emplace(context(), space.layout(), setting_.stencil, setting_.dof,
                            setting_.symmetric ? MatrixStorage::lower : MatrixStorage::full);
            fill_random(*matrix_);
        }
        return *matrix_;
    }

private:
    BenchCase setting_;
    Grid grid_;
    std::function<std::unique_ptr<Preconditioner>()> again_;
    std::optional<StructMatrix> matrix_;
};

class DeckSystem : public PreconditionedSystem {
public:
    DeckSystem(const Deck& deck, const Parameters& parameters, const Foundation& foundation)
        : PreconditionedSystem(deck.file, foundation.context),
          deck_(deck),
          parameters_(parameters),
          foundation_(foundation) {}
    void require_room() const override {
        if (foundation_.whole) return;  // the matrix has not been divided between the ranks yet
        const SystemShape& shape = foundation_.problem->shape();
        const IndexSpace space = shape.pattern ? IndexSpace::plain(shape.pattern->rows())
                                               : PreconditionerSetting{context(), shape.matrix()}.natural_layout();
        MemoryDemand demand{deck_.file, "bench preconditioners needs at least", {}, advise_on_grid(shape)};
        const Index matrix = bytes_of(shape.matrix(), space, context().backend()), held = context().ledger().held();
        demand.plan.by_label = {{"matrix", matrix}, {"vectors", vectors * bytes_of_vector(space)}};
        if (shape.separate_preconditioner_matrix) demand.plan.by_label["preconditioner matrix"] = matrix;
        if (held > 0) demand.plan.by_label["problem data"] = held;
        require_memory(context(), demand, memory_of_case(context(), parameters_));
    }
    Made make(const Candidate& candidate, const Parameters& parameters) override {
        case_.emplace(build_case(deck_, candidate.overrides, parameters, foundation_));
        require_room_for_candidate();
        case_->plan.kept.reset();  // so that the first set-up is a whole one
        return {std::move(case_->preconditioner), case_->space, case_->plan.traits.drops_couplings};
    }
    std::unique_ptr<Preconditioner> make_again() override {
        return create_scaled(find_preconditioner(case_->name("preconditioner")), case_->parameters,
                             {context(), case_->shape().matrix()});
    }
    int dof() const override { return foundation_.problem->shape().dof; }
    Index unknowns() const override { return foundation_.problem->shape().matrix().unknowns(); }
    std::optional<GeneralMatrixFacts> general_facts() const override {
        const SystemShape& shape = case_->shape();
        if (!shape.pattern) return {};
        return GeneralMatrixFacts{*shape.statistics(), shape.given_statistics(), shape.dof, shape.symmetric,
                                  case_->problem->preparation()};
    }
    std::unique_ptr<PreconditionedSystem> on_one_rank() const override {
        if (!context().ranks()) return nullptr;
        return std::make_unique<DeckSystem>(deck_, parameters_, build_foundation(deck_, parameters_));
    }
    const SystemMatrix& matrix(const IndexSpace& space) override {
        if (!system_ || !(system_->a->space() == space)) {
            system_.reset();
            system_.emplace(make_system(*case_));
            Vector u = case_->make_vector("state: u");
            assemble_first(*case_, u, *system_);
        }
        return system_->preconditioned();
    }
    double suggested_shift() const override { return system_->suggested_shift; }

private:
    static constexpr int vectors = 3;  ///< b, r and M^-1 r

    Index bytes_of_vector(const IndexSpace& space) const {
        return space.slots_in_memory() * dof() * Index(sizeof(double));
    }
    void require_room_for_candidate() const {
        const MemoryRoom room = memory_of_case(context(), case_->parameters);
        const Index mine = bench_plan(*case_, {.preconditioner = true, .solver = false, .vectors = vectors}).total(),
                    needed = together_in_one_memory(context(), mine);
        if (needed > room.bytes)
            throw OutOfMemory(fmt::format("out of memory: it needs {}, and {}", in_mib(needed), room.text));
    }

    Deck deck_;
    Parameters parameters_;
    Foundation foundation_;
    std::optional<Case> case_;
    std::optional<LinearSystem> system_;
};

}  // namespace

std::unique_ptr<PreconditionedSystem> random_system(const Context& context, const BenchCase& setting) {
    return std::make_unique<RandomSystem>(context, setting);
}

std::unique_ptr<PreconditionedSystem> deck_system(const Deck& deck, const Parameters& parameters,
                                                  const std::shared_ptr<Communicator>& rank,
                                                  const std::vector<Candidate>& candidates) {
    std::vector<const Parameters*> cases;
    for (const Candidate& candidate : candidates) cases.push_back(&candidate.parameters);
    return std::make_unique<DeckSystem>(deck, parameters, build_foundation(deck, parameters, rank, cases));
}

}  // namespace hyperplane
