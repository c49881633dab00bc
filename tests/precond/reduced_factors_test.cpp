// SPDX-License-Identifier: BSD-3-Clause
// Factors in reduced precision: their rounding, and struct_ilu's solves with them compared with the definition, with
// double precision and, on a GPU, with the CPU.
#include <cmath>

#include "core/error.hpp"
#include "on_device.hpp"
#include "precond/factors/reduced.hpp"
#include "precond/stored_factors.hpp"
#include "precond/struct_ilu/struct_ilu.hpp"
#include "precond/support.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using enum FactorStorage;

struct Case {
    std::string stencil;
    int dof, fill_level;
    LayoutKind kind;
    MatrixStorage matrix;
    FactorStorage storage;
    bool periodic = false;
    StructIluTuning tuning = {};
};

std::string name_of(const Case& c) {
    return c.stencil + "_k" + std::to_string(c.fill_level) + "_dof" + std::to_string(c.dof) + "_" +
           hyperplane::to_string(c.kind) + (c.matrix == MatrixStorage::full ? "_full_" : "_lower_") +
           hyperplane::to_string(c.storage) + (c.periodic ? "_periodic" : "");
}

/// Boxes with odd extents, planes, and grids that are one cell thick.
std::vector<Box> boxes_for(const Case& c) {
    if (c.periodic) return {{7, 5, 5, {true, true, true}}, {5, 4, 3, {true, false, false}}};
    if (c.dof > 17) return {{3, 3, 2}, {1, 5, 1}};
    if (c.dof > 8) return {{4, 3, 2}, {9, 2, 1}, {1, 5, 3}};
    if (c.fill_level >= 2) return {{7, 5, 3}, {1, 9, 5}};
    if (c.dof > 3) return {{1, 1, 1}, {7, 5, 3}, {5, 9, 1}, {1, 9, 4}, {35, 2, 1}};
    return {{1, 1, 1}, {17, 9, 5}, {13, 7, 1}, {1, 9, 5}, {5, 1, 9}, {1, 33, 1}, {c.dof == 1 ? 1031 : 521, 3, 1}};
}

std::vector<Case> cases() {
    std::vector<Case> list;
    int turn = 0;
    const auto add = [&](const std::string& stencil, int dof, int k, bool periodic = false) {
        const LayoutKind kind = turn % 2 ? LayoutKind::natural : LayoutKind::hyperplane;
        const MatrixStorage matrix = turn / 2 % 2 ? MatrixStorage::lower : MatrixStorage::full;
        for (const FactorStorage storage : reduced_factor_storages)
            list.push_back({stencil, dof, k, kind, matrix, storage, periodic});
        ++turn;
    };
    for (const auto& stencil : reference::all_stencils()) {
        for (int dof : {1, 2, 3, 4, 5, 6, 7, 8, 17, 32}) add(stencil.name, dof, 0);
        ++turn;
    }
    for (int form = 0; form < 4; ++form) add("star7", 1, 0), add("box27", 1, 0), add("star7", 4, 0), add("star7", 3, 0);
    ++turn;
    for (int form = 0; form < 2; ++form) {
        for (int dof : {1, 2, 3, 5}) add("star7", dof, 1), add("box27", 1, 1), add("scattered11", 1, 1);
        for (int k : {2, 3}) add("star7", 1, k);
        for (int dof : {1, 2}) add("star7", dof, 0, true), add("box27", dof, 0, true);
        ++turn;
    }
    // The list may contain a case twice.
    std::vector<Case> distinct;
    std::vector<std::string> names;
    for (const Case& c : list) {
        if (std::find(names.begin(), names.end(), name_of(c)) != names.end()) continue;
        names.push_back(name_of(c));
        distinct.push_back(c);
    }
    return distinct;
}

class Reduced {
protected:
    explicit Reduced(const Case& c) : c_(c) {}

    Layout layout(const Box& box) const {
        return Layout(c_.kind, reference::to_grid(box),
                      reference::to_stencil({c_.stencil, filled(c_.stencil, c_.fill_level)}).level_map());
    }
    StructMatrix matrix(const Box& box, int seed) const {
        return random_struct_matrix(layout(box), reference::to_stencil(reference::stencil_named(c_.stencil)), c_.dof,
                                    c_.matrix, seed);
    }
    IluPreconditioner make(const Context& context, FactorStorage storage) const {
        IluOptions options;
        options.fill_level = c_.fill_level;
        options.storage = storage;
        return std::move(*make_struct_ilu(context, options, c_.tuning));
    }
    IluPreconditioner make(const Context& context) const { return make(context, c_.storage); }

    Case c_;
};

