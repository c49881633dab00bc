// SPDX-License-Identifier: BSD-3-Clause
// Every problem on a GPU: matrix, residual and initial state equal the host's.
#include <limits>

#include "problems/variants.hpp"

namespace hyperplane::test {
namespace {

/// Tolerance relative to the largest value where exp, expm1, sin or cos are used, whose last bits may differ between
/// host and device. Everything else must be equal to the last bit.
constexpr double transcendental = 64 * std::numeric_limits<double>::epsilon();

bool has(const Variant& variant, const char* key, const std::string& value) {
    for (const auto& [k, v] : variant.keys)
        if (std::string(k) == "problem." + std::string(key)) return v == value;
    return false;
}

bool transports(const Variant& variant) {
    return variant.problem == "cd" || variant.problem == "convdiff" || variant.problem == "convection_diffusion";
}

/// The matrix uses such functions if the wind consists of sines, if the scheme is sg (expm1), or if it depends on an
/// initial state with exp, pow, sin or cos.
double matrix_tolerance(const Variant& variant) {
    const bool known_flow = has(variant, "case", "kovasznay") || has(variant, "case", "ethier_steinman");
    const bool curved =
        known_flow || variant.problem == "euler" || variant.problem == "cahn_hilliard" || variant.problem == "ch";
    return curved || has(variant, "wind", "abc") || has(variant, "scheme", "sg") ? transcendental : 0.0;
}

/// Residual and initial state use such functions if the matrix does, and in manufactured sources and boundary values,
/// in the initial Gaussian of transient transport, and in exactly known flows.
double state_tolerance(const Variant& variant, const Problem& problem) {
    const bool poisson = variant.problem == "poisson", exact = !problem.errors(System(problem).vector(), 0.0).empty();
    const bool manufactured = exact && (poisson || transports(variant)) && !has(variant, "right_hand_side", "xones") &&
                              !has(variant, "right_hand_side", "manupoly");
    const bool gaussian = transports(variant) && !has(variant, "regime", "steady");
    const bool known_flow = exact && variant.problem == "navier_stokes";
    return manufactured || gaussian || known_flow ? transcendental : matrix_tolerance(variant);
}

void expect_equal(const double* host, const double* device, Index size, double tolerance, const std::string& what) {
    double scale = 0.0;
    for (Index at = 0; at < size; ++at) scale = std::fmax(scale, std::abs(host[at]));
    Index differing = 0;
    double largest = 0.0;
    for (Index at = 0; at < size; ++at) {
        const double difference = std::abs(host[at] - device[at]);
        if (!(difference <= tolerance * scale)) ++differing;
        largest = std::fmax(largest, difference);
    }
    EXPECT_EQ(differing, 0) << what << ": of " << size << ", largest difference " << largest << ", largest value "
                            << scale;
}

void expect_equal(const Vector& host, const Vector& device, double tolerance, const std::string& what) {
    Vector copy;
    expect_equal(host.data(), on_host(device, copy).data(), host.size(), tolerance, what);
}

void compare(const Variant& variant) {
    const Context gpu = Context::cuda();
    const auto here = make_problem(variant.problem, variant.keys, files());
    const auto there = make_problem(variant.problem, variant.keys, files(), gpu);
    const double tolerance = state_tolerance(variant, *here);
    for (LayoutKind kind : {LayoutKind::natural, LayoutKind::hyperplane}) {
        const System host(*here, kind), device(*there, kind, gpu);
        const std::string layout = " in layout " + to_string(kind);
        for (MatrixStorage storage : {MatrixStorage::full, MatrixStorage::lower}) {
            const StructMatrix a = host.matrix(storage), b = device.matrix(storage);
            StructMatrix back(host.context, a.layout(), a.stencil(), a.dof(), storage);
            back.assign(b);
            expect_equal(a.values(0), back.values(0), a.bytes() / Index(sizeof(double)), matrix_tolerance(variant),
                         "matrix" + layout);
        }
        expect_equal(host.initial(), device.initial(), tolerance, "initial state" + layout);
        expect_equal(host.residual(host.random(1), host.random(2)), device.residual(device.random(1), device.random(2)),
                     tolerance, "residual" + layout);
    }
}

TEST(ProblemsOnDevice, MatrixResidualAndInitialStateAreTheHosts) {
    if (const std::string why = device::unavailable(); !why.empty()) GTEST_SKIP() << why;
    for (const Variant& variant : variants()) {
        SCOPED_TRACE(variant.label);
        compare(variant);
    }
}

}  // namespace
}  // namespace hyperplane::test
