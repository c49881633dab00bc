// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE's factorisations, compared with struct_ilu on the host, which equals the reference.
#include "precond/cusparse_ilu/cusparse_ilu.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "precond/general_cases.hpp"
#include "precond/support.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;

TEST(CusparseIlu, IsRefusedOnACpu) {
    const Context context = Context::cpu(1);
    const StructMatrix a(context, Layout(LayoutKind::natural, {5, 4, 3}, {}), Stencil::star7(), 1);
    expect_error<DeviceError>([&] { make("cusparse_ilu", a); }, "cusparse_ilu ");
    expect_error<DeviceError>(
        [&] { find_preconditioner("cusparse_ilu").plan(parameters_of("cusparse_ilu", {}), setting_of(a)); },
        "cusparse_ilu ");
}

/// Of general matrices, with the place of the key in the deck.
TEST(CusparseIlu, RefusesReducedPrecisionOfGeneralMatrices) {
    CusparseOptions options{RowFormat::csr, 0,    FactorStorage::single_precision,
                            true,           true, "a.ini:7: preconditioner.storage"};
    expect_error<UsageError>([&] { options.check_storage(MatrixKind::general); },
                             "a.ini:7: preconditioner.storage: cusparse_ilu keeps");
    options.storage = FactorStorage::double_precision;
    EXPECT_NO_THROW(options.check_storage(MatrixKind::general));
}

TEST(CusparseIlu, RefusesHalfPrecision) {
    try {
        check_storage(find_preconditioner("cusparse_ilu"), parameters_of("cusparse_ilu", {{"storage", "half_scaled"}}));
        ADD_FAILURE() << "accepted";
    } catch (const UsageError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("cusparse_ilu stores its factors in double or single alone, not in half_scaled, which "
                            "struct_ilu, "),
                  text.npos)
            << text;
        EXPECT_NE(text.find("has no triangular solves in half precision"), text.npos) << text;
    }
}

/// With the place of the key in the deck. More entries make csrilu02's kernels fail, and the context with them.
TEST(CusparseIlu, RefusesMoreEntriesThanCsrFactorisationsTake) {
    constexpr Index most = Index(1) << 30;
    CusparseOptions options;
    options.where_format = "a.ini:8: preconditioner.format";
    EXPECT_NO_THROW(options.require_factorisable(most));
    expect_error<UsageError>([&] { options.require_factorisable(most + 1); },
                             "a.ini:8: preconditioner.format: cuSPARSE's factorisations in CSR fail with more than "
                             "2^30 entries, and the factors have 1073741825; use format = bsr");
    options.format = RowFormat::bsr;
    EXPECT_NO_THROW(options.require_factorisable(4 * most));
}

#if HYPERPLANE_CUSPARSE_BUILT
class CusparseIluOnDevice : public ::testing::Test {
protected:
    void SetUp() override {
        if (const std::string why = cusparse_unavailable(); !why.empty()) GTEST_SKIP() << why;
    }
};

/// The same matrix on host and device.
struct Pair {
    Context host = Context::cpu(1), device = Context::cuda();
    StructMatrix on_host, on_device;

    Pair(const std::string& stencil, int dof, LayoutKind kind, MatrixStorage storage, int fill_level = 0)
        : on_host(made(host, stencil, dof, kind, storage, fill_level)),
          on_device(device, on_host.layout(), on_host.stencil(), dof, storage) {
        on_device.assign(on_host);
    }

    /// Gives the diagonal other values, which need new factors.
    void change_diagonal() {
        const int diagonal = on_host.stencil().diagonal();
        for (int r = 0; r < on_host.dof(); ++r)
            for (Index slot = 0; slot < on_host.layout().slots(); ++slot)
                on_host.values(diagonal, r, r)[slot] *= 1.5 + 0.1 * r;
        on_device.assign(on_host);
    }

    static StructMatrix made(const Context& context, const std::string& stencil, int dof, LayoutKind kind,
                             MatrixStorage storage, int fill_level) {
        const auto data = reference::random_spd_matrix({17, 9, 5}, reference::stencil_named(stencil).offsets, dof, 5);
        return reference::to_struct_matrix(context, layout_for(kind, data, stencil, fill_level), data, storage,
                                           stencil);
    }

    /// M^-1 r on host or device, for an r whose values depend on the point only.
    Vector applied(const LinearOperator& m, bool on_a_device) const {
        Vector r(host, on_host.layout(), on_host.dof(), "r"), z(host, on_host.layout(), on_host.dof(), "z");
        for (Index slot = 0; slot < r.layout().slots(); ++slot)
            for (int c = 0; c < r.dof(); ++c) {
                const Int3 p = r.layout().point(slot);
                r.component(c)[slot] = std::sin(1.0 + p.x + 3.0 * p.y + 7.0 * p.z + 0.1 * c);
            }
        if (!on_a_device) {
            m.apply(r, z);
            return z;
        }
        Vector there(device, r.layout(), r.dof(), "r"), result(device, r.layout(), r.dof(), "z");
        transfer(r, there);
        m.apply(there, result);
        transfer(result, z);
        return z;
    }
};

