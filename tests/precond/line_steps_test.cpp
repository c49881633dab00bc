// SPDX-License-Identifier: BSD-3-Clause
// Lines of one unknown on a CPU that are long enough for one pass: solves of struct_ilu, steps of a smoother, and
// multigrid's restriction and prolongation.
#include <gtest/gtest.h>

#include "precond/multigrid/interpolation.hpp"
#include "precond/smoother_passes.hpp"
#include "precond/support.hpp"
#include "reference/equal_lines.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using reference::relative_difference;
using reference::StencilMatrix;

struct LineCase {
    StencilMatrix data;
    StructMatrix a;

    LineCase(const std::string& stencil, const Box& box, MatrixStorage storage, int threads = 1)
        : data(storage == MatrixStorage::full
                   ? reference::random_matrix(box, reference::stencil_named(stencil).offsets, 1, 31)
                   : reference::random_spd_matrix(box, reference::stencil_named(stencil).offsets, 1, 31)),
          a(reference::to_struct_matrix(Context::cpu(threads), layout_for(LayoutKind::natural, data, stencil, 1), data,
                                        storage, stencil)) {}
};

constexpr int lengths[] = {8, 9, 10, 15, 16, 17, 24, 31};

TEST(LineSolves, EqualTheReferenceForEveryLengthOfALine) {
    for (const char* stencil : {"star7", "diamond13", "box27"})
        for (const int nx : lengths)
            for (const MatrixStorage storage : storages)
                for (const int k : {0, 1}) {
                    const LineCase one(stencil, {nx, 4, 3}, storage);
                    const auto m = make("struct_ilu", one.a, {{"fill_level", std::to_string(k)}});
                    m->setup(one.a);
                    const std::vector<double> r = reference::Random(5).vector(int(one.a.unknowns()));
                    const auto expected = reference::apply_inverse(reference_ilu(one.data, stencil, k), r);
                    EXPECT_LT(relative_difference(apply(*m, one.a, r), expected), 1e-13) << stencil << nx << " " << k;
                }
}

TEST(LineSolves, EqualTheReferenceWhereMostLinesAreEqual) {
    for (const char* stencil : {"star7", "diamond13", "box27"})
        for (const bool symmetric : {false, true})
            for (const Box& box : {Box{9, 13, 6}, Box{17, 6, 13}})
                for (int at = 0; at < box.ny + box.nz; ++at)
                    for (const int k : {0, 1, 2}) {
                        if (k > 0 && at % 6 > 0) continue;
                        const reference::Offset other{1, at < box.ny ? at : 3, at < box.ny ? 3 : at - box.ny};
                        const StencilMatrix data =
                            reference::equal_lines(box, reference::stencil_named(stencil).offsets, 1, symmetric, other);
                        const StructMatrix a = reference::to_struct_matrix(
                            Context::cpu(1), layout_for(LayoutKind::natural, data, stencil, k), data,
                            symmetric ? MatrixStorage::lower : MatrixStorage::full, stencil);
                        const auto m = make("struct_ilu", a, {{"fill_level", std::to_string(k)}});
                        m->setup(a);
                        ASSERT_TRUE(k > 0 || (a.equal_lines() && a.equal_lines()->save_half()));
                        const std::vector<double> r = reference::Random(7).vector(int(a.unknowns()));
                        const auto expected = reference::apply_inverse(reference_ilu(data, stencil, k), r);
                        EXPECT_LT(relative_difference(apply(*m, a, r), expected), 1e-13)
                            << stencil << symmetric << at << " " << k;
                        const SeveralThreads several(a.context(), 3);
                        const auto threads = make("struct_ilu", a, {{"fill_level", std::to_string(k)}});
                        threads->setup(a);
                        EXPECT_EQ(apply(*threads, a, r), apply(*m, a, r)) << stencil << symmetric << at << " " << k;
                    }
}

TEST(LineSolves, EqualTheReferenceInPiecesAndOnPeriodicAxes) {
    for (const Box& box : {Box{1024, 2, 1}, Box{1031, 2, 1}, Box{1040, 2, 1}, Box{17, 5, 5, {true, true, true}}}) {
        const LineCase one("star7", box, MatrixStorage::full);
        const auto m = make("struct_ilu", one.a);
        m->setup(one.a);
        const std::vector<double> r = reference::Random(6).vector(int(one.a.unknowns()));
        const auto expected = reference::apply_inverse(reference_ilu(one.data, "star7", 0), r);
        EXPECT_LT(relative_difference(apply(*m, one.a, r), expected), 1e-13) << reference::name_of(box);
    }
}

/// x + omega M^-1 (b - A x) by a fused step; nothing if there is none.
std::vector<double> fused(const Preconditioner& m, const StructMatrix& a, const std::vector<double>& b,
                          const std::vector<double>& x, double omega) {
    const auto& step = dynamic_cast<const SmootherPasses&>(m);
    Vector result = reference::to_vector(a.context(), a.layout(), 1, x), t(a.context(), a.layout(), 1, "t");
    if (!step.step(reference::to_vector(a.context(), a.layout(), 1, b), omega, result, t)) return {};
    return reference::from_vector(result);
}

