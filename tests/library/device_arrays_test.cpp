// SPDX-License-Identifier: BSD-3-Clause
// The public library with arrays in a GPU's memory: the same bits as with arrays in the host's.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "hyperplane/linear_solver.hpp"

namespace hyperplane {
namespace {

/// An array of a program in the memory of GPU 0.
template <class T>
class OnGpu {
public:
    explicit OnGpu(const std::vector<T>& values) : size_(values.size()) {
        EXPECT_EQ(cudaMalloc(&memory_, size_ * sizeof(T)), cudaSuccess);
        set(values);
    }
    ~OnGpu() { cudaFree(memory_); }
    OnGpu(const OnGpu&) = delete;
    OnGpu& operator=(const OnGpu&) = delete;

    void set(const std::vector<T>& values) {
        EXPECT_EQ(cudaMemcpy(memory_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
    }
    std::vector<T> get() const {
        std::vector<T> values(size_);
        EXPECT_EQ(cudaMemcpy(values.data(), memory_, size_ * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
        return values;
    }
    std::span<T> span() const { return {static_cast<T*>(memory_), size_}; }

private:
    void* memory_ = nullptr;
    std::size_t size_;
};

/// 2.5 on the diagonal, -1 to its neighbours; `skew` makes it unsymmetric.
struct Line {
    std::vector<std::int64_t> row_begin{0};
    std::vector<std::int32_t> columns;
    std::vector<double> values;

    Line(int rows, double skew) {
        for (int row = 0; row < rows; ++row) {
            for (int column = std::max(0, row - 1); column <= std::min(rows - 1, row + 1); ++column) {
                columns.push_back(column);
                values.push_back(row == column ? 2.5 : column < row ? -1.0 - skew : -1.0);
            }
            row_begin.push_back(std::int64_t(columns.size()));
        }
    }
};

class ArraysOnDevice : public testing::Test {
protected:
    void SetUp() override {
        int count = 0;
        if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "no NVIDIA GPU was found";
    }
    static SolverSettings settings(const std::string& solver) {
        return {.keys = {{"solver.name", solver}, {"preconditioner.name", "sync_free_ilu"}, {"rtol", "1e-10"}},
                .gpu = 0};
    }
};

TEST_F(ArraysOnDevice, GiveTheBitsOfThoseOfTheHost) {
    for (const double skew : {0.0, 0.25}) {
        const Line a(1009, skew);
        const std::string solver = skew > 0.0 ? "gmres" : "cg";
        std::vector<double> b(1009), x(1009, 0.0);
        for (std::size_t row = 0; row < b.size(); ++row) b[row] = std::sin(double(row));
        LinearSolver of_host({a.row_begin, a.columns, a.values}, settings(solver));
        const SolveResult expected = of_host.solve(b, x);
        ASSERT_TRUE(expected.converged);

        const OnGpu<std::int64_t> row_begin(a.row_begin);
        const OnGpu<std::int32_t> columns(a.columns);
        const OnGpu<double> values(a.values), right(b), solution(std::vector<double>(1009, 0.0));
        const SparseMatrix there{row_begin.span(), columns.span(), values.span()};
        LinearSolver of_gpu(there, settings(solver));
        const SolveResult result = of_gpu.solve(right.span(), solution.span());
        EXPECT_EQ(result.iterations, expected.iterations);
        EXPECT_EQ(solution.get(), x);

        std::vector<double> z(1009);
        of_host.precondition(b, z);
        of_gpu.precondition(right.span(), solution.span());
        EXPECT_EQ(solution.get(), z);
        of_gpu.precondition(b, x);  // arrays of the host serve, too
        EXPECT_EQ(x, z);
    }
}

TEST_F(ArraysOnDevice, AreReadAgainByUpdate) {
    Line a(401, 0.0);
    const OnGpu<std::int64_t> row_begin(a.row_begin);
    const OnGpu<std::int32_t> columns(a.columns);
    OnGpu<double> values(a.values);
    const SparseMatrix there{row_begin.span(), columns.span(), values.span()};
    LinearSolver solver(there, settings("cg"));
    std::vector<double> b(401, 1.0), x(401, 0.0), y(401, 0.0);
    EXPECT_TRUE(solver.solve(b, x).converged);
    for (double& value : a.values) value *= 2.0;
    values.set(a.values);
    solver.update(there);
    EXPECT_TRUE(solver.solve(b, y).converged);
    for (std::size_t row = 0; row < x.size(); ++row) EXPECT_NEAR(y[row], x[row] / 2.0, 1e-9);
    a.values[1] = 7.0;  // no longer symmetric
    values.set(a.values);
    EXPECT_THROW(solver.update(there), UsageError);
    EXPECT_THROW(solver.update({a.row_begin, a.columns, a.values}), UsageError);
}

TEST_F(ArraysOnDevice, AreRefusedWhereTheyDoNotFit) {
    const Line a(101, 0.0);
    const OnGpu<double> values(a.values);
    EXPECT_EQ(gpu_of(values.span().data()), 0);
    EXPECT_EQ(gpu_of(a.values.data()), std::nullopt);
    EXPECT_THROW(LinearSolver({a.row_begin, a.columns, values.span()}, settings("cg")), UsageError);
    Line unsorted(101, 0.0);
    std::swap(unsorted.columns[0], unsorted.columns[1]);
    const OnGpu<std::int64_t> row_begin(a.row_begin);
    const OnGpu<std::int32_t> columns(unsorted.columns);
    EXPECT_THROW(LinearSolver({row_begin.span(), columns.span(), values.span()}, settings("cg")), UsageError);
    StencilMatrix stencil({.extents = {5, 3, 2}});
    for (int point = 0; point < 30; ++point) stencil.coefficients(0)[point] = 1.0;
    LinearSolver on_grid(stencil, {.keys = {{"preconditioner.name", "jacobi"}}, .gpu = 0});
    std::vector<double> x(30, 0.0);
    EXPECT_THROW((void)on_grid.solve(values.span().first(30), x), UsageError);
}

}  // namespace
}  // namespace hyperplane
