// SPDX-License-Identifier: BSD-3-Clause
#include "precond/cusparse_ilu/solves.hpp"

#include "core/vector/blas1.hpp"

namespace hyperplane::cusparse {
namespace {

/// What a solve needs to know about its triangle, and its vectors.
template <class T>
struct Side {
    cusparseFillMode_t fill;
    cusparseDiagType_t diagonal;
    cusparseOperation_t operation;
    Buffer<T>*in, *out;
};

template <class T>
T* values_of(CompressedRows& rows) {
    if constexpr (std::is_same_v<T, double>)
        return rows.values();
    else
        return rows.singles();
}

/// A triangular solve whose input and output vectors are fixed.
class Triangle {
public:
    virtual ~Triangle() = default;
    virtual void analyse(const Context& context) = 0;
    virtual void update() = 0;
    virtual void solve() = 0;
    Index work_bytes() const { return work_.size(); }
    Index analyses() const { return analyses_; }

protected:
    Triangle(const Handle& handle, CompressedRows& rows) : handle_(handle), rows_(rows) {}
    const Handle& handle_;
    CompressedRows& rows_;
    Buffer<char> work_;
    Index analyses_ = 0;  ///< counted where cuSPARSE is called
};

template <class T>
class SpSVTriangle : public Triangle {
public:
    SpSVTriangle(const Handle& handle, CompressedRows& rows, const Side<T>& side)
        : Triangle(handle, rows), side_(side) {
        describe(in_, side.in->data(), side.in->size(), value_type<T>);
        describe(out_, side.out->data(), side.out->size(), value_type<T>);
        check(cusparseSpSV_createDescr(solve_.address()), "cusparseSpSV_createDescr");
    }
    void analyse(const Context& context) override {
        if (!matrix_) describe(matrix_, rows_, values_of<T>(rows_), value_type<T>);
        check(cusparseSpMatSetAttribute(matrix_, CUSPARSE_SPMAT_FILL_MODE, &side_.fill, sizeof side_.fill),
              "cusparseSpMatSetAttribute");
        check(cusparseSpMatSetAttribute(matrix_, CUSPARSE_SPMAT_DIAG_TYPE, &side_.diagonal, sizeof side_.diagonal),
              "cusparseSpMatSetAttribute");
        std::size_t bytes = 0;
        check(cusparseSpSV_bufferSize(handle_, side_.operation, &one<T>, matrix_, in_, out_, value_type<T>,
                                      CUSPARSE_SPSV_ALG_DEFAULT, solve_, &bytes),
              "cusparseSpSV_bufferSize");
        work_ = buffer(context, bytes);
        check(cusparseSpSV_analysis(handle_, side_.operation, &one<T>, matrix_, in_, out_, value_type<T>,
                                    CUSPARSE_SPSV_ALG_DEFAULT, solve_, work_.data()),
              "cusparseSpSV_analysis");
        ++analyses_;
    }
    void update() override {
        check(cusparseSpSV_updateMatrix(handle_, solve_, values_of<T>(rows_), CUSPARSE_SPSV_UPDATE_GENERAL),
              "cusparseSpSV_updateMatrix");
    }
    void solve() override {
        check(cusparseSpSV_solve(handle_, side_.operation, &one<T>, matrix_, in_, out_, value_type<T>,
                                 CUSPARSE_SPSV_ALG_DEFAULT, solve_),
              "cusparseSpSV_solve");
    }

private:
    Side<T> side_;
    Sparse matrix_;
    Dense in_, out_;
    SpSV solve_;
};

template <class T>
struct Bsrsv2;
template <>
struct Bsrsv2<double> {
    static constexpr auto buffer_size = cusparseDbsrsv2_bufferSize;
    static constexpr auto analyse = cusparseDbsrsv2_analysis;
    static constexpr auto solve = cusparseDbsrsv2_solve;
};
template <>
struct Bsrsv2<float> {
    static constexpr auto buffer_size = cusparseSbsrsv2_bufferSize;
    static constexpr auto analyse = cusparseSbsrsv2_analysis;
    static constexpr auto solve = cusparseSbsrsv2_solve;
};

template <class T>
class Bsrsv2Triangle : public Triangle {
public:
    Bsrsv2Triangle(const Handle& handle, CompressedRows& rows, const Side<T>& side, bool levels)
        : Triangle(handle, rows), side_(side), policy_(policy_of(levels)) {
        describe(description_, side.fill, side.diagonal);
        check(cusparseCreateBsrsv2Info(info_.address()), "cusparseCreateBsrsv2Info");
    }
    void analyse(const Context& context) override {
        int bytes = 0;
        check(Bsrsv2<T>::buffer_size(handle_, by_rows, side_.operation, rows_.rows(), rows_.entries(), description_,
                                     values_of<T>(rows_), rows_.row_begin(), rows_.column(), rows_.block(), info_,
                                     &bytes),
              "bsrsv2_bufferSize");
        work_ = buffer(context, bytes, "bsrsv2");
        check(Bsrsv2<T>::analyse(handle_, by_rows, side_.operation, rows_.rows(), rows_.entries(), description_,
                                 values_of<T>(rows_), rows_.row_begin(), rows_.column(), rows_.block(), info_, policy_,
                                 work_.data()),
              "bsrsv2_analysis");
        ++analyses_;
    }
    void update() override {}  // the solve reads the rows themselves
    void solve() override {
        check(Bsrsv2<T>::solve(handle_, by_rows, side_.operation, rows_.rows(), rows_.entries(), &one<T>, description_,
                               values_of<T>(rows_), rows_.row_begin(), rows_.column(), rows_.block(), info_,
                               side_.in->data(), side_.out->data(), policy_, work_.data()),
              "bsrsv2_solve");
    }

private:
    Side<T> side_;
    cusparseSolvePolicy_t policy_;
    Description description_;
    Owned<bsrsv2Info_t, cusparseDestroyBsrsv2Info> info_;
};

template <class T>
std::unique_ptr<Triangle> make_triangle(const Handle& handle, CompressedRows& rows, const Side<T>& side, bool levels) {
    if (rows.format() == RowFormat::bsr) return std::make_unique<Bsrsv2Triangle<T>>(handle, rows, side, levels);
    return std::make_unique<SpSVTriangle<T>>(handle, rows, side);
}

template <class T>
class SolvesIn : public Solves {
public:
    SolvesIn(const Context& context, const Handle& handle, CompressedRows& rows, Index unknowns, bool cholesky,
             bool levels)
        : in_(context, "cuSPARSE's vectors", unknowns),
          middle_(context, "cuSPARSE's vectors", unknowns),
          out_(context, "cuSPARSE's vectors", unknowns) {
        if (!std::is_same_v<T, double>) square_ = Buffer<double>(context, "cuSPARSE's vectors", 1);
        const auto unit = cholesky ? CUSPARSE_DIAG_TYPE_NON_UNIT : CUSPARSE_DIAG_TYPE_UNIT;
        lower_ = make_triangle<T>(handle, rows, {CUSPARSE_FILL_MODE_LOWER, unit, plain, &in_, &middle_}, levels);
        upper_ = make_triangle<T>(
            handle, rows,
            {cholesky ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER, CUSPARSE_DIAG_TYPE_NON_UNIT,
             cholesky ? CUSPARSE_OPERATION_TRANSPOSE : plain, &middle_, &out_},
            levels);
    }
    void analyse(const Context& context) override {
        lower_->analyse(context);
        upper_->analyse(context);
    }
    void update() override {
        lower_->update();
        upper_->update();
    }
    Index analyses() const override { return lower_->analyses() + upper_->analyses(); }
    Index work_bytes() const override { return lower_->work_bytes() + upper_->work_bytes(); }

    void load(const Vector& r) override {
        if (square_.size() > 0) dot(r, r, square_.data());
        to_rows(r, in_.data(), square_.data());
    }
    void lower() override { lower_->solve(); }
    void upper() override { upper_->solve(); }
    void store(Vector& z) override { from_rows(out_.data(), z, square_.data()); }

private:
    Buffer<T> in_, middle_, out_;
    Buffer<double> square_;  ///< of the loaded vector's norm; allocated in single precision
    std::unique_ptr<Triangle> lower_, upper_;
};

}  // namespace

std::unique_ptr<Solves> make_solves(const Context& context, const Handle& handle, CompressedRows& rows, Index unknowns,
                                    bool cholesky, const CusparseOptions& options) {
    if (options.storage == FactorStorage::single_precision)
        return std::make_unique<SolvesIn<float>>(context, handle, rows, unknowns, cholesky, options.levels);
    return std::make_unique<SolvesIn<double>>(context, handle, rows, unknowns, cholesky, options.levels);
}

}  // namespace hyperplane::cusparse