TEST(LineSteps, EqualTheOperationsOfAStep) {
    for (const int nx : lengths)
        for (const MatrixStorage storage : storages) {
            const LineCase one("star7", {nx, 5, 3}, storage);
            const auto m = make("struct_ilu", one.a);
            m->setup(one.a);
            const std::vector<double> b = reference::Random(7).vector(int(one.a.unknowns()));
            const std::vector<double> x = reference::Random(8).vector(int(one.a.unknowns()));
            const std::vector<double> got = fused(*m, one.a, b, x, 0.75);
            EXPECT_EQ(got.empty(), nx < 9) << nx;
            if (got.empty()) continue;
            std::vector<double> r = reference::multiply(reference::assembled(one.data), x).value;
            for (std::size_t row = 0; row < r.size(); ++row) r[row] = b[row] - r[row];
            const std::vector<double> z = apply(*m, one.a, r);
            std::vector<double> expected = x;
            for (std::size_t row = 0; row < x.size(); ++row) expected[row] += 0.75 * z[row];
            EXPECT_LT(relative_difference(got, expected), 1e-13) << nx;
        }
}

TEST(LineSteps, HaveTheSameBitsForAnyNumberOfThreads) {
    std::vector<std::vector<double>> solves, steps;
    for (const int threads : {1, 2, 5}) {
        const LineCase one("star7", {19, 23, 7}, MatrixStorage::lower);
        const SeveralThreads several(one.a.context(), threads);
        const auto m = make("struct_ilu", one.a);
        m->setup(one.a);
        const std::vector<double> b = reference::Random(9).vector(int(one.a.unknowns()));
        solves.push_back(apply(*m, one.a, b));
        steps.push_back(fused(*m, one.a, b, solves.back(), 0.95));
        EXPECT_FALSE(steps.back().empty());
        EXPECT_EQ(solves.back(), solves[0]) << threads;
        EXPECT_EQ(steps.back(), steps[0]) << threads;
    }
}

TEST(LineSteps, AreLeftToTheirOperationsWhereNoPassServesTwo) {
    const auto has_none = [](const char* stencil, const Box& box, const Settings& settings) {
        const LineCase one(stencil, box, MatrixStorage::full);
        const auto m = make("struct_ilu", one.a, settings);
        m->setup(one.a);
        const std::vector<double> b = reference::Random(10).vector(int(one.a.unknowns()));
        return fused(*m, one.a, b, b, 1.0).empty();
    };
    EXPECT_TRUE(has_none("star7", {16, 5, 5, {false, true, false}}, {}));
    EXPECT_TRUE(has_none("star7", {16, 5, 5}, {{"storage", "single"}}));
    EXPECT_TRUE(has_none("box27", {16, 5, 5}, {}));
    EXPECT_FALSE(has_none("star7", {16, 5, 5}, {}));
}

TEST(LineTransfers, EqualSumsOverWeightsForEveryLengthOfALine) {
    using namespace multigrid;
    for (int nx = 7; nx <= 36; ++nx)
        for (const bool rounded : {false, true}) {
            const LineCase one("star7", {nx, 5, 4}, MatrixStorage::lower);
            const Coarsening grids(one.a.grid(), {true, true, true});
            Interpolation p(one.a, grids, Layout(LayoutKind::natural, grids.coarse, {}));
            if (rounded) p.round();
            const std::vector<double> weights = p.natural_weights();
            const Grid &fine = grids.fine, &coarse = grids.coarse;
            const std::vector<double> r = reference::Random(11).vector(int(fine.points()));
            const std::vector<double> e = reference::Random(12).vector(int(coarse.points()));
            std::vector<double> restricted(e.size(), 0.0), corrected = r;
            for (Index at = 0; at < coarse.points(); ++at)
                for (int number = 0; number < 27; ++number) {
                    Int3 child;
                    if (!grids.child(coarse.point(at), offset_of(number), child)) continue;
                    const double weight = weights[std::size_t(at * 27 + number)];
                    restricted[at] += weight * r[fine.row(child)];
                    corrected[fine.row(child)] += weight * e[at];
                }
            Vector x = reference::to_vector(one.a.context(), one.a.layout(), 1, r);
            Vector sums(one.a.context(), p.coarse(), 1, "sums");
            p.restrict_to(x, sums);
            EXPECT_LT(relative_difference(reference::from_vector(sums), restricted), 1e-14) << nx << rounded;
            p.add_to(x, reference::to_vector(one.a.context(), p.coarse(), 1, e));
            EXPECT_LT(relative_difference(reference::from_vector(x), corrected), 1e-14) << nx << rounded;
        }
}

}  // namespace
}  // namespace hyperplane
