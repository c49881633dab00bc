// SPDX-License-Identifier: BSD-3-Clause
// The kernels of fixed-point sweeps over rows of blocks, their text compiled for the host (emulated_threads.hpp).
#include <numeric>

#include "precond/emulated_waiting.cuh"
#include "precond/factors/gauss_jordan.hpp"
#include "precond/general/factors/cpu.hpp"
#include "precond/general/fixed_point/arguments.hpp"
#include "precond/general/pattern/fill.hpp"
#include "precond/general_cases.hpp"

// NOLINTBEGIN(clang-diagnostic-reserved-*): the kernels' definitions
#define BY_ROW 1
#define DOF 3
#define LANES 32
#define WARPS 2
// NOLINTEND(clang-diagnostic-reserved-*)
namespace sweep_names {
using ::hyperplane::FixedPointArguments, ::hyperplane::PivotJudge, ::hyperplane::PivotRatio,
    ::hyperplane::largest_of_row, ::hyperplane::eliminated, ::hyperplane::scaled_by_pivot;
using search_text::hyperplane::find;
}  // namespace sweep_names
// The names of kernels have no namespace.
namespace general_sweep_text {
namespace hyperplane {
using namespace sweep_names;
}
#define SYMMETRIC 0
#define fixed_point_sweep sweep_of_blocks
#define invert_diagonals inversion_of_blocks
#define finish_factors finish_of_blocks
#include "precond/general/fixed_point/fixed_point.cuh"
#undef fixed_point_sweep
#undef invert_diagonals
#undef finish_factors
#undef SYMMETRIC
#undef HYPERPLANE_SWEPT_ROW
}  // namespace general_sweep_text
namespace symmetric_sweep_text {
namespace hyperplane {
using namespace sweep_names;
}
#define SYMMETRIC 1
#define fixed_point_sweep symmetric_sweep
#define invert_diagonals symmetric_inversion
#define finish_factors symmetric_finish
#include "precond/general/fixed_point/fixed_point.cuh"
#undef fixed_point_sweep
#undef invert_diagonals
#undef finish_factors
#undef SYMMETRIC
#undef HYPERPLANE_SWEPT_ROW
}  // namespace symmetric_sweep_text

namespace hyperplane {
namespace {

using namespace testing_support;

/// X, and the inverses of its diagonal blocks.
struct Swept {
    std::vector<double> x, inverse;
    bool operator==(const Swept&) const = default;
};

/// What the kernels make of a matrix.
class SweepTexts {
public:
    SweepTexts(const BsrMatrix& a, const FilledPattern& filled, double shift) : a_(a) {
        for (Index row = 0; row < filled.pattern->rows(); ++row)
            a_diagonal_.push_back(a.pattern()->find(row, int(row)));
        const Index of_block = general_sweep_text::hyperplane::rows_of_block;
        parts_.resize(std::size_t((filled.pattern->rows() + of_block - 1) / of_block));
        std::iota(parts_.begin(), parts_.end(), 0);
        ratios_.resize(parts_.size());
        const bool same = filled.place.size() == 0;
        arguments_ = {.row_begin = as_pointers(filled.pattern->row_begin()),
                      .column = filled.pattern->column(),
                      .diagonal = as_pointers(filled.diagonal.data()),
                      .values = nullptr,
                      .others = nullptr,
                      .inverse = nullptr,
                      .a_row_begin = as_pointers(a.pattern()->row_begin()),
                      .a_values = a.values(),
                      .place = same ? nullptr : filled.place.data(),
                      .a_diagonal = same ? nullptr : as_pointers(a_diagonal_.data()),
                      .ratios = ratios_.data(),
                      .rule = rule_of(general_cpu::rules_of_guesses({}), a.symmetric()),
                      .log = nullptr,
                      .shift = shift,
                      .first = 0,
                      .rows = filled.pattern->rows(),
                      .long_row = 0,
                      .long_rows = nullptr};
        swept.x.assign(std::size_t(filled.pattern->blocks() * DOF * DOF), -7.0);
        swept.inverse.assign(std::size_t(filled.pattern->rows() * DOF * DOF), -7.0);
    }

