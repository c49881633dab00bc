// SPDX-License-Identifier: BSD-3-Clause
// Whole nonlinear runs in the test's process: on a GPU they take the same steps as on a CPU, and a run that fails keeps
// its last good state.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "apps/deck/schema.hpp"
#include "apps/run/build_case.hpp"
#include "apps/run/simulation.hpp"
#include "core/vector/blas1.hpp"
#include "on_device.hpp"

namespace hyperplane {
namespace {

struct Marched {
    Outcome outcome;
    RecordData record;
    std::vector<double> u;  ///< of the record's state, if it has one
};

/// The case of a deck, whose problem can be replaced by another one.
Case case_of(const std::string& text, const std::vector<std::string>& overrides,
             std::shared_ptr<const Problem> problem) {
    Deck deck = parse_deck(text, "test.ini");
    if (!problem) return build_case(std::move(deck), overrides);
    std::vector<DeckEntry> entries;
    for (const std::string& override : overrides) entries.push_back(parse_override(override));
    Parameters parameters = resolve(deck, entries, deck_schema());
    return build_case(std::move(deck), overrides, std::move(parameters), {Context::cpu(1), std::move(problem)});
}

/// Runs a deck in a folder of its own.
Marched run(const std::string& text, const std::vector<std::string>& overrides,
            std::shared_ptr<const Problem> problem = nullptr) {
    const auto folder = std::filesystem::temp_directory_path() / ("hyperplane_march_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    const std::string path = (folder / "run.h5").string();
    std::vector<std::string> all = overrides;
    all.push_back("output.file=" + path);
    const Case a_case = case_of(text, all, std::move(problem));
    RecordHeader header;
    header.deck_resolved = to_ini(a_case.parameters);
    header.grid = a_case.shape().grid;
    header.dof = a_case.shape().dof;
    RecordWriter record(path, header);
    Marched done;
    done.outcome = Simulation(a_case, record, {Progress::Style::none, a_case.criteria}).run();
    record.finish(done.outcome.code == ExitCode::ok ? "ok" : "failed", done.outcome.code, done.outcome.message);
    done.record = read_record(path);
    if (done.record.has_state) done.u = done.record.state.u.all();
    std::filesystem::remove_all(folder);
    return done;
}

const char* const pulse =
    "[problem]\nname = euler\ncase = pulse\n[grid]\ncells = 12 10 8\n[time]\ncfl = 3\nsteps = 4\nscheme = bdf2\n"
    "[newton]\nrefresh = 2\n[solver]\nname = gmres\nrtol = 1e-3\n";
const char* const cavity =
    "[problem]\nname = artificial_compressibility\nreynolds = 100\n[grid]\ncells = 10 9 8\n[time]\ncfl = 10\n"
    "steady_rtol = 1e-3\n[solver]\nname = gmres\nrtol = 1e-3\n";
const char* const mixture =
    "[problem]\nname = cahn_hilliard\ninitial_condition = random\n[grid]\ncells = 10 9 8\n[time]\ntime_step = 1e-6\n"
    "end_time = 1e-4\ntolerance = 1e-3\n[newton]\nforcing = eisenstat_walker\n[solver]\nname = gmres\nrtol = 1e-4\n";

TEST(March, EveryLinearSolveBelongsToANewtonStepAndEveryNewtonStepToAStep) {
    const Marched done = run(pulse, {"device.backend=cpu"});
    ASSERT_EQ(done.outcome.code, ExitCode::ok) << done.outcome.message;
    Index newton = 0;
    for (const StepRow& row : done.record.steps) newton += row.newton_steps;
    ASSERT_EQ(done.record.newton.size(), std::size_t(newton));
    ASSERT_EQ(done.record.solves.size(), std::size_t(newton));
    for (std::size_t k = 0; k < done.record.newton.size(); ++k) {
        const NewtonRow& row = done.record.newton[k];
        EXPECT_EQ(row.step, done.record.solves[k].step);
        EXPECT_EQ(row.newton, done.record.solves[k].newton);
        EXPECT_EQ(row.refreshed, k % 2 == 0);
        EXPECT_NEAR(row.before, done.record.solves[k].report.b_norm, 1e-9 * row.before);  // b = -F
        EXPECT_LT(row.after, row.before);
    }
    EXPECT_EQ(done.record.diagnostics.step, (std::vector<Index>{0, 1, 2, 3, 4}));
    ASSERT_TRUE(done.record.has_state);  // from which the run can be extended
    EXPECT_EQ(done.record.state.step, 4);
}

/// The first step has no estimate and is accepted; no other step satisfies such a tolerance.
TEST(March, LastGoodStateIsKept) {
    const Marched failed = run(mixture, {"device.backend=cpu", "time.tolerance=1e-30"});
    EXPECT_EQ(failed.outcome.end, "too_many_rejections");
    EXPECT_EQ(failed.outcome.code, ExitCode::diverged);
    EXPECT_NE(failed.outcome.message.find("step 2"), std::string::npos) << failed.outcome.message;
    ASSERT_EQ(failed.record.steps.size(), 11u);
    EXPECT_TRUE(failed.record.steps[0].accepted);
    for (std::size_t k = 1; k < 11; ++k) {
        EXPECT_FALSE(failed.record.steps[k].accepted);
        EXPECT_EQ(failed.record.steps[k].attempt, Index(k));
    }
    ASSERT_TRUE(failed.record.has_state);
    EXPECT_EQ(failed.record.state.step, 1);
    EXPECT_EQ(failed.record.state.time, 1e-6);
    ASSERT_EQ(failed.u.size(), 10u * 9 * 8 * 2);
    const Marched one = run(mixture, {"device.backend=cpu", "time.tolerance=1e-30", "time.end_time=2e-6"});
    EXPECT_EQ(failed.u, one.u);
}

/// A density that falls by 1 in a unit of time, in one cell by 1.5. In another cell F is NaN when time exceeds
/// `poisoned`.
class Fading : public Problem {
public:
    explicit Fading(double poisoned = 1e9)
        : Problem({.grid = {.nx = 4, .ny = 3, .nz = 2, .cell_centred = true},
                   .stencil = Stencil::star7(),
                   .linear = false,
                   .regime = Regime::transient,
                   .components = {"density"}}),
          poisoned_(poisoned) {}
    void initial_state(Vector& u) const override { fill(u, 3.2); }
    double time_step(const Vector&) const override { return 1.0; }
    void residual(const Vector& u, const TimeLevel& level, Vector& f) const override {
        for (Index row = 0; row < shape_.grid.points(); ++row) {
            const Int3 p = shape_.grid.point(row);
            f(p) = level.rate[0] * u(p) + level.rate[1] * (*level.old)(p) + (p == Int3{2, 1, 0} ? 1.5 : 1.0);
            if (level.time > poisoned_ && p == Int3{1, 2, 0}) f(p) = std::nan("");
        }
    }
    void jacobian(const Vector& u, const TimeLevel& level, SystemMatrix& a) const override {
        double* const diagonal = structured(a).values(shape_.stencil.diagonal());
        for (Index row = 0; row < shape_.grid.points(); ++row)
            diagonal[u.layout().slot(shape_.grid.point(row))] = level.rate[0];
    }
    std::optional<BadState> bad_state(const Vector& u) const override {
        for (Index row = 0; row < shape_.grid.points(); ++row)
            if (const Int3 p = shape_.grid.point(row); !(u(p) > 0.0)) return BadState{p, "density", u(p)};
        return std::nullopt;
    }

private:
    double poisoned_;
};

/// A deck with what every problem needs; the grid is Fading's own.
const char* const fading =
    "[problem]\nname = cahn_hilliard\n[grid]\ncells = 4 3 2\n[time]\ntime_step = 1\nsteps = 5\n[solver]\nname = gmres\n"
    "[preconditioner]\nname = none\n";

/// Expects two good steps, and a third one that fails.
void expect_blow_up(const Marched& failed, const std::string& end, const std::vector<std::string>& words) {
    EXPECT_EQ(failed.outcome.end, end);
    EXPECT_EQ(failed.outcome.code, ExitCode::diverged);
    for (const std::string& word : words)
        EXPECT_NE(failed.outcome.message.find(word), std::string::npos) << failed.outcome.message;
    ASSERT_EQ(failed.record.steps.size(), 3u);
    EXPECT_FALSE(failed.record.steps[2].accepted);
    ASSERT_TRUE(failed.record.has_state);
    EXPECT_EQ(failed.record.state.step, 2);
    EXPECT_EQ(failed.record.state.time, 2.0);
    ASSERT_EQ(failed.u.size(), 24u);
    EXPECT_NEAR(failed.u[0], 1.2, 1e-12);
    EXPECT_NEAR(failed.u[2 + 4 * 1], 0.2, 1e-12);
}

TEST(March, ANegativeDensityStopsWithItsCellAndKeepsTheStateBefore) {
    for (const char* method : {"full", "linearised"})
        expect_blow_up(
            run(fading, {"device.backend=cpu", std::string("newton.method=") + method}, std::make_shared<Fading>()),
            "forbidden_state", {"step 3", "density is -1.3 at cell (2, 1, 0)"});
}

TEST(March, NotANumberStopsWithItsCellAndKeepsTheStateBefore) {
    for (const char* method : {"full", "linearised"})
        expect_blow_up(
            run(fading, {"device.backend=cpu", std::string("newton.method=") + method}, std::make_shared<Fading>(2.5)),
            "step_not_solved", {"step 3", "F of density is ", "nan at cell (1, 2, 0)"});
}

class MarchOnDevice : public testing_support::DeviceTest {};

TEST_F(MarchOnDevice, TakesTheStepsOfACpu) {
    for (const char* deck : {pulse, cavity, mixture}) {
        const Marched here = run(deck, {"device.backend=cpu"}), there = run(deck, {"device.backend=cuda"});
        ASSERT_EQ(here.outcome.code, ExitCode::ok) << here.outcome.message;
        ASSERT_EQ(there.outcome.code, ExitCode::ok) << there.outcome.message;
        EXPECT_EQ(here.outcome.end, there.outcome.end);
        ASSERT_EQ(here.record.steps.size(), there.record.steps.size()) << deck;
        for (std::size_t k = 0; k < here.record.steps.size(); ++k) {
            const StepRow &a = here.record.steps[k], &b = there.record.steps[k];
            EXPECT_EQ(a.accepted, b.accepted) << k;
            EXPECT_EQ(a.newton_steps, b.newton_steps) << k;
            EXPECT_NEAR(a.dt, b.dt, 1e-3 * a.dt) << k;  // solves of 1e-3 that round apart
        }
        for (std::size_t d = 0; d < here.record.diagnostics.series.size(); ++d) {
            const auto &a = here.record.diagnostics.series[d].values, &b = there.record.diagnostics.series[d].values;
            for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-4 * (std::abs(a[k]) + 1e-6)) << k;
        }
        EXPECT_NEAR(there.outcome.peak, there.outcome.predicted, 0.01 * there.outcome.predicted) << deck;
    }
}

TEST_F(MarchOnDevice, GivesTheSameBitsTwice) {
    const Marched one = run(pulse, {"device.backend=cuda"}), two = run(pulse, {"device.backend=cuda"});
    ASSERT_EQ(one.record.newton.size(), two.record.newton.size());
    for (std::size_t k = 0; k < one.record.newton.size(); ++k)
        EXPECT_EQ(one.record.newton[k].after, two.record.newton[k].after);
}

}  // namespace
}  // namespace hyperplane
