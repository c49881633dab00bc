// SPDX-License-Identifier: BSD-3-Clause
// Every preconditioner with an allocator that fails.
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "precond/support.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;

/// Settings with fill level 0 or 1. For a preconditioner without fill levels, these are its defaults, or its last
/// storage with Jacobi sweeps if it has them.
Settings settings_for(const std::string& name, int fill_level) {
    const PreconditionerRow& row = find_preconditioner(name);
    if (has_key(row.parameters, "preconditioner", "fill_level")) return {{"fill_level", std::to_string(fill_level)}};
    if (fill_level == 0 || row.storages.empty()) return {};
    Settings settings{{"storage", to_string(row.storages.back())}};
    if (has_key(row.parameters, "preconditioner", "triangular_solve"))
        settings.push_back({"triangular_solve", "jacobi"});
    return settings;
}

/// The preconditioners of matrices on a grid that can be made here, on a CPU.
std::vector<PreconditionerRow> rows_here() {
    const PreconditionerSetting setting{Context::cpu(1), {{7, 5, 3}, Stencil::star7(), 1, true}};
    std::vector<PreconditionerRow> rows;
    std::size_t takes = 0;
    for (const PreconditionerRow& row : preconditioners()) try {
            if (!row.takes(MatrixKind::structured)) continue;
            ++takes;
            row.create(parameters_of(row.name, {}), setting);
            rows.push_back(row);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::no_device) << row.name << ": " << error.what();
        }
    EXPECT_GE(rows.size() + 1, takes) << "cusparse_ilu alone needs a GPU";
    return rows;
}

/// Makes the n-th allocation from now on fail, counted from 0.
void fail_at(const Context& context, int n) {
    context.set_allocation_gate([n, count = 0](const std::string&, Index) mutable { return count++ != n; });
}

TEST(PreconditionerMemory, FailingAtAnyAllocationLeaksNothingAndSetupCanBeTriedAgain) {
    const auto offsets = reference::stencil_named("star7").offsets;
    for (const PreconditionerRow& row : rows_here())
        for (int fill_level : {0, 1})
            for (MatrixStorage storage : storages) {
                if (row.needs_symmetry && storage == MatrixStorage::full) continue;
                SCOPED_TRACE(row.name + " " + std::to_string(fill_level));
                const Context context = Context::cpu(1);
                const auto data = reference::random_spd_matrix({7, 5, 3}, offsets, 2, 71);
                const StructMatrix a = reference::to_struct_matrix(
                    context, layout_for(LayoutKind::hyperplane, data, "star7", fill_level), data, storage);
                const Index before = context.ledger().held();
                const std::vector<double> r = reference::Random(9).vector(int(a.unknowns()));
                int refused = 0;
                for (bool done = false; !done; ++refused) {
                    ASSERT_LT(refused, 50);
                    const auto m = make(row.name, a, settings_for(row.name, fill_level));
                    fail_at(context, refused);
                    try {
                        m->setup(a);
                        done = true;
                    } catch (const OutOfMemory& error) {
                        EXPECT_NE(std::string(error.what()).find("matrix"), std::string::npos) << error.what();
                        context.set_allocation_gate(nullptr);
                        m->setup(a);
                    }
                    context.set_allocation_gate(nullptr);
                    const auto fresh = make(row.name, a, settings_for(row.name, fill_level));
                    fresh->setup(a);
                    EXPECT_EQ(apply(*m, a, r), apply(*fresh, a, r));
                }
                EXPECT_EQ(refused > 1, row.name != "none");
                EXPECT_EQ(context.ledger().held(), before);
            }
}

TEST(PreconditionerMemory, IsReturned) {
    const auto offsets = reference::stencil_named("box27").offsets;
    for (const PreconditionerRow& row : rows_here()) {
        const Context context = Context::cpu(1);
        {
            const auto data = row.needs_symmetry ? reference::random_spd_matrix({7, 5, 3}, offsets, 2, 72)
                                                 : reference::random_matrix({7, 5, 3}, offsets, 2, 72);
            const StructMatrix a =
                reference::to_struct_matrix(context, layout_for(LayoutKind::natural, data, "box27", 0), data,
                                            row.needs_symmetry ? MatrixStorage::lower : MatrixStorage::full);
            const auto m = make(row.name, a);
            m->setup(a);
            const Index once = context.ledger().held();
            m->setup(a);
            EXPECT_EQ(context.ledger().held(), once) << row.name;
        }
        EXPECT_EQ(context.ledger().held(), 0) << row.name;
    }
}

}  // namespace
}  // namespace hyperplane
