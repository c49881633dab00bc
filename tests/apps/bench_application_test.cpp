// SPDX-License-Identifier: BSD-3-Clause
// The check of applications in bench: it accepts every preconditioner of the registry with each choice of its keys, and
// detects one wrong value.
#include <gtest/gtest.h>

#include "apps/bench/rows.hpp"
#include "core/error.hpp"
#include "core/vector/blas1.hpp"
#include "on_device.hpp"
#include "preconditioner_choices.hpp"

namespace hyperplane {
namespace {

using testing_support::KeyChoice;

std::vector<KeyChoice> choices_of(const PreconditionerRow& row) {
    std::vector<KeyChoice> list = testing_support::choices_of(row);
    if (has_key(row.parameters, "preconditioner", "fill_level")) list.push_back({"fill_level", "1"});
    return list;
}

Parameters parameters_of(const PreconditionerRow& row, const KeyChoice& choice) {
    Parameters parameters(row.parameters);
    parameters.add(common_preconditioner_parameters());
    if (!choice.key.empty()) parameters.set("preconditioner", choice.key, choice.value);
    return parameters;
}

/// The keys that `other` shares with a candidate, with the candidate's values but the factors in double.
Parameters in_double(const PreconditionerRow& other, const Parameters& candidate) {
    Parameters parameters = parameters_of(other, {});
    for (const ParameterSpec& spec : other.parameters)
        if (candidate.has("preconditioner", spec.key))
            parameters.set("preconditioner", spec.key, candidate.value("preconditioner", spec.key).text);
    if (parameters.has("preconditioner", "storage")) parameters.set("preconditioner", "storage", "double");
    return parameters;
}

/// Changes one value in the middle by a fraction of the largest value.
void spoil(Vector& z, double part) {
    std::vector<double> values = testing_support::from_vector(z);
    double largest = 0.0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    values[values.size() / 2] += part * largest;
    transfer(testing_support::to_vector(Context::cpu(), z.layout(), z.dof(), values), z);
}

void expect_checked(const Context& context, const PreconditionerRow& row, const Stencil& stencil, int dof,
                    bool symmetric) {
    const PreconditionerSetting setting{context, {{7, 5, 4}, stencil, dof, symmetric}};
    int made = 0;
    bool served = true;  // supported in this context with default parameters
    for (const KeyChoice& choice : choices_of(row)) {
        SCOPED_TRACE(fmt::format("{} {} = {}, {}, dof {}{}, {}", row.name, choice.key, choice.value, stencil.name(),
                                 dof, symmetric ? ", symmetric" : "", to_string(context.backend())));
        const Parameters parameters = parameters_of(row, choice);
        std::unique_ptr<Preconditioner> m;
        Layout layout;
        try {
            check_storage(row, parameters);
            check_matrix(row, setting);
            layout = row.plan(parameters, setting).space.layout();
            m = row.create(parameters, setting);
        } catch (const Error& error) {
            const bool unsuitable = (row.needs_symmetry && !symmetric);
            EXPECT_FALSE(choice.key.empty() && context.backend() == Backend::cuda && !unsuitable);
            served = served && !unsuitable && error.code() != ExitCode::no_device;
            continue;
        }
        ++made;
        StructMatrix a(context, layout, stencil, dof, symmetric ? MatrixStorage::lower : MatrixStorage::full);
        fill_random(a);
        m->setup(a);
        Vector r(context, layout, dof, "r"), z(context, layout, dof, "z");
        fill_random(r, 7);
        m->apply(r, z);
        const auto same = [&]() -> std::unique_ptr<Preconditioner> {
            const PreconditionerRow& other = row.same_factors.empty() ? row : find_preconditioner(row.same_factors);
            return other.create(in_double(other, parameters), setting);
        };
        const auto check = [&] { return m->check_application(a, r, z, same); };
        const ApplicationCheck right = check();
        EXPECT_EQ(right.unchecked.empty(), m->traits().fixed) << right.unchecked;
        if (!m->traits().fixed) continue;
        EXPECT_TRUE(right.passed()) << right.error;
        if (right.bound <= 1e-10) {
            EXPECT_LE(right.error, 1e-13);
        }
        spoil(z, 100.0 * std::max(right.bound, 1e-10));
        EXPECT_FALSE(check().passed()) << check().error;
        set_zero(z);
        EXPECT_FALSE(check().passed()) << check().error;
        spoil(z, NAN);
        EXPECT_FALSE(check().passed()) << check().error;
    }
    EXPECT_TRUE(made > 0 || !served);
}

void expect_all_checked(const Context& context, const std::string& preconditioner) {
    const PreconditionerRow& row = find_preconditioner(preconditioner);
    for (const Stencil& stencil : {Stencil::star7(), Stencil::diamond13(), Stencil::box27()})
        for (const int dof : {1, 3})
            for (const bool symmetric : {false, true}) expect_checked(context, row, stencil, dof, symmetric);
}

class ApplicationChecks : public testing::TestWithParam<std::string> {};
class ApplicationChecksOnDevice : public testing_support::DeviceTest,
                                  public testing::WithParamInterface<std::string> {};

TEST_P(ApplicationChecks, PassWhatIsRightAndSeeOneWrongValue) {
    expect_all_checked(Context::cpu(2), GetParam());
}
TEST_P(ApplicationChecksOnDevice, PassWhatIsRightAndSeeOneWrongValue) {
    expect_all_checked(Context::cuda(), GetParam());
}

std::vector<std::string> names() {
    std::vector<std::string> list;
    for (const PreconditionerRow& row : preconditioners())
        if (row.takes(MatrixKind::structured)) list.push_back(row.name);
    return list;
}
INSTANTIATE_TEST_SUITE_P(All, ApplicationChecks, testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(All, ApplicationChecksOnDevice, testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hyperplane
