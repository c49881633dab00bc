// SPDX-License-Identifier: BSD-3-Clause
// A record that is written and read is the same; files that are not records, or incomplete, are refused with their
// name.
#include "io/record.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/stat.h>

#include <cmath>

#include "io/bad_luck.hpp"
#include "io/costs.hpp"
#include "io/file_error.hpp"
#include "io/hdf5.hpp"
#include "io/hdf5_file.hpp"
#include "io/record_sample.hpp"
#include "io/scratch.hpp"

namespace hyperplane {
namespace {

TEST(Record, ComesBackAsItWas) {
    const Scratch scratch;
    const std::string path = scratch.path("run.h5");
    RecordWriter writer(path, sample_header());
    fill_sample(writer);
    writer.finish("preempted", ExitCode::checkpointed, "SIGTERM");

    const RecordData r = read_record(path);
    EXPECT_EQ(r.schema_version, 2);
    EXPECT_EQ(r.path, path);
    EXPECT_EQ(r.code_version, "0.1.0");
    EXPECT_EQ(r.git_sha, "abc123");
    EXPECT_EQ(r.status, "preempted");
    EXPECT_EQ(r.message, "SIGTERM");
    EXPECT_EQ(r.exit_code, 75);
    EXPECT_EQ(r.deck_file, "deck.ini");
    EXPECT_EQ(r.deck_source, sample_header().deck_source);
    EXPECT_EQ(r.deck_resolved, "");
    EXPECT_EQ(r.overrides, (std::vector<std::string>{"solver.rtol=1e-3", "output.note="}));
    EXPECT_EQ(r.environment, sample_header().environment);
    EXPECT_EQ(r.grid.nx, 5);
    EXPECT_EQ(r.grid.ny, 3);
    EXPECT_EQ(r.grid.nz, 2);
    EXPECT_EQ(r.grid.spacing, (std::array<double, 3>{0.1, 0.2, 0.3}));
    EXPECT_EQ(r.grid.origin, (std::array<double, 3>{-1.0, 0.0, 1.0}));
    EXPECT_EQ(r.grid.periodic, (std::array<bool, 3>{false, true, false}));
    EXPECT_TRUE(r.grid.cell_centred);
    EXPECT_EQ(r.dof, 4);
    EXPECT_EQ(r.stencil, "box27");
    EXPECT_EQ(r.layout, "hyperplane");
    EXPECT_TRUE(r.symmetric);
    ASSERT_EQ(r.steps.size(), 2u);
    EXPECT_EQ(r.steps[1].step, 2);
    EXPECT_EQ(r.steps[1].time, 0.2);
    EXPECT_EQ(r.steps[1].dt, 0.1);
    EXPECT_TRUE(r.steps[0].accepted);
    EXPECT_FALSE(r.steps[1].accepted);
    EXPECT_EQ(r.steps[1].attempt, 3);
    EXPECT_EQ(r.steps[1].cfl, 40.0);
    EXPECT_EQ(r.steps[1].error_estimate, 1e-4);
    EXPECT_EQ(r.steps[1].steady_residual, 0.5);
    EXPECT_EQ(r.steps[1].newton_steps, 4);
    EXPECT_EQ(r.steps[1].newton_reason, NewtonReason::line_search);
    EXPECT_EQ(r.steps[1].first_residual, 2.0);
    EXPECT_EQ(r.steps[1].residual, 1.0);
    EXPECT_TRUE(std::isnan(r.steps[0].residual));
    ASSERT_EQ(r.newton.size(), 1u);
    EXPECT_EQ(r.newton[0].step, 2);
    EXPECT_EQ(r.newton[0].attempt, 3);
    EXPECT_EQ(r.newton[0].newton, 1);
    EXPECT_TRUE(r.newton[0].refreshed);
    EXPECT_EQ(r.newton[0].forcing, 0.3);
    EXPECT_EQ(r.newton[0].before, 2.0);
    EXPECT_EQ(r.newton[0].after, 1.0);
    EXPECT_EQ(r.newton[0].length, 0.5);
    EXPECT_EQ(r.newton[0].halvings, 1);
    EXPECT_EQ(r.diagnostics.step, (std::vector<Index>{0, 1, 2}));
    EXPECT_EQ(r.diagnostics.time.at(2), 0.2);
    ASSERT_EQ(r.diagnostics.series.size(), 2u);
    EXPECT_EQ(r.diagnostics.series[0].name, "mass");
    EXPECT_EQ(r.diagnostics.series[0].unit, "kg");
    EXPECT_EQ(r.diagnostics.series[0].description, "sum of u");
    EXPECT_EQ(r.diagnostics.series[1].values, (std::vector<double>{1.0, 0.9, 0.8}));
    EXPECT_EQ(r.state.newton, 3);
    ASSERT_EQ(r.verification.size(), 1u);
    EXPECT_EQ(r.verification[0].name, "max");
    EXPECT_EQ(r.verification[0].value, 1e-5);
    ASSERT_EQ(r.parts.size(), 2u);
    EXPECT_EQ(r.parts[0].host, "node1");
    EXPECT_EQ(r.parts[0].device, "cpu, 2 threads");
    EXPECT_EQ(r.parts[0].threads, 2);
    EXPECT_EQ(r.parts[0].seconds, 9.5);
    EXPECT_EQ(r.parts[0].ended, "died");
    EXPECT_EQ(r.parts[0].changed, "");
    EXPECT_EQ(r.parts[1].step, 1);
    EXPECT_EQ(r.parts[1].changed, "solver.rtol is 1e-6, was 1e-8");
    EXPECT_EQ(changes_of_parts(r.parts), std::vector<std::string>{"from step 2 on solver.rtol is 1e-6, was 1e-8"});
    EXPECT_EQ(r.parts[1].git_sha, "abc123");
    EXPECT_GE(r.parts[1].seconds, 0.0);
    EXPECT_EQ(r.parts[1].ended, "preempted");
    ASSERT_EQ(r.timers.size(), 2u);
    EXPECT_EQ(r.timers[1].name, "solve/spmv");
    EXPECT_EQ(r.timers[1].seconds, 2.0);
    EXPECT_EQ(r.timers[1].calls, 1);
    EXPECT_EQ(r.timers[1].bytes, 4000000000);
    ASSERT_EQ(r.profile.size(), 2u);
    EXPECT_EQ(r.profile[1].name, "solve/spmv");
    EXPECT_EQ(r.profile[1].seconds, 2.0);
    EXPECT_EQ(r.profile[1].calls, 7);
    EXPECT_EQ(r.profile[1].bytes, 4000000000);
    EXPECT_EQ(r.peak_by_label, (std::map<std::string, Index>{{"factors", 200}, {"matrix", 100}}));
    EXPECT_EQ(r.peak_total, 300);
    EXPECT_EQ(r.predicted_total, 301);
    EXPECT_EQ(r.memory_limit, 45.5);
    EXPECT_EQ(r.long_preparation, "set-up took as long as 12 iterations");
    EXPECT_EQ(r.triangular_solves, "levels");
    ASSERT_TRUE(r.has_state);
    EXPECT_EQ(r.state.step, 2);
    EXPECT_EQ(r.state.time, 0.2);
    EXPECT_EQ(r.state.iterations, 11);
    EXPECT_EQ(r.state.u.all(), (std::vector<double>{1.0, -0.0, 3.5}));
    EXPECT_EQ(r.state.solver.size(), 3u);
    EXPECT_EQ(r.state.solver.at("cg/x").all(), (std::vector<double>{4.0, -0.0}));
    EXPECT_EQ(r.state.solver.at("cg/rho").all(), std::vector<double>{0.5});
    EXPECT_TRUE(r.state.solver.at("empty").all().empty());
}

TEST(Record, SolvesAndHistoriesComeBack) {
    const Scratch scratch;
    RecordWriter writer(scratch.path("run.h5"), sample_header());
    fill_sample(writer);
    writer.publish();

    const RecordData r = read_record(scratch.path("run.h5.part"));
    EXPECT_EQ(r.status, "running");
    EXPECT_EQ(r.exit_code, -1);
    ASSERT_EQ(r.solves.size(), 3u);
    const SolveRow sample = sample_solve(), &row = r.solves[1];
    EXPECT_EQ(row.step, sample.step);
    EXPECT_EQ(row.newton, sample.newton);
    EXPECT_EQ(row.unknowns, sample.unknowns);
    EXPECT_EQ(row.stored_entries, sample.stored_entries);
    EXPECT_EQ(row.report.reason, StopReason::false_convergence);
    EXPECT_EQ(row.report.iterations, sample.report.iterations);
    EXPECT_EQ(row.report.b_norm, sample.report.b_norm);
    EXPECT_EQ(row.report.recurrence_residual, sample.report.recurrence_residual);
    EXPECT_EQ(row.report.true_residual, sample.report.true_residual);
    EXPECT_EQ(row.report.restarts_from_true, 2);
    EXPECT_EQ(row.setup_seconds, sample.setup_seconds);
    EXPECT_EQ(row.solve_seconds, sample.solve_seconds);
    EXPECT_EQ(row.setup.pivots_modified, 20);
    EXPECT_EQ(row.setup.values_flushed, 3);
    EXPECT_EQ(row.setup.warning, "a key has no effect");
    EXPECT_EQ(row.setup.shift, 0.05);
    EXPECT_EQ(row.setup.smallest_pivot_ratio, 1e-3);
    EXPECT_EQ(row.setup.smallest_pivot_cell, (Int3{4, 2, 1}));
    EXPECT_EQ(row.setup.factor_bytes, 200);
    EXPECT_TRUE(r.solves[0].setup.modified.empty());
    ASSERT_EQ(row.setup.modified.size(), 2u);
    EXPECT_EQ(row.setup.modified[1].cell, (Int3{1, 2, 0}));
    EXPECT_EQ(row.setup.modified[1].component, 3);
    EXPECT_EQ(row.setup.modified[1].value, -1e-20);
    ASSERT_EQ(r.histories.size(), 3u);
    EXPECT_EQ(r.histories[0].size(), 2u);
    EXPECT_TRUE(r.histories[1].empty());
    ASSERT_EQ(r.histories[2].size(), 1u);
    EXPECT_EQ(r.histories[0][1].iteration, 1);
    EXPECT_EQ(r.histories[0][1].recurrence, 0.5);
    EXPECT_TRUE(std::isnan(r.histories[0][1].truth));
    EXPECT_EQ(r.histories[2][0].truth, 0.25);
    EXPECT_EQ(r.histories[2][0].seconds, 1.5);
}

TEST(Record, DatasetsSayWhatTheyAreAndAllIsDocumented) {
    const Scratch scratch;
    RecordWriter writer(scratch.path("run.h5"), sample_header());
    fill_sample(writer);
    writer.finish("preempted", ExitCode::checkpointed, "");
    std::vector<std::string> names = listing(scratch.path("run.h5"), "/environment");
    EXPECT_GT(names.size(), 60u);
    for (std::string& name : names)  // the problem chooses these names
        if (name == "/diagnostics/mass" || name == "/diagnostics/energy") name = "/diagnostics/NAME";
    expect_documented(names, "record.md");
}

TEST(Record, OfAnEarlierProgramHasOnePart) {
    const Scratch scratch;
    RecordWriter writer(scratch.path("run.h5"), sample_header());
    fill_sample(writer);
    writer.finish("ok", ExitCode::ok, "");
    remove_object(scratch.path("run.h5"), "parts");
    const RecordData r = read_record(scratch.path("run.h5"));
    ASSERT_EQ(r.parts.size(), 1u);
    EXPECT_EQ(r.parts[0].git_sha, "abc123");
    EXPECT_EQ(r.parts[0].ended, "ok");
    EXPECT_TRUE(std::isnan(r.parts[0].seconds));
}

TEST(Costs, AreThoseOfAllParts) {
    std::vector<SolveRow> solves(2);
    solves[0].setup_seconds = 0.5, solves[0].solve_seconds = 2.0, solves[0].report.iterations = 30;
    solves[1].solve_seconds = 1.0, solves[1].report.iterations = 10;
    PartRow here, there;
    here.host = "a", here.device = "cpu, 1 thread";
    there.host = "b", there.device = "cuda, GPU";
    const Costs costs = costs_of({{"setup", 0.75, 2, 0}, {"solve", 4.0, 2, 0}, {"assemble", 0.25, 1, 0}}, solves, 100,
                                 {here, here, there});
    EXPECT_EQ(costs.setup, 0.75);
    EXPECT_EQ(costs.solve, 4.0);
    EXPECT_EQ(costs.assembly, 0.25);
    EXPECT_EQ(costs.iterations, 40);
    EXPECT_EQ(costs.per_iteration(), 0.1);
    EXPECT_EQ(costs.parts, 3);
    EXPECT_EQ(costs.places, "a, cpu, 1 thread; then b, cuda, GPU");
    EXPECT_TRUE(costs.moved());
    // Timers of the last part alone, as programs before 0.2.0 wrote them.
    const Costs earlier = costs_of({{"setup", 0.1, 1, 0}, {"solve", 1.0, 1, 0}}, solves, 100, {here});
    EXPECT_EQ(earlier.setup, 0.5);
    EXPECT_EQ(earlier.solve, 3.0);
    EXPECT_FALSE(earlier.moved());
}

TEST(Record, EveryStopReasonComesBack) {
    const Scratch scratch;
    RecordWriter writer(scratch.path("run.h5"), sample_header());
    for (int reason = 0; reason <= int(StopReason::interrupted); ++reason) {
        SolveRow row;
        row.report.reason = StopReason(reason);
        writer.add_solve(row, {});
    }
    writer.finish("ok", ExitCode::ok, "");
    const RecordData r = read_record(scratch.path("run.h5"));
    ASSERT_EQ(r.solves.size(), std::size_t(StopReason::interrupted) + 1);
    for (std::size_t reason = 0; reason < r.solves.size(); ++reason)
        EXPECT_EQ(int(r.solves[reason].report.reason), int(reason));
}

TEST(Record, FinishReplacesAndLeavesOneFile) {
    const Scratch scratch;
    const std::string earlier = scratch.write("run.h5", "an earlier file");
    EXPECT_EQ(error_of([&] { RecordWriter(earlier, sample_header()); }),
              earlier +
                  " exists and is no record of a run that this program wrote, so it is left as it is; move it away, "
                  "name another file, or give --force to write over it");
    RecordWriter writer(earlier, sample_header(), Overwrite::any);
    fill_sample(writer);
    writer.publish();
    EXPECT_EQ(scratch.read("run.h5"), "an earlier file");
    writer.finish("ok", ExitCode::ok, "");
    EXPECT_EQ(scratch.names(), std::vector<std::string>{"run.h5"});
    const RecordData r = read_record(scratch.path("run.h5"));
    EXPECT_EQ(r.exit_code, 0);
    EXPECT_TRUE(r.has_state);  // from which the run can be extended
}

TEST(Record, PlacesThatCannotBeWrittenAreRefusedAtOnce) {
    const Scratch scratch;
    const auto error = [&](const std::string& path) { return error_of([&] { RecordWriter(path, sample_header()); }); };
    EXPECT_EQ(error(scratch.path("none/run.h5")),
              scratch.path("none/run.h5") + ": cannot create a file in " + scratch.path("none") +
                  ": No such file or directory; make the folder first; any earlier file of that name is intact");
    EXPECT_EQ(
        error("/dev/null"),
        "/dev/null is a device, not a regular file, and is never written over; move it away or name another file");
    EXPECT_EQ(error(scratch.path("")), scratch.path("") + ": is no file name");
    EXPECT_EQ(scratch.names(), std::vector<std::string>{});
}

TEST(Record, RefusesFilesThatAreNotRecords) {
    const Scratch scratch;
    EXPECT_EQ(error_of([&] { read_record(scratch.path("none.h5")); }),
              scratch.path("none.h5") + ": cannot read: No such file or directory");
    EXPECT_EQ(error_of([&] { read_record("/tmp"); }), "/tmp: cannot read: Is a directory");
    for (const char* text : {"", "[solver]\n"}) {
        const std::string path = scratch.write("text.h5", text);
        EXPECT_EQ(error_of([&] { read_record(path); }), path + ": not an HDF5 file, or not all of one");
    }
    const std::string path = scratch.write("signature.h5", "\x89HDF\r\n\x1a\n");
    EXPECT_EQ(error_of([&] { read_record(path); }), path + ": damaged: HDF5 cannot open it");
}

TEST(Hdf5, AFailureSaysOnceWhatCannotBeDone) {
    const hdf5::Quiet quiet;
    EXPECT_EQ(error_of([] { hdf5::image_of(H5I_INVALID_HID); }), "cannot flush a file in memory");
    EXPECT_EQ(error_of([] { hdf5::Group::root(H5I_INVALID_HID, hdf5::Mode::read, "run.h5"); }),
              "cannot open the root group of run.h5");
}

TEST(Record, IsRefusedWhereverItIsCut) {
    const Scratch scratch;
    RecordWriter writer(scratch.path("run.h5"), sample_header());
    fill_sample(writer);
    writer.finish("ok", ExitCode::ok, "");
    const std::string whole = scratch.read("run.h5");
    for (std::size_t size = 0; size < whole.size(); size += 997) {
        const std::string path = scratch.write("cut.h5", whole.substr(0, size));
        EXPECT_THROW(read_record(path), FileError) << size << " of " << whole.size();
    }
}

TEST(Record, MissingPartsAreNamed) {
    const Scratch scratch;
    for (const char* part :
         {"deck", "deck/source", "environment", "grid", "steps", "steps/dt", "solves", "solves/b_norm", "solves/pivots",
          "history", "history/offset", "verification", "perf", "perf/memory/peak"}) {
        const std::string path = scratch.path("run.h5");
        RecordWriter writer(path, sample_header());
        fill_sample(writer);
        writer.finish("ok", ExitCode::ok, "");
        remove_object(path, part);
        EXPECT_EQ(error_of([&] { read_record(path); }),
                  path + ": /" + part + " is missing; this is no complete record of a run");
    }
}

TEST(Record, ColumnsOfDifferentLengthAreRefused) {
    const Scratch scratch;
    const std::string path = scratch.path("run.h5");
    for (const hsize_t rows : {0, 1, 3}) {
        RecordWriter writer(path, sample_header());
        fill_sample(writer);  // two steps
        writer.finish("ok", ExitCode::ok, "");
        remove_object(path, "steps/step");  // which takes the seal off
        const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
        const hid_t space = H5Screate_simple(1, &rows, nullptr);
        const hid_t data = H5Dcreate2(file, "steps/step", H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        const std::vector<Index> values(rows);
        if (rows > 0) H5Dwrite(data, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
        H5Dclose(data);
        H5Sclose(space);
        H5Fclose(file);
        EXPECT_EQ(
            error_of([&] { read_record(path); }),
            path + ": /steps/time has another number of rows than its neighbours; this is no complete record of a run");
    }
}

TEST(Record, ForeignFilesAndOtherSchemasAreRefused) {
    const Scratch scratch;
    const std::string path = scratch.path("foreign.h5");
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    EXPECT_EQ(error_of([&] { read_record(path); }).rfind(path + ":", 0), 0u);  // open for writing elsewhere
    const hid_t space = H5Screate(H5S_SCALAR);
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    EXPECT_EQ(error_of([&] { read_record(path); }),
              path + ": /schema_version (an attribute) is missing; this is no complete record of a run");
    const hid_t attribute = H5Acreate2(file, "schema_version", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT);
    const int version = 3;
    H5Awrite(attribute, H5T_NATIVE_INT, &version);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Fclose(file);
    EXPECT_EQ(error_of([&] { read_record(path); }),
              path + ": /schema_version is 3, and this program reads 1 to 2; a newer program wrote it, and reads it");
}

TEST(Record, FullDiskLeavesTheEarlierFile) {
    const Scratch scratch;
    RecordWriter writer(scratch.path("run.h5"), sample_header());
    const std::string before = scratch.read("run.h5.part");
    for (const rlim_t limit : {0, 1, 4096}) {
        const std::string error = error_with_full_disk(limit, [&] {
            fill_sample(writer);
            writer.publish();
        });
        EXPECT_EQ(error.rfind(scratch.path("run.h5.part") + ": cannot write ", 0), 0u) << error;
        EXPECT_NE(error.find("stopped after " + std::to_string(limit) + ": File too large"), std::string::npos)
            << error;
        EXPECT_EQ(scratch.read("run.h5.part"), before);
        EXPECT_EQ(scratch.names(), std::vector<std::string>{"run.h5.part"});
    }
    const std::string error = error_with_full_disk(100, [&] { writer.finish("ok", ExitCode::ok, ""); });
    EXPECT_EQ(error.rfind(scratch.path("run.h5") + ": cannot write ", 0), 0u) << error;
    EXPECT_EQ(scratch.names(), std::vector<std::string>{"run.h5.part"});
}

}  // namespace
}  // namespace hyperplane