/// Calls body(neighbour, entry) for the neighbours of a point in one triangle, without wrapped ones.
template <class Body>
void for_neighbours(const Grid& grid, const Stencil& stencil, Int3 p, bool upper, const Body& body) {
    const int first = upper ? stencil.diagonal() + 1 : 0;
    for (int e = first; e < first + stencil.lower_size(); ++e)
        if (grid.contains(p + stencil[e])) body(p + stencil[e], e);
}

/// z = ((I + W) D (I + G))^-1 r from W, D^-1 and G, computed row by row in natural order.
std::vector<double> solved(const StructMatrix& f, std::vector<double> z) {
    const Grid& grid = f.grid();
    const int dof = f.dof();
    const auto subtract = [&](Int3 p, bool upper) {
        for_neighbours(grid, f.stencil(), p, upper, [&](Int3 q, int e) {
            for (int r = 0; r < dof; ++r)
                for (int c = 0; c < dof; ++c) z[grid.row(p) * dof + r] -= f.at(p, e, r, c) * z[grid.row(q) * dof + c];
        });
    };
    for (Index row = 0; row < grid.points(); ++row) subtract(grid.point(row), false);
    for (Index row = grid.points(); row-- > 0;) {
        const std::vector<double> v(z.begin() + row * dof, z.begin() + (row + 1) * dof);
        for (int r = 0; r < dof; ++r) {
            z[row * dof + r] = 0.0;
            for (int c = 0; c < dof; ++c)
                z[row * dof + r] += f.at(grid.point(row), f.stencil().diagonal(), r, c) * v[c];
        }
        subtract(grid.point(row), true);
    }
    return z;
}

class ReducedStructIlu : public testing::TestWithParam<Case>, protected Reduced {
protected:
    ReducedStructIlu() : Reduced(GetParam()) {}
};

TEST_P(ReducedStructIlu, SolvesWithTheFactorsItKeeps) {
    for (const Box& box : boxes_for(c_)) {
        SCOPED_TRACE(reference::name_of(box));
        const StructMatrix a = matrix(box, 31);
        IluPreconditioner m = make(a.context()), of_double = make(a.context(), double_precision);
        const SetupReport report = m.setup(a);
        of_double.setup(a);
        EXPECT_EQ(report.values_flushed, 0);
        const std::vector<double> r = reference::Random(5).vector(int(a.unknowns()));
        const std::vector<double> z = apply(m, a, r), exact = apply(of_double, a, r);
        EXPECT_LT(reference::relative_difference(z, solved(stored_factors(m.factors()), r)), 1e-13);
        const double error = reference::relative_difference(z, exact);
        EXPECT_LT(error, 8.0 * unit_roundoff(c_.storage));
        EXPECT_GT(error, a.unknowns() > 8 ? 0.01 * unit_roundoff(c_.storage) : 0.0) << "nothing was rounded";
    }
}

TEST_P(ReducedStructIlu, KeepsEachCoefficientToItsPrecision) {
    for (const Box& box : boxes_for(c_)) {
        if (Index(box.points()) * c_.dof > 600) continue;
        SCOPED_TRACE(reference::name_of(box));
        const auto offsets = reference::stencil_named(c_.stencil).offsets;
        const bool full = c_.matrix == MatrixStorage::full;
        const reference::StencilMatrix data = full ? reference::random_matrix(box, offsets, c_.dof, 21)
                                                   : reference::random_spd_matrix(box, offsets, c_.dof, 22);
        const reference::BlockMatrix assembled = reference::assembled(data, false);
        const reference::Pattern pattern = reference::stencil_pattern(box, filled(c_.stencil, c_.fill_level));
        const reference::BlockIlu ilu =
            full ? reference::block_ilu(assembled, pattern) : reference::block_ic(assembled, pattern);
        const Context context = Context::cpu(1);
        const StructMatrix a = reference::to_struct_matrix(context, layout(box), data, c_.matrix, c_.stencil);
        IluPreconditioner m = make(context);
        m.setup(a);
        const StructMatrix kept = stored_factors(m.factors());
        const Grid& grid = a.grid();
        const auto expect_block = [&](Int3 p, int e, const reference::Dense& block) {
            double largest = 0.0;
            for (double value : block.values) largest = std::max(largest, std::abs(value));
            for (int r = 0; r < c_.dof; ++r)
                for (int c = 0; c < c_.dof; ++c)
                    ASSERT_NEAR(kept.at(p, e, r, c), block(r, c),
                                unit_roundoff(c_.storage) * std::abs(block(r, c)) + 1e-12 * largest);
        };
        for (int i = 0; i < int(grid.points()); ++i) {
            const Int3 p = grid.point(i);
            const auto& rows = ilu.factors.rows;
            expect_block(p, kept.stencil().diagonal(), ilu.diagonal_inverse[i]);
            for (bool upper : {false, true})
                for_neighbours(grid, kept.stencil(), p, upper, [&](Int3 q, int e) {
                    const reference::Dense& block = rows[i].at(int(grid.row(q)));
                    expect_block(p, e, upper ? reference::product(ilu.diagonal_inverse[i], block) : block);
                });
        }
    }
}

