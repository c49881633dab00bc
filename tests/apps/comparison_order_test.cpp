// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "apps/compare/data.hpp"

namespace hyperplane {
namespace {

Trial tried(const char* name, std::vector<double> solves) {
    Trial trial;
    trial.name = name;
    trial.tried = trial.solved = true;
    trial.setup.assign(solves.size(), 0.0);
    trial.solve = std::move(solves);
    return trial;
}

std::vector<std::string> names_in_order(const std::vector<Trial>& trials, Index turns_done) {
    std::vector<std::string> names;
    for (const std::size_t at : order_of_rows(trials, turns_done)) names.push_back(trials[at].name);
    return names;
}

TEST(ComparisonOrder, ACandidateWithFewTurnsStandsBelowThoseWithAll) {
    // One pass of `jacobi` was fast, so that `lucky` was left out after its first turn; its turns took long afterwards.
    std::vector<Trial> trials{tried("lucky", {0.016}), tried("slow", {0.030, 0.031, 0.032}),
                              tried("jacobi", {0.004, 0.018, 0.020})};
    EXPECT_EQ(names_in_order(trials, 3), (std::vector<std::string>{"jacobi", "slow", "lucky"}));
}

TEST(ComparisonOrder, FailuresComeLast) {
    Trial failed = tried("failed", {}), refused = failed;
    failed.code = refused.code = ExitCode::not_converged;
    refused.name = "refused";
    refused.solved = false;
    const std::vector<Trial> trials{refused, failed, tried("slow", {0.2, 0.2}), tried("fast", {0.1, 0.1})};
    EXPECT_EQ(names_in_order(trials, 2), (std::vector<std::string>{"fast", "slow", "failed", "refused"}));
}

TEST(Trial, DividesATurnsTimeByItsOwnIterations) {
    Trial trial = tried("varies", {1.0, 6.0, 2.0});
    trial.row.report.iterations = 100;  // of the recording pass
    trial.iterations = {10, 20, 10};
    EXPECT_EQ(trial.per_iteration(), 0.2);
    trial.iterations = {0, 0, 0};
    EXPECT_EQ(trial.per_iteration(), 0.0);
}

}  // namespace
}  // namespace hyperplane
