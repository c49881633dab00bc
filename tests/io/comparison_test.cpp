// SPDX-License-Identifier: BSD-3-Clause
// A comparison that is written and read is the same; a file that is not one is refused with its name.
#include "io/comparison.hpp"

#include <gtest/gtest.h>

#include "io/file_error.hpp"
#include "io/hdf5_file.hpp"
#include "io/record_sample.hpp"
#include "io/scratch.hpp"

namespace hyperplane {
namespace {

ComparisonData sample_comparison(const std::string& path) {
    ComparisonData c;
    c.path = path;
    c.code_version = "0.1.0";
    c.git_sha = "abc123";
    c.deck_file = "deck.ini";
    c.exit_code = 3;
    c.baseline = "cg+jacobi";
    c.best = "cg+struct_ilu:fill_level=1";
    c.recommendation = "two\nlines\n";
    c.compile_seconds = 12.5;
    c.system = {{"problem", "poisson"}, {"fingerprint", "0123456789abcdef"}};
    ComparisonRow row;
    row.name = c.best;
    row.solver = "cg";
    row.preconditioner = "struct_ilu:fill_level=1";
    row.outcome = "converged_atol";
    row.iterations = 7;
    row.iterations_least = 6;
    row.iterations_most = 9;
    row.relative_residual = 1e-9;
    row.turns = 5;
    row.setup = {1.0, 0.5, 1.5};
    row.solve = {2.0, 1.75, 2.5};
    row.total = {3.0, 2.25, 4.0};
    row.per_iteration = 0.25;
    row.preconditioner_share = 0.125;
    row.peak = 3000000000;
    row.predicted = 3000000001;
    row.ratio = 0.75;
    row.pays_off_from = 17;
    row.beaten = 4;
    row.repeatable = 0;
    ComparisonRow failed;
    failed.name = "cg+a:path=x/y";
    failed.outcome = "refused";
    failed.reason = "why";
    failed.exit_code = 2;
    c.rows = {row, failed};
    c.left_out = {{"cg+none", "because"}};
    c.records = {begin_record(path, sample_header()), begin_record(path, sample_header())};
    c.records[0].solves = {sample_solve()};
    c.records[0].histories = {{{0, 1.0, 1.0, 0.0}}};
    return c;
}

TEST(Comparison, ComesBackAsItWas) {
    const Scratch scratch;
    ComparisonData written = sample_comparison(scratch.path("c.h5"));
    write_comparison(written);
    const ComparisonData c = read_comparison(scratch.path("c.h5"));
    EXPECT_EQ(c.code_version, "0.1.0");
    EXPECT_EQ(c.git_sha, "abc123");
    EXPECT_EQ(c.deck_file, "deck.ini");
    EXPECT_EQ(c.exit_code, 3);
    EXPECT_EQ(c.baseline, "cg+jacobi");
    EXPECT_EQ(c.best, "cg+struct_ilu:fill_level=1");
    EXPECT_EQ(c.recommendation, "two\nlines\n");
    EXPECT_EQ(c.system, written.system);
    EXPECT_EQ(c.compile_seconds, 12.5);
    ASSERT_EQ(c.rows.size(), 2u);
    const ComparisonRow& row = c.rows[0];
    EXPECT_EQ(row.name, c.best);
    EXPECT_EQ(row.solver, "cg");
    EXPECT_EQ(row.preconditioner, "struct_ilu:fill_level=1");
    EXPECT_EQ(row.outcome, "converged_atol");
    EXPECT_EQ(row.reason, "");
    EXPECT_TRUE(row.converged());
    EXPECT_EQ(row.iterations, 7);
    EXPECT_EQ(row.iterations_least, 6);
    EXPECT_EQ(row.iterations_most, 9);
    EXPECT_EQ(row.relative_residual, 1e-9);
    EXPECT_EQ(row.turns, 5);
    EXPECT_EQ(row.setup.median, 1.0);
    EXPECT_EQ(row.setup.least, 0.5);
    EXPECT_EQ(row.setup.most, 1.5);
    EXPECT_EQ(row.solve.median, 2.0);
    EXPECT_EQ(row.solve.most, 2.5);
    EXPECT_EQ(row.total.least, 2.25);
    EXPECT_EQ(row.per_iteration, 0.25);
    EXPECT_EQ(row.preconditioner_share, 0.125);
    EXPECT_EQ(row.peak, 3000000000);
    EXPECT_EQ(row.predicted, 3000000001);
    EXPECT_EQ(row.ratio, 0.75);
    EXPECT_EQ(row.pays_off_from, 17);
    EXPECT_EQ(row.beaten, 4);
    EXPECT_EQ(row.repeatable, 0);
    EXPECT_FALSE(c.rows[1].converged());
    EXPECT_EQ(c.rows[1].reason, "why");
    ASSERT_EQ(c.left_out.size(), 1u);
    EXPECT_EQ(c.left_out[0].name, "cg+none");
    EXPECT_EQ(c.left_out[0].reason, "because");
    ASSERT_EQ(c.records.size(), 2u);
    EXPECT_EQ(c.records[0].solves.at(0).report.iterations, 33);
    EXPECT_EQ(c.records[0].histories.at(0).size(), 1u);
    EXPECT_TRUE(c.records[1].solves.empty());
    EXPECT_EQ(scratch.names(), std::vector<std::string>{"c.h5"});
}

TEST(Comparison, IsNotTakenForARecordNorARecordForAComparison) {
    const Scratch scratch;
    const std::string path = scratch.path("c.h5"), run = scratch.path("run.h5");
    ComparisonData written = sample_comparison(path);
    write_comparison(written);
    RecordWriter(run, sample_header()).finish("ok", ExitCode::ok, "");
    EXPECT_TRUE(is_comparison(path));
    EXPECT_FALSE(is_comparison(run));
    EXPECT_FALSE(is_comparison(scratch.path("none.h5")));
    EXPECT_FALSE(is_comparison(scratch.write("text.h5", "text")));
    EXPECT_EQ(error_of([&] { read_record(path); }),
              path + ": holds a comparison, not the record of a run (hyperplane info shows it)");
    EXPECT_NE(error_of([&] { read_comparison(run); }).find("/contents (an attribute) is missing"), std::string::npos);
}

TEST(Comparison, MissingPartsAreNamed) {
    const Scratch scratch;
    for (const char* part : {"system", "table", "table/total_least", "left_out", "candidates/cg+a:path=x|y",
                             "candidates/cg+struct_ilu:fill_level=1/history"}) {
        const std::string path = scratch.path("c.h5");
        ComparisonData written = sample_comparison(path);
        write_comparison(written, Overwrite::any);
        remove_object(path, part);
        EXPECT_NE(error_of([&] { read_comparison(path); }).find(std::string("/") + part + " is missing"),
                  std::string::npos)
            << part;
    }
}

TEST(Comparison, OfAProgramThatDidNotKeepTheSecondsOfTheCompilerIsRead) {
    const Scratch scratch;
    const std::string path = scratch.path("c.h5");
    ComparisonData written = sample_comparison(path);
    write_comparison(written);
    remove_object(path, "compile_seconds");
    EXPECT_EQ(read_comparison(path).compile_seconds, 0.0);
}

TEST(Comparison, AllIsDocumented) {
    const Scratch scratch;
    ComparisonData written = sample_comparison(scratch.path("c.h5"));
    write_comparison(written);
    const std::vector<std::string> names = listing(scratch.path("c.h5"), "/system", "/candidates/");
    EXPECT_GT(names.size(), 30u);
    expect_documented(names, "compare.md");
}

}  // namespace
}  // namespace hyperplane
