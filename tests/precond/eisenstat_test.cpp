// SPDX-License-Identifier: BSD-3-Clause
// The steps of Eisenstat's form of struct_ilu against their definitions.
#include "precond/eisenstat_system.hpp"

#include "on_device.hpp"
#include "precond/struct_ilu/struct_ilu.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;

constexpr EisenstatBounds bounds{1.0, 3.0};
constexpr double tolerance = 1e-13;

/// A system's matrix and vectors in a context: on a GPU each vector is divided by |D|^(1/2).
struct Held {
    const EisenstatSystem& system;
    bool on_gpu;
    Vector s, p, y, u, work;
    Scalars sums;

    Held(const EisenstatSystem& of, const StructMatrix& a, const EisenstatOutcome& v)
        : system(of),
          on_gpu(a.backend() == Backend::cuda),
          s(to_held(a, v.s)),
          p(to_held(a, v.p)),
          y(to_held(a, v.y)),
          u(to_held(a, v.u)),
          work(poisoned(a.context(), a.layout(), 1)),
          sums(a.context(), "test", eisenstat_sums) {
        sums.set(0, v.sums);
    }
    Vector to_held(const StructMatrix& a, const Values& x) const {
        return to_vector(a.context(), a.layout(), 1, on_gpu ? system.times_roots(x, true) : x);
    }
    Values from_held(const Vector& x) const {
        return on_gpu ? system.times_roots(from_vector(x), false) : from_vector(x);
    }
    EisenstatVectors vectors() { return {s, p, y, u, on_gpu ? u : work}; }
    /// After a lower step the next s is in u's place.
    EisenstatOutcome outcome(bool after_lower) {
        EisenstatOutcome v{from_held(s), from_held(p), from_held(y), {}, {}};
        (after_lower ? v.next : v.u) = from_held(u);
        const auto values = sums.get(0, eisenstat_sums);
        std::copy(values.begin(), values.end(), v.sums.begin());
        return v;
    }
};

IluPreconditioner set_up(const StructMatrix& a, const StructIluTuning& tuning = {}, double shift = 0.0) {
    IluOptions options;
    options.eisenstat = true;
    options.pivots.shift = shift;
    return std::move(*make_struct_ilu(a.context(), options, tuning));
}

/// The sums before are those of `before`, and other ones are written.
EisenstatOutcome upper_step(const IluPreconditioner& m, const EisenstatSystem& system, const StructMatrix& a,
                            const EisenstatOutcome& before) {
    Held held(system, a, before);
    Scalars sums(a.context(), "test", eisenstat_sums);
    sums.set(0, before.sums);
    m.eisenstat()->upper_step(sums.data(), bounds, held.vectors(), held.sums.data());
    return held.outcome(false);
}

EisenstatOutcome lower_step(const IluPreconditioner& m, const EisenstatSystem& system, const StructMatrix& a,
                            const EisenstatOutcome& before) {
    Held held(system, a, before);
    m.eisenstat()->lower_step(held.vectors(), held.sums.data());
    EisenstatOutcome after = held.outcome(true);
    after.u = before.u;
    return after;
}

void expect_near(const Values& actual, const Values& expected, const char* what) {
    EXPECT_LT(reference::relative_difference(actual, expected), tolerance) << what;
}

void expect_steps(const EisenstatSystem& system, const StructMatrix& a, const StructIluTuning& tuning = {}) {
    IluPreconditioner m = set_up(a, tuning, system.shift);
    m.setup(a);
    ASSERT_TRUE(m.eisenstat());
    EXPECT_TRUE(m.traits().eisenstat);
    const EisenstatOutcome before = system.random(5);
    const EisenstatCoefficients with(some_sums.data(), bounds);
    EXPECT_DOUBLE_EQ(with.alpha, 1.25);
    EXPECT_DOUBLE_EQ(with.beta, 0.5);
    EXPECT_EQ(eisenstat_alpha(some_sums.data()), with.alpha);
    const auto expect_sums = [&](const EisenstatOutcome& actual, const EisenstatOutcome& expected) {
        for (int sum = 0; sum < eisenstat_sums; ++sum)
            EXPECT_NEAR(actual.sums[sum], expected.sums[sum], tolerance * system.magnitude(expected)) << "sum " << sum;
    };
    {
        const EisenstatOutcome actual = upper_step(m, system, a, before),
                               expected = system.after_upper_step(before, with.alpha, with.beta);
        expect_near(actual.s, expected.s, "s");
        expect_near(actual.y, expected.y, "y");
        expect_near(actual.p, expected.p, "p");
        expect_near(actual.u, expected.u, "u");
        expect_sums(actual, expected);
    }
    {
        const EisenstatOutcome actual = lower_step(m, system, a, before),
                               expected = system.after_lower_step(before, with.alpha);
        expect_near(actual.s, before.s, "s");
        expect_near(actual.p, before.p, "p");
        expect_near(actual.y, before.y, "y");
        expect_near(actual.next, expected.next, "the next s");
        expect_sums(actual, expected);
    }
    Held held(system, a, before);
    Vector r = to_vector(a.context(), a.layout(), 1, before.u), s = poisoned(a.context(), a.layout(), 1);
    m.eisenstat()->begin(r, s);
    expect_near(held.from_held(s), system.times_pivots(system.solve(false, before.u)), "begin");
    Vector x = to_vector(a.context(), a.layout(), 1, before.p);
    m.eisenstat()->finish(held.y, x);
    Values sum = system.solve(true, before.y);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += before.p[i];
    expect_near(from_vector(x), sum, "finish");
}