TEST_P(ReducedStructIlu, SameBitsForAnyNumberOfThreadsAndTheDotProductOnTheWay) {
    const StructMatrix a = matrix(boxes_for(c_).back(), 33);
    const std::vector<double> r = reference::Random(6).vector(int(a.unknowns()));
    IluPreconditioner m = make(a.context());
    m.setup(a);
    const std::vector<double> z = apply(m, a, r);
    {
        const SeveralThreads several(a.context(), 3);
        IluPreconditioner other = make(a.context());
        other.setup(a);
        EXPECT_EQ(apply(other, a, r), z);
    }
    double rz = NAN, sum = 0.0, size = 0.0;
    Vector out(a.context(), a.layout(), a.dof(), "z");
    m.apply_dot(reference::to_vector(a.context(), a.layout(), a.dof(), r), out, &rz);
    EXPECT_EQ(reference::from_vector(out), z);
    for (std::size_t at = 0; at < r.size(); ++at) sum += r[at] * z[at], size += std::abs(r[at] * z[at]);
    EXPECT_NEAR(rz, sum, 1e-13 * size);
}

INSTANTIATE_TEST_SUITE_P(All, ReducedStructIlu, testing::ValuesIn(cases()),
                         [](const auto& info) { return std::to_string(info.index) + "_" + name_of(info.param); });

/// Compares jacobi with D^-1 r, where D^-1 is computed by elimination and each of its coefficients is rounded once.
void expect_jacobi(const Context& context, int dof, FactorStorage storage) {
    SCOPED_TRACE(std::to_string(dof) + " " + to_string(storage));
    const Layout layout(LayoutKind::natural, reference::to_grid({7, 5, 3}), Stencil::star7().level_map());
    const StructMatrix here = random_struct_matrix(layout, Stencil::star7(), dof, MatrixStorage::full, 9),
                       a = in_context(context, here);
    const Settings settings{{"storage", to_string(storage)}};
    const auto exact = make("jacobi", here), m = make("jacobi", a, settings);
    exact->setup(here);
    const PreconditionerPlan plan =
        find_preconditioner("jacobi").plan(parameters_of("jacobi", settings), setting_of(a));
    const Index before = context.ledger().held();
    const SetupReport report = m->setup(a);
    EXPECT_EQ(plan.bytes, context.ledger().held() - before);
    EXPECT_EQ(report.factor_bytes, plan.bytes);
    EXPECT_EQ(report.values_flushed, 0);
    const std::vector<double> r = reference::Random(5).vector(int(a.unknowns()));
    const double error = reference::relative_difference(applied(*m, a, r), testing_support::apply(*exact, here, r));
    EXPECT_LT(error, 2.0 * unit_roundoff(storage));
    EXPECT_GT(error, 0.01 * unit_roundoff(storage));
}

TEST(ReducedFactors, OfJacobi) {
    for (int dof : reference::all_dofs)
        for (FactorStorage storage : reduced_factor_storages) expect_jacobi(Context::cpu(1), dof, storage);
}

class ReducedJacobiOnDevice : public DeviceTest {};
TEST_F(ReducedJacobiOnDevice, AsOnACpu) {
    for (int dof : reference::all_dofs)
        for (FactorStorage storage : reduced_factor_storages) expect_jacobi(Context::cuda(), dof, storage);
}

