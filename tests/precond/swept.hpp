// SPDX-License-Identifier: BSD-3-Clause
// Systems for tests of sweeps: every stencil on small boxes, in any layout and storage, in a context.
#pragma once

#include <algorithm>

#include "on_device.hpp"
#include "precond/support.hpp"

namespace hyperplane::testing_support {

struct SweptCase {
    std::string stencil;
    int dof, fill_level;
    reference::Box box;
    LayoutKind kind;
    MatrixStorage storage;
};

/// The first of `all` and `more` of the others, which case `number` decides: for cases on a GPU, of which many take all
/// in turn.
template <typename Item>
std::vector<Item> first_and_others_in_turn(const std::vector<Item>& all, int number, int more) {
    std::vector<Item> some{all.front()};
    const int others = int(all.size()) - 1;
    for (int at = 0; at < std::min(more, others); ++at) some.push_back(all[1 + (number * more + at) % others]);
    return some;
}

/// The cases; those with more than `most_dof` unknowns a point have a plane of points.
inline std::vector<SweptCase> swept_cases(int most_dof) {
    using reference::Box;
    std::vector<SweptCase> list;
    for (const auto& stencil : reference::all_stencils())
        for (int dof : reference::small_dofs)
            for (int k : {0, 1})
                for (const Box& box : {Box{7, 5, 3}, Box{9, 5, 1}, Box{5, 5, 5, {true, false, true}}})
                    for (LayoutKind kind : layout_kinds)
                        for (MatrixStorage storage : storages) {
                            if (k == 1 && (dof > 2 || box.nz != 3)) continue;
                            if (dof > most_dof && box.nz != 1) continue;
                            list.push_back({stencil.name, dof, k, box, kind, storage});
                        }
    list.push_back({"star7", 17, 0, {4, 3, 2}, LayoutKind::natural, MatrixStorage::full});
    list.push_back({"star7", 2, 2, {5, 4, 3}, LayoutKind::hyperplane, MatrixStorage::lower});
    return list;
}

inline std::string name_of(const testing::TestParamInfo<SweptCase>& info) {
    const SweptCase& c = info.param;
    return c.stencil + "_k" + std::to_string(c.fill_level) + "_dof" + std::to_string(c.dof) + "_" +
           reference::name_of(c.box) + "_" + to_string(c.kind) +
           (c.storage == MatrixStorage::full ? "_full" : "_lower");
}

/// Half of the cases: of the two layouts with both storages, one storage each, the other ones in the case after.
inline std::vector<SweptCase> swept_device_cases(int most_dof) {
    std::vector<SweptCase> list;
    int number = 0;
    for (const SweptCase& c : swept_cases(most_dof)) {
        const int form = number++ % 8;  // four forms of one system, and four of the next one
        const bool alike = form % 4 == 0 || form % 4 == 3;
        if (alike == (form < 4)) list.push_back(c);
    }
    return list;
}

/// The system of a case in a context, and a vector.
struct SweptSystem {
    SweptCase c;
    reference::StencilMatrix data;
    StructMatrix a;
    std::vector<double> r;

    SweptSystem(const Context& context, const SweptCase& of)
        : c(of),
          data(made(c)),
          a(in_context(context,
                       reference::to_struct_matrix(context.host(), layout_for(c.kind, data, c.stencil, c.fill_level),
                                                   data, c.storage, c.stencil))),
          r(reference::Random(5).vector(int(a.unknowns()))) {}

    static reference::StencilMatrix made(const SweptCase& c) {
        const auto offsets = reference::stencil_named(c.stencil).offsets;
        return c.storage == MatrixStorage::full ? reference::random_matrix(c.box, offsets, c.dof, 21)
                                                : reference::random_spd_matrix(c.box, offsets, c.dof, 22);
    }
    std::vector<double> applied(const LinearOperator& m) const { return applied(m, r); }
    std::vector<double> applied(const LinearOperator& m, const std::vector<double>& to) const {
        return testing_support::applied(m, a, to);
    }
};

/// Expects that a set-up holds the memory that was planned, no more when it is repeated, and that the rest of the plan
/// is correct.
inline PreconditionerPlan expect_held_as_planned(const std::string& name, const StructMatrix& a,
                                                 const Settings& settings) {
    const PreconditionerPlan plan = find_preconditioner(name).plan(parameters_of(name, settings), setting_of(a));
    const MemoryLedger& ledger = a.context().ledger();
    const Index before = ledger.held();
    const auto m = make(name, a, settings);
    const SetupReport report = m->setup(a);
    const Index held = ledger.held() - before;
    EXPECT_LT(report.factor_bytes, held);
    EXPECT_NEAR(double(plan.bytes), double(held), 0.02 * double(held));
    m->setup(a);
    EXPECT_EQ(ledger.held() - before, held);
    EXPECT_EQ(plan.bytes_per_apply, m->bytes_per_apply());
    EXPECT_EQ(plan.traits.fixed, m->traits().fixed);
    EXPECT_EQ(plan.traits.symmetric, m->traits().symmetric);
    return plan;
}

/// The first condition of a key that these settings do not meet, e.g. "mode = async"; empty if the key has a meaning.
inline std::string unmet(const std::string& name, const Settings& settings, const char* key) {
    const Parameters parameters = parameters_of(name, settings);
    const Condition* condition = parameters.unmet("preconditioner", key);
    return condition ? condition->text() : "";
}

}  // namespace hyperplane::testing_support