    void sweep(bool first) {
        const std::vector<double> before = swept.x;
        arguments_.others = first ? nullptr : before.data();
        launch([](const FixedPointArguments& of) { general_sweep_text::hyperplane::sweep_of_blocks(of); },
               [](const FixedPointArguments& of) { symmetric_sweep_text::hyperplane::symmetric_sweep(of); });
        launch([](const FixedPointArguments& of) { general_sweep_text::hyperplane::inversion_of_blocks(of); },
               [](const FixedPointArguments& of) { symmetric_sweep_text::hyperplane::symmetric_inversion(of); });
    }
    void finish() {
        launch([](const FixedPointArguments& of) { general_sweep_text::hyperplane::finish_of_blocks(of); },
               [](const FixedPointArguments& of) { symmetric_sweep_text::hyperplane::symmetric_finish(of); });
    }

    Swept swept;

private:
    template <class General, class Symmetric>
    void launch(const General& general, const Symmetric& symmetric) {
        arguments_.values = swept.x.data();
        arguments_.inverse = swept.inverse.data();
        emulated::launch(parts_, general_sweep_text::hyperplane::threads,
                         [&] { a_.symmetric() ? symmetric(arguments_) : general(arguments_); });
    }

    const BsrMatrix& a_;
    std::vector<Index> a_diagonal_;
    std::vector<int> parts_;
    std::vector<PivotRatio> ratios_;
    FixedPointArguments arguments_{};
};

Swept of_host(const GeneralFactors& x, const Buffer<double>& inverse) {
    return {{x.values.begin(), x.values.end()}, {inverse.begin(), inverse.end()}};
}

/// Beginning with X = A, two sweeps, and the factors: the bits of a CPU.
TEST(SweepTextOfBlocks, HasTheBitsOfTheHost) {
    const Context host = Context::cpu(1);
    for (const auto& [name, rows, fill_level, symmetric] : {std::tuple("random", 14, 0, false),
                                                            {"random", 14, 2, false},
                                                            {"dense", 6, 0, false},
                                                            {"empty_rows", 15, 1, false},
                                                            {"dense_row", 35, 0, false},
                                                            {"symmetric", 14, 0, true},
                                                            {"symmetric", 14, 1, true}}) {
        SCOPED_TRACE(std::string(name) + " " + std::to_string(rows) + " " + std::to_string(fill_level));
        const BsrMatrix a =
            reference::to_bsr_matrix(host, data_of({name, rows, DOF, fill_level, symmetric}), symmetric);
        GeneralFactors x;
        x.dof = DOF;
        x.symmetric = symmetric;
        x.filled = filled_pattern(host, a.pattern(), fill_level, "test");
        x.values = Buffer<double>(host, "test", x.filled.pattern->blocks() * DOF * DOF);
        Buffer<double> inverse(host, "test", a.unknowns() * DOF), made(host, "test", x.values.size());
        SweepTexts texts(a, x.filled, 0.25);
        for (int sweep = 0; sweep < 3; ++sweep) {
            general_cpu::sweep(a, 0.25, x, sweep > 0 ? inverse.data() : nullptr, made.data());
            std::swap(x.values, made);
            PivotInverter guess(general_cpu::rules_of_guesses({}), places_of(a), DOF, symmetric);
            general_cpu::invert_diagonals(a, x, inverse.data(), guess);
            texts.sweep(sweep == 0);
            EXPECT_EQ(texts.swept, of_host(x, inverse)) << sweep;
        }
        general_cpu::finish(a, x, inverse.data());
        texts.finish();
        EXPECT_EQ(texts.swept.x, of_host(x, inverse).x);
    }
}

}  // namespace
}  // namespace hyperplane
