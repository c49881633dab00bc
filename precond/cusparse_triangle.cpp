#include "precond/cusparse_triangle.hpp"

namespace hyperplane::cusparse {
namespace {

class SpSVTriangle : public Triangle {
public:
    SpSVTriangle(const Handle& handle, CompressedRows& rows, const Side& side) : Triangle(handle, rows, side) {
        describe(matrix_, rows);
        check(cusparseSpMatSetAttribute(matrix_, CUSPARSE_SPMAT_FILL_MODE, &side_.fill, sizeof side_.fill),
              "cusparseSpMatSetAttribute");
        check(cusparseSpMatSetAttribute(matrix_, CUSPARSE_SPMAT_DIAG_TYPE, &side_.diagonal, sizeof side_.diagonal),
              "cusparseSpMatSetAttribute");
        describe(in_, *side.in);
        describe(out_, *side.out);
        check(cusparseSpSV_createDescr(solve_.address()), "cusparseSpSV_createDescr");
    }
    void analyse(const Context& context) override {
        std::size_t bytes = 0;
        check(cusparseSpSV_bufferSize(handle_, side_.operation, &one, matrix_, in_, out_, CUDA_R_64F,
                                      CUSPARSE_SPSV_ALG_DEFAULT, solve_, &bytes),
              "cusparseSpSV_bufferSize");
        work_ = buffer(context, bytes);
        check(cusparseSpSV_analysis(handle_, side_.operation, &one, matrix_, in_, out_, CUDA_R_64F,
                                    CUSPARSE_SPSV_ALG_DEFAULT, solve_, work_.data()),
              "cusparseSpSV_analysis");
    }
    void update() override {
        check(cusparseSpSV_updateMatrix(handle_, solve_, rows_.values(), CUSPARSE_SPSV_UPDATE_GENERAL),
              "cusparseSpSV_updateMatrix");
    }
    void solve() override {
        check(cusparseSpSV_solve(handle_, side_.operation, &one, matrix_, in_, out_, CUDA_R_64F,
                                 CUSPARSE_SPSV_ALG_DEFAULT, solve_),
              "cusparseSpSV_solve");
    }

private:
    Sparse matrix_;
    Dense in_, out_;
    SpSV solve_;
};

class Bsrsv2Triangle : public Triangle {
public:
    Bsrsv2Triangle(const Handle& handle, CompressedRows& rows, const Side& side) : Triangle(handle, rows, side) {
        describe(description_, side.fill, side.diagonal);
        check(cusparseCreateBsrsv2Info(info_.address()), "cusparseCreateBsrsv2Info");
    }
    void analyse(const Context& context) override {
        int bytes = 0;
        check(
            cusparseDbsrsv2_bufferSize(handle_, by_rows, side_.operation, rows_.rows(), rows_.entries(), description_,
                                       rows_.values(), rows_.row_begin(), rows_.column(), rows_.block(), info_, &bytes),
            "cusparseDbsrsv2_bufferSize");
        work_ = buffer(context, bytes, "bsrsv2");
        check(cusparseDbsrsv2_analysis(handle_, by_rows, side_.operation, rows_.rows(), rows_.entries(), description_,
                                       rows_.values(), rows_.row_begin(), rows_.column(), rows_.block(), info_, policy,
                                       work_.data()),
              "cusparseDbsrsv2_analysis");
    }
    void update() override {}  // the solve reads the rows themselves
    void solve() override {
        check(cusparseDbsrsv2_solve(handle_, by_rows, side_.operation, rows_.rows(), rows_.entries(), &one,
                                    description_, rows_.values(), rows_.row_begin(), rows_.column(), rows_.block(),
                                    info_, side_.in->data(), side_.out->data(), policy, work_.data()),
              "cusparseDbsrsv2_solve");
    }

private:
    Description description_;
    Owned<bsrsv2Info_t, cusparseDestroyBsrsv2Info> info_;
};

}  // namespace

std::unique_ptr<Triangle> make_triangle(const Handle& handle, CompressedRows& rows, const Side& side) {
    if (rows.format() == RowFormat::bsr) return std::make_unique<Bsrsv2Triangle>(handle, rows, side);
    return std::make_unique<SpSVTriangle>(handle, rows, side);
}

}  // namespace hyperplane::cusparse