/// How often cuSPARSE has analysed the factorisation or a triangle.
Index analyses_of(const Preconditioner& m) {
    return dynamic_cast<const CusparseIlu&>(m).costs().analyses;
}

void expect_close(const Vector& found, const Vector& expected) {
    double largest = 0.0, scale = 0.0;
    for (Index at = 0; at < found.size(); ++at) {
        EXPECT_TRUE(std::isfinite(found.data()[at]));
        largest = std::max(largest, std::abs(found.data()[at] - expected.data()[at]));
        scale = std::max(scale, std::abs(expected.data()[at]));
    }
    EXPECT_LE(largest, 1e-12 * scale);
    EXPECT_GT(scale, 0.0);
}

TEST_F(CusparseIluOnDevice, EqualsStructIlu) {
    for (const char* stencil : {"star7", "box27"})
        for (int dof : {1, 3})
            for (LayoutKind kind : layout_kinds)
                for (MatrixStorage storage : storages)
                    for (int fill_level : {0, 1})
                        for (const char* format : {"csr", "bsr"}) {
                            if (fill_level == 1 && std::string(stencil) == "box27") continue;
                            if (dof == 1 && std::string(format) == "bsr") continue;
                            SCOPED_TRACE(std::string(stencil) + " dof " + std::to_string(dof) + " " + to_string(kind) +
                                         (storage == MatrixStorage::lower ? " lower " : " full ") + format + " level " +
                                         std::to_string(fill_level));
                            Pair pair(stencil, dof, kind, storage, fill_level);
                            const std::string level = std::to_string(fill_level);
                            const auto expected = make("struct_ilu", pair.on_host, {{"fill_level", level}});
                            const auto found =
                                make("cusparse_ilu", pair.on_device, {{"fill_level", level}, {"format", format}});
                            for (const bool again : {false, true}) {  // the second set-up keeps the analyses
                                if (again) pair.change_diagonal();
                                expected->setup(pair.on_host);
                                found->setup(pair.on_device);
                                EXPECT_EQ(analyses_of(*found), 3);
                                expect_close(pair.applied(*found, true), pair.applied(*expected, false));
                            }
                        }
}

/// ||x - y|| / ||y||
double difference(const Vector& x, const Vector& y) {
    double squares = 0.0, of_y = 0.0;
    for (Index at = 0; at < x.size(); ++at) {
        squares += (x.data()[at] - y.data()[at]) * (x.data()[at] - y.data()[at]);
        of_y += y.data()[at] * y.data()[at];
    }
    return std::sqrt(squares / of_y);
}

TEST_F(CusparseIluOnDevice, SinglePrecisionIsNearAndHeldAsPlanned) {
    for (const char* stencil : {"star7", "box27"})
        for (int dof : {1, 2, 3, 4, 5, 6, 7, 8, 17})
            for (MatrixStorage storage : storages)
                for (const char* format : {"csr", "bsr"}) {
                    if (dof == 1 && std::string(format) == "bsr") continue;
                    SCOPED_TRACE(std::string(stencil) + " dof " + std::to_string(dof) + " " + format +
                                 (storage == MatrixStorage::lower ? " lower" : " full"));
                    const Pair pair(stencil, dof, LayoutKind::natural, storage);
                    const Settings settings{{"format", format}, {"storage", "single"}};
                    const auto expected = make("struct_ilu", pair.on_host);
                    expected->setup(pair.on_host);
                    const Vector exact = pair.applied(*expected, false);
                    const PreconditionerPlan plan =
                        find_preconditioner("cusparse_ilu")
                            .plan(parameters_of("cusparse_ilu", settings), setting_of(pair.on_device));
                    const Index before = pair.device.ledger().held();
                    const auto m = make("cusparse_ilu", pair.on_device, settings);
                    for (int time = 0; time < 2; ++time) {  // the second set-up keeps the analysis
                        const SetupReport report = m->setup(pair.on_device);
                        EXPECT_EQ(report.values_flushed, 0);
                        EXPECT_EQ(analyses_of(*m), 3);
                        const Index held = pair.device.ledger().held() - before -
                                           dynamic_cast<const CusparseIlu&>(*m).costs().work_bytes;
                        // In addition to the plan: offset and number of each entry of the stencil.
                        EXPECT_EQ(held, plan.bytes + pair.on_host.stencil().size() * Index(sizeof(Int3) + sizeof(int)));
                        EXPECT_LT(report.factor_bytes, held);
                        EXPECT_EQ(m->bytes_per_apply(), plan.bytes_per_apply);
                        const double change = difference(pair.applied(*m, true), exact);
                        EXPECT_LT(change, 1e-5);
                        EXPECT_GT(change, 1e-10) << "nothing was rounded";
                    }
                }
}

