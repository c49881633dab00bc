#include "problems/system.hpp"

namespace hyperplane::test {
namespace {

/// PROBLEMS.md's measured errors of Bueler's manuexp, 17, 33 and 65 nodes a side.
TEST(PoissonNodes, ManuexpErrorsAreTheKnownOnes) {
    const std::pair<const char*, double> known[] = {{"17", 6.03e-5}, {"33", 1.522e-5}, {"65", 3.81e-6}};
    double previous = 0.0;
    for (const auto& [cells, error] : known) {
        const double found = solved_error(*make_problem("poisson", {{"grid.cells", cells}}));
        EXPECT_NEAR(found, error, 0.02 * error) << cells;
        if (previous > 0.0) {
            EXPECT_NEAR(std::log2(previous / found), 2.0, 0.1) << cells;
        }
        previous = found;
    }
}

}  // namespace
}  // namespace hyperplane::test