const Box boxes[] = {{1, 1, 1},  {17, 9, 5}, {9, 1, 1}, {1, 33, 1}, {1, 1, 9},
                     {13, 7, 1}, {1, 9, 5},  {5, 1, 9}, {2, 2, 2}};

/// Lines longer than a piece, and stencils with entries along x that are not adjacent, or with none.
TEST(Eisenstat, StepsAreWhatTheyStandFor) {
    for (const char* stencil : {"star7", "skewed7"})
        for (const Box& box : boxes) {
            SCOPED_TRACE(std::string(stencil) + " " + reference::name_of(box));
            const EisenstatSystem system(box, stencil, 3);
            expect_steps(system, system.matrix(LayoutKind::natural));
        }
    for (const EisenstatChange& change : {EisenstatChange{.shift = 0.25}, EisenstatChange{.signs = true}}) {
        const EisenstatSystem system({17, 9, 5}, "star7", 3, change);
        expect_steps(system, system.matrix(LayoutKind::natural));
    }
    const EisenstatSystem long_lines({2500, 3, 2}, "star7", 4);
    expect_steps(long_lines, long_lines.matrix(LayoutKind::natural));
}

TEST(Eisenstat, SameBitsForAnyNumberOfThreads) {
    for (const char* stencil : {"star7", "skewed7"}) {
        const EisenstatSystem system({19, 31, 7}, stencil, 6);
        const StructMatrix a = system.matrix(LayoutKind::natural);
        const EisenstatOutcome before = system.random(7);
        expect_same_bits_for_any_threads(a.context(), [&] {
            IluPreconditioner m = set_up(a);
            m.setup(a);
            return std::pair(upper_step(m, system, a, before), lower_step(m, system, a, before));
        });
    }
}

/// Whatever is not a number or has the wrong sign, and norms that end a solve.
TEST(Eisenstat, AStepThatIsNotWantedLeavesY) {
    const EisenstatSystem system({7, 5, 3}, "star7", 8);
    const StructMatrix a = system.matrix(LayoutKind::natural);
    IluPreconditioner m = set_up(a);
    m.setup(a);
    EisenstatOutcome before = system.random(9);
    for (const auto& [sum, value] : std::vector<std::pair<int, double>>{{eisenstat_rr, 1.0},
                                                                        {eisenstat_rr, 9.5},
                                                                        {eisenstat_rr, NAN},
                                                                        {eisenstat_rho, 0.0},
                                                                        {eisenstat_rho, -1.0},
                                                                        {eisenstat_rho, NAN},
                                                                        {eisenstat_tat, -1.0},
                                                                        {eisenstat_tat, 1e-309},
                                                                        {eisenstat_tat, NAN}}) {
        before.sums = some_sums;
        before.sums[sum] = value;
        const EisenstatOutcome after = upper_step(m, system, a, before);
        EXPECT_EQ(after.s, before.s) << sum << " " << value;
        EXPECT_EQ(after.y, before.y);
        EXPECT_EQ(after.p, before.s) << "beta is 0, too";
    }
}

/// A sum of the next s that is not a number or has the wrong sign makes beta 0, and nothing else.
TEST(Eisenstat, BetaIsZeroWhereItsSumIsOfNoUse) {
    for (const double value : {0.0, -1.0, double(NAN), double(INFINITY)}) {
        EisenstatSums sums = some_sums;
        sums[eisenstat_next] = value;
        const EisenstatCoefficients with(sums.data(), bounds);
        EXPECT_EQ(with.alpha, 1.25);
        EXPECT_EQ(with.beta, 0.0);
    }
}