/// Right-hand sides far beyond the range of single precision, large or small, are solved, too: scaling by a power of
/// two is exact.
TEST_F(CusparseIluOnDevice, SinglePrecisionTakesVectorsOfAnySize) {
    const Pair pair("star7", 2, LayoutKind::hyperplane, MatrixStorage::full);
    const auto m = make("cusparse_ilu", pair.on_device, {{"storage", "single"}});
    m->setup(pair.on_device);
    const Layout& layout = pair.on_host.layout();
    const auto result = [&](double size) {
        Vector r(pair.host, layout, 2, "r"), there(pair.device, layout, 2, "r"), z(pair.device, layout, 2, "z");
        for (Index at = 0; at < r.size(); ++at) r.data()[at] = size * std::sin(1.0 + double(at));
        transfer(r, there);
        m->apply(there, z);
        transfer(z, r);
        for (Index at = 0; at < r.size(); ++at) r.data()[at] /= size;
        return std::vector<double>(r.data(), r.data() + r.size());
    };
    const std::vector<double> z = result(1.0);
    for (double size : {0x1p200, 0x1p-200}) EXPECT_EQ(result(size), z);
    EXPECT_TRUE(std::isnan(result(NAN)[0]));
}

TEST_F(CusparseIluOnDevice, SinglePrecisionRefusesPivotsWhoseInversesItCannotHold) {
    for (const char* format : {"csr", "bsr"})
        for (double pivot : {1e-40, 1e60}) {
            Pair pair("star7", 2, LayoutKind::hyperplane, MatrixStorage::full);
            const Int3 cell{3, 2, 1};
            for (int e = 0; e < pair.on_host.stencil().size(); ++e)
                for (int r = 0; r < 2; ++r)
                    for (int c = 0; c < 2; ++c)
                        for (Index slot = 0; slot < pair.on_host.layout().slots(); ++slot)
                            pair.on_host.values(e, r, c)[slot] = e == pair.on_host.stencil().diagonal() && r == c;
            pair.on_host.values(pair.on_host.stencil().diagonal(), 1, 1)[pair.on_host.layout().slot(cell)] = pivot;
            pair.on_device.assign(pair.on_host);
            try {
                make("cusparse_ilu", pair.on_device, {{"format", format}, {"storage", "single"}})
                    ->setup(pair.on_device);
                ADD_FAILURE() << "no error from " << format;
            } catch (const SetupError& error) {
                const std::string text = error.what();
                EXPECT_NE(text.find("cusparse_ilu: a value of the factors at cell (3,2,1), component 1"), text.npos)
                    << text;
                EXPECT_NE(text.find("Use preconditioner.storage = double."), text.npos) << text;
            }
        }
}

TEST_F(CusparseIluOnDevice, ProductEqualsTheMatrix) {
    for (int dof : {1, 3})
        for (RowFormat format : {RowFormat::csr, RowFormat::bsr}) {
            if (dof == 1 && format == RowFormat::bsr) continue;
            const Pair pair("diamond25", dof, LayoutKind::hyperplane, MatrixStorage::full);
            const CusparseProduct product(pair.device, pair.on_device, format);
            expect_close(pair.applied(product, true), pair.applied(pair.on_host, false));
        }
}

/// The plan of a case refuses it before any work.
TEST_F(CusparseIluOnDevice, RefusesMoreEntriesThanCsrFactorisationsTakeInItsPlan) {
    const auto plan = [&](int n, const char* format) {
        const MatrixShape shape({n, n, n}, Stencil::by_name("star13"), 2, false);
        find_preconditioner("cusparse_ilu")
            .plan(parameters_of("cusparse_ilu", {{"format", format}}), {Context::cuda(), shape});
    };
    EXPECT_NO_THROW(plan(272, "csr"));
    expect_error<UsageError>([&] { plan(276, "csr"); }, "preconditioner.format: cuSPARSE's factorisations in CSR");
    EXPECT_NO_THROW(plan(276, "bsr"));
}

