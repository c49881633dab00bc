// SPDX-License-Identifier: BSD-3-Clause
// check_application of preconditioners of general matrices: it passes what is right and sees one wrong value.
#include <cmath>

#include "on_device.hpp"
#include "precond/general_cases.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;

void expect_check_sees(const Context& context, const std::string& name, const Settings& settings,
                       const GeneralCase& c) {
    SCOPED_TRACE(name + ", " + name_of_general_case({c, 0}));
    const BsrMatrix a = reference::to_bsr_matrix(context, data_of(c), c.symmetric);
    const auto m = make_general(name, a, settings);
    m->setup(a);
    const std::vector<double> values = reference::Random(9).vector(c.rows * c.dof);
    const Vector r = reference::to_plain_vector(context, c.dof, values);
    const auto check = [&](const std::vector<double>& z) {
        return m->check_application(a, r, reference::to_plain_vector(context, c.dof, z), nullptr);
    };
    std::vector<double> z = apply_general(*m, a, values);
    const ApplicationCheck right = check(z);
    EXPECT_EQ(right.unchecked, "");
    EXPECT_LE(right.error, 1e-12);
    EXPECT_TRUE(right.passed());
    double largest = 0.0;
    for (const double value : z) largest = std::max(largest, std::abs(value));
    z[z.size() / 2] += 1e-7 * largest;
    EXPECT_FALSE(check(z).passed());
    EXPECT_FALSE(check(std::vector<double>(z.size(), 0.0)).passed());
    z[z.size() / 2] = NAN;
    EXPECT_FALSE(check(z).passed());
}

void expect_checks_see(const Context& context) {
    for (const GeneralCase& c : std::vector<GeneralCase>{{"random", 60, 1, 0},
                                                         {"arrow", 60, 1, 1},
                                                         {"empty_rows", 50, 1, 0},
                                                         {"random", 25, 3, 1},
                                                         {"dense", 1, 5, 0},
                                                         {"random", 12, 32, 0},
                                                         {"symmetric", 40, 3, 1, true}}) {
        const std::string level = std::to_string(c.fill_level);
        expect_check_sees(context, "jacobi", {}, c);
        expect_check_sees(context, "jacobi", {{"l1", "true"}}, c);
        expect_check_sees(context, "jacobi_sweeps", {{"fill_level", level}}, c);
        expect_check_sees(context, "jacobi_sweeps", {{"fill_level", level}, {"lower_sweeps", "2"}}, c);
        expect_check_sees(context, "sync_free_ilu", {{"fill_level", level}}, c);
    }
}

class GeneralChecksOnDevice : public DeviceTest {};

TEST(GeneralChecks, PassWhatIsRightAndSeeOneWrongValue) {
    expect_checks_see(Context::cpu(2));
}
TEST_F(GeneralChecksOnDevice, PassWhatIsRightAndSeeOneWrongValue) {
    expect_checks_see(Context::cuda());
}

}  // namespace
}  // namespace hyperplane