/// The lower step of a direction that is of no use leaves s as it was, without reading what it is multiplied by.
TEST(Eisenstat, ALowerStepWithoutAlphaKeepsS) {
    const EisenstatSystem system({7, 5, 3}, "star7", 8);
    const StructMatrix a = system.matrix(LayoutKind::natural);
    IluPreconditioner m = set_up(a);
    m.setup(a);
    EisenstatOutcome before = system.random(9);
    before.u.assign(before.u.size(), NAN);
    before.sums[eisenstat_tat] = NAN;
    EXPECT_EQ(lower_step(m, system, a, before).next, before.s);
}

TEST(Eisenstat, IsNotOfferedWhereItDoesNotHold) {
    const auto offered = [](const StructMatrix& a, const std::function<void(IluOptions&)>& change = {}) {
        IluOptions options;
        options.eisenstat = true;
        if (change) change(options);
        const auto m = make_struct_ilu(a.context(), options);
        m->setup(a);
        return m->eisenstat() != nullptr;
    };
    const Box box{7, 5, 3};
    const EisenstatSystem star7(box, "star7", 1), star13(box, "star13", 1);
    const StructMatrix a = star7.matrix(LayoutKind::natural);
    EXPECT_TRUE(offered(a));
    EXPECT_FALSE(offered(a, [](IluOptions& options) { options.eisenstat = false; }));
    EXPECT_FALSE(offered(a, [](IluOptions& options) { options.fill_level = 1; }));
    EXPECT_FALSE(offered(a, [](IluOptions& options) { options.storage = FactorStorage::single_precision; }));
    EXPECT_FALSE(offered(a, [](IluOptions& options) { options.may_share = false; }));
    EXPECT_FALSE(offered(star7.matrix(LayoutKind::hyperplane)));
    EXPECT_FALSE(offered(star13.matrix(LayoutKind::natural)));
    const EisenstatSystem periodic({7, 5, 3, {true, false, false}}, "star7", 1);
    EXPECT_FALSE(offered(periodic.matrix(LayoutKind::natural)));
    const auto blocks = reference::random_spd_matrix(box, star7.data.offsets, 2, 1);
    for (const auto& [data, storage] :
         {std::pair(star7.data, MatrixStorage::full), std::pair(blocks, MatrixStorage::lower)})
        EXPECT_FALSE(offered(reference::to_struct_matrix(
            Context::cpu(1), layout_for(LayoutKind::natural, data, "star7", 0), data, storage, "star7")));
}

class EisenstatOnDevice : public DeviceTest {
protected:
    static StructMatrix there(const EisenstatSystem& system) {
        return in_context(Context::cuda(), system.matrix(LayoutKind::hyperplane));
    }
    static const std::vector<StructIluTuning>& tunings() {
        static const std::vector<StructIluTuning> list{{},
                                                       {.tile_j = 8, .tile_k = 2},
                                                       {.tile_j = 32, .tile_k = 16},
                                                       {.tile_j = 4, .tile_k = 4, .stages = 0},
                                                       {.tile_j = 16, .tile_k = 4, .producer_groups = 0},
                                                       {.tile_j = 8, .tile_k = 4, .lookahead = 1}};
        return list;
    }
};

TEST_F(EisenstatOnDevice, StepsAreWhatTheyStandFor) {
    for (const char* stencil : {"star7", "skewed7"})
        for (const Box& box :
             {boxes[0], boxes[1], boxes[3], boxes[4], boxes[5], boxes[7], Box{33, 70, 9}, Box{3, 19, 41}}) {
            SCOPED_TRACE(std::string(stencil) + " " + reference::name_of(box));
            const EisenstatSystem system(box, stencil, 3);
            const StructMatrix a = there(system);
            for (const StructIluTuning& tuning : tunings()) expect_steps(system, a, tuning);
        }
    for (const EisenstatChange& change : {EisenstatChange{.shift = 0.25}, EisenstatChange{.signs = true}}) {
        SCOPED_TRACE(change.signs ? "signs" : "shift");
        const EisenstatSystem system({33, 70, 9}, "star7", 3, change);
        const StructMatrix a = there(system);
        for (const StructIluTuning& tuning : tunings()) expect_steps(system, a, tuning);
    }
}

TEST_F(EisenstatOnDevice, TwentyStepsHaveTheSameBits) {
    const EisenstatSystem system({33, 130, 15}, "star7", 6);
    const StructMatrix a = there(system);
    IluPreconditioner m = set_up(a);
    m.setup(a);
    const EisenstatOutcome before = system.random(7);
    const EisenstatOutcome upper = upper_step(m, system, a, before), lower = lower_step(m, system, a, before);
    for (int repeat = 0; repeat < 20; ++repeat) {
        ASSERT_EQ(upper_step(m, system, a, before), upper) << repeat;
        ASSERT_EQ(lower_step(m, system, a, before), lower) << repeat;
    }
}

}  // namespace
}  // namespace hyperplane
