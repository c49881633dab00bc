// SPDX-License-Identifier: BSD-3-Clause
// Missing diagonals of general matrices: errors that name the row, of each preconditioner on a CPU and on a GPU.
#include "on_device.hpp"
#include "precond/general_cases.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;

/// Nothing fills the diagonal of the first row, and the fifth row may have no entry at all.
reference::BlockMatrix without_diagonal(int dof, bool empty_row) {
    reference::Pattern pattern = reference::pattern_named("random", 9, 3, 17);
    if (empty_row) {
        pattern[4].clear();
    } else {
        pattern[0].erase(0);
        pattern[0].insert(4);
    }
    return reference::random_blocks(pattern, dof, 3);
}

struct Tried {
    std::string name;
    Settings settings;
    int most_unknowns = 32;  ///< of a row
};

const std::vector<Tried> tried_without_diagonals{
    {"sync_free_ilu", {}}, {"sync_free_ilu", {{"fill_level", "2"}}},
    {"par_ilu", {}},       {"par_ilut", {}},
    {"jacobi_sweeps", {}}, {"subdomain_ildu0", {{"parts", "consecutive"}, {"part_rows", "4"}}},
    {"jacobi", {}}};

void expect_named_diagonals(const Context& context, const std::vector<Tried>& list) {
    for (const int dof : {1, 2, 3, 8, 32})
        for (const bool empty_row : {false, true}) {
            const BsrMatrix a = reference::to_bsr_matrix(context, without_diagonal(dof, empty_row));
            const Index row = empty_row ? 4 * dof : 0;
            for (const auto& [name, settings, most_unknowns] : list) {
                if (dof > most_unknowns) continue;
                SCOPED_TRACE(name + (settings.empty() ? "" : ", " + settings.front().second) + ", " +
                             std::to_string(dof) + (empty_row ? ", an empty row" : ""));
                expect_error<SetupError>(
                    [&, &name = name, &settings = settings] { make_general(name, a, settings)->setup(a); },
                    "the pivot at row " + std::to_string(row + 1) + " is zero");
            }
        }
}

TEST(GeneralDiagonals, ThatAreMissingAreNamed) {
    expect_named_diagonals(Context::cpu(1), tried_without_diagonals);
}

class GeneralDiagonalsOnDevice : public DeviceTest {};

TEST_F(GeneralDiagonalsOnDevice, ThatAreMissingAreNamed) {
    std::vector<Tried> list = tried_without_diagonals;
    list.push_back({"sync_free_ilu", {{"variant", "search"}}});
    list.push_back({"sync_free_ilu", {{"variant", "table"}}, 1});
    expect_named_diagonals(Context::cuda(), list);
}

}  // namespace
}  // namespace hyperplane