/// Cases with alternating storages, layouts, matrix storages and tiles.
std::vector<Case> device_cases() {
    std::vector<Case> list;
    int turn = 0;
    const auto add = [&](const std::string& stencil, int dof, int k, StructIluTuning tuning = {},
                         bool periodic = false) {
        list.push_back({stencil, dof, k, turn / 4 % 2 ? LayoutKind::natural : LayoutKind::hyperplane,
                        turn / 2 % 2 ? MatrixStorage::lower : MatrixStorage::full, reduced_factor_storages[turn % 2],
                        periodic, tuning});
        ++turn;
    };
    for (const auto& stencil : reference::all_stencils())
        for (int dof : {1, 2, 3, 4, 5, 6, 8, 17, 32}) add(stencil.name, dof, 0);
    for (const auto& [stencil, dof] :
         std::vector<std::pair<std::string, int>>{{"star7", 1}, {"box27", 1}, {"star7", 4}})
        for (int form = 0; form < 4; ++form) add(stencil, dof, 0);
    for (int dof : {1, 3, 4}) add("star7", dof, 1), add("star7", dof, 1), add("box27", 1, 1);
    add("star7", 1, 2), add("star7", 2, 3);
    for (int dof : {1, 2}) add("star7", dof, 0, {}, true), add("box27", dof, 0, {}, true);
    for (const StructIluTuning& tuning : std::vector<StructIluTuning>{{.tile_j = 4, .tile_k = 4, .stages = 0},
                                                                      {.tile_j = 8, .tile_k = 2, .pipelined = 0},
                                                                      {.tile_j = 5, .tile_k = 3, .producer_groups = 0}})
        for (const char* stencil : {"star7", "box27"})
            for (int dof : {1, 4}) add(stencil, dof, 0, tuning), add(stencil, dof, 0, tuning);
    return list;
}

class ReducedStructIluOnDevice : public DeviceTest, public testing::WithParamInterface<Case>, protected Reduced {
protected:
    ReducedStructIluOnDevice() : Reduced(GetParam()) {}

    /// The last box has several tiles along each axis.
    std::vector<Box> boxes() const {
        std::vector<Box> list = boxes_for(c_);
        list.resize(std::min<std::size_t>(list.size(), 3));
        list.push_back(c_.periodic         ? Box{9, 21, 7, {true, true, true}}
                       : c_.dof > 8        ? Box{9, 11, 3}
                       : c_.fill_level > 0 ? Box{11, 37, 7}
                       : c_.dof > 3        ? Box{13, 35, 7}
                                           : Box{33, 67, 9});
        if (c_.dof == 1 && !c_.periodic && c_.fill_level == 0) list.push_back({13, 68, 6});  // whole groups of lines
        return list;
    }
};

TEST_P(ReducedStructIluOnDevice, SolvesWithTheFactorsItKeepsWhichAreTheCpus) {
    const Context gpu = Context::cuda();
    for (const Box& box : boxes()) {
        SCOPED_TRACE(reference::name_of(box));
        const StructMatrix here = matrix(box, 31), there = in_context(gpu, here);
        IluPreconditioner m = make(gpu), expected = make(here.context());
        const Index before = gpu.ledger().held();
        const SetupReport report = m.setup(there);
        EXPECT_EQ(report.values_flushed, expected.setup(here).values_flushed);
        EXPECT_LE(report.factor_bytes, gpu.ledger().held() - before);
        for (int seed : {5, 6}) {
            const std::vector<double> r = reference::Random(seed).vector(int(here.unknowns()));
            const std::vector<double> z = applied(m, there, r);
            EXPECT_LT(reference::relative_difference(z, solved(stored_factors(m.factors()), r)), 1e-13);
            EXPECT_LT(reference::relative_difference(z, testing_support::apply(expected, here, r)), 1e-12);
        }
    }
}

TEST_P(ReducedStructIluOnDevice, RepeatsItsBitsAndGivesTheDotProductOnTheWay) {
    const Context gpu = Context::cuda();
    const StructMatrix a = in_context(gpu, matrix(boxes().back(), 32));
    const std::vector<double> r = reference::Random(7).vector(int(a.unknowns()));
    IluPreconditioner m = make(gpu);
    m.setup(a);
    const std::vector<double> z = applied(m, a, r);
    for (int repeat = 0; repeat < 10; ++repeat) {
        if (repeat == 5) m.setup(a);
        ASSERT_EQ(applied(m, a, r), z) << "repeat " << repeat;
    }
    Buffer<double> product(gpu, "test", 1);
    Vector out = poisoned(gpu, a.layout(), a.dof());
    m.apply_dot(to_vector(gpu, a.layout(), a.dof(), r), out, product.data());
    EXPECT_EQ(from_vector(out), z);
    double rz = NAN, sum = 0.0, size = 0.0;
    gpu.stream().copy(product.data(), &rz, sizeof rz);
    for (std::size_t at = 0; at < r.size(); ++at) sum += r[at] * z[at], size += std::abs(r[at] * z[at]);
    EXPECT_NEAR(rz, sum, 1e-13 * size);
}

INSTANTIATE_TEST_SUITE_P(All, ReducedStructIluOnDevice, testing::ValuesIn(device_cases()),
                         [](const auto& info) { return std::to_string(info.index) + "_" + name_of(info.param); });

}  // namespace
}  // namespace hyperplane