TEST_F(CusparseIluOnDevice, NamesTheCellOfAZeroPivot) {
    for (const char* format : {"csr", "bsr"}) {
        Pair pair("star7", 2, LayoutKind::hyperplane, MatrixStorage::full);
        const Int3 cell{3, 2, 1};
        for (int e = 0; e < pair.on_host.stencil().size(); ++e)
            for (int c = 0; c < 2; ++c) pair.on_host.values(e, 0, c)[pair.on_host.layout().slot(cell)] = 0.0;
        pair.on_device.assign(pair.on_host);
        const auto m = make("cusparse_ilu", pair.on_device, {{"format", format}});
        SCOPED_TRACE(format);
        expect_error<SetupError>([&] { m->setup(pair.on_device); }, "(3,2,1)");
    }
}
/// cuSPARSE's scalar factors on a pattern of full blocks are those of the blocks, and its IC those of ILU.
TEST_F(CusparseIluOnDevice, OfGeneralMatricesEqualsReference) {
    const Context context = Context::cuda();
    for (const GeneralCase& c : {GeneralCase{"random", 60, 1, 0},
                                 {"random", 60, 1, 2},
                                 {"dense_row", 60, 1, 0},
                                 {"random", 30, 3, 1},
                                 {"arrow", 17, 2, 1},
                                 {"dense_row", 17, 4, 0},
                                 {"lower", 17, 5, 2},
                                 {"empty_rows", 17, 3, 0},
                                 {"random", 9, 8, 0},
                                 {"dense", 1, 1, 0},
                                 {"dense", 1, 4, 0},
                                 {"symmetric", 80, 1, 0, true},
                                 {"arrow", 40, 1, 1, true},
                                 {"symmetric", 17, 3, 0, true},
                                 {"symmetric", 40, 2, 1, true}})
        for (const char* format : {"csr", "bsr"}) {
            if (c.dof == 1 && std::string(format) == "bsr") continue;
            // Once with what it does by itself, once as a matrix that is not known to be symmetric and without levels.
            for (const char* choice : {"true", "false"}) {
                SCOPED_TRACE(c.pattern + " " + std::to_string(c.dof) + " " + format + " " + choice);
                reference::BlockMatrix data = data_of(c);
                BsrMatrix a = reference::to_bsr_matrix(context, data, c.symmetric);
                const auto m = make_general("cusparse_ilu", a,
                                            {{"fill_level", std::to_string(c.fill_level)},
                                             {"format", format},
                                             {"level_information", choice},
                                             {"cholesky", choice}});
                const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof);
                for (const double factor : {1.0, 2.0}) {  // the second set-up updates the values alone
                    for (auto& row : data.rows)
                        for (auto& [column, block] : row)
                            for (double& value : block.values) value *= factor;
                    const BsrMatrix changed = reference::to_bsr_matrix(Context::cpu(1), data, c.symmetric);
                    a.assign(changed);
                    m->setup(a);
                    EXPECT_LT(reference::relative_difference(apply_general(*m, a, r),
                                                             reference::apply_inverse(reference_of(data, c), r)),
                              1e-11);
                }
                EXPECT_EQ(analyses_of(*m), 3);
                EXPECT_EQ(m->traits().symmetric, c.symmetric);
            }
        }
}
TEST_F(CusparseIluOnDevice, ProductOfGeneralMatricesEqualsReference) {
    const Context context = Context::cuda();
    for (const char* pattern : {"random", "dense_row", "empty_rows", "no_diagonal"})
        for (int dof : {1, 3, 6, 7})
            for (RowFormat format : {RowFormat::csr, RowFormat::bsr})
                for (ProductAlgorithm algorithm : {ProductAlgorithm::first, ProductAlgorithm::second}) {
                    if (dof == 1 && format == RowFormat::bsr) continue;
                    SCOPED_TRACE(std::string(pattern) + " " + std::to_string(dof));
                    const reference::BlockMatrix data =
                        reference::random_blocks(reference::pattern_named(pattern, 53, 3, 5), dof, 7);
                    const BsrMatrix a = reference::to_bsr_matrix(context, data);
                    const std::vector<double> values = reference::Random(4).vector(53 * dof);
                    Vector x(context, a.space(), dof, "x"), y(context, a.space(), dof, "y");
                    from_natural(values, x);
                    CusparseProduct(context, a, format, algorithm).apply(x, y);
                    EXPECT_LT(reference::relative_difference(to_natural(y), reference::multiply(data, values).value),
                              1e-13);
                }
}
TEST_F(CusparseIluOnDevice, OfGeneralMatricesNamesRows) {
    const Context context = Context::cuda();
    const BsrMatrix a = reference::to_bsr_matrix(
        context, reference::random_blocks(reference::pattern_named("no_diagonal", 5, 1, 1), 1, 3));
    expect_error<SetupError>([&] { make_general("cusparse_ilu", a)->setup(a); }, "zero at row ");
}
#endif

}  // namespace
}  // namespace hyperplane
