// The one file that calls cuSPARSE. Equations: csr, csric: A ~ L U, L L^T in place of the values; bsr the same by
// blocks.
#define DISABLE_CUSPARSE_DEPRECATED

#include <cusparse.h>
#include <fmt/format.h>

#include <chrono>
#include <functional>

#include "core/cuda.hpp"
#include "core/error.hpp"
#include "precond/cusparse_ilu.hpp"

namespace hyperplane {
namespace {

void check(cusparseStatus_t status, const char* what) {
    if (status == CUSPARSE_STATUS_SUCCESS) return;
    const std::string message = fmt::format("{}: {}", what, cusparseGetErrorString(status));
    if (status == CUSPARSE_STATUS_ALLOC_FAILED || status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES)
        throw OutOfMemory("cuSPARSE is out of device memory in " + message);
    throw DeviceError("cuSPARSE: " + message);
}

/// One of cuSPARSE's objects; made by passing the address on, destroyed at the end.
template <class T, auto destroy>
class Owned {
public:
    Owned() = default;
    ~Owned() {
        if (value_) destroy(value_);
    }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    T* address() { return &value_; }
    operator T() const { return value_; }

private:
    T value_{};
};

using Handle = Owned<cusparseHandle_t, cusparseDestroy>;
using Description = Owned<cusparseMatDescr_t, cusparseDestroyMatDescr>;
using Sparse = Owned<cusparseSpMatDescr_t, cusparseDestroySpMat>;
using Dense = Owned<cusparseDnVecDescr_t, cusparseDestroyDnVec>;
using SpSV = Owned<cusparseSpSVDescr_t, cusparseSpSV_destroyDescr>;

constexpr double one = 1.0, zero = 0.0;
constexpr cusparseSolvePolicy_t policy = CUSPARSE_SOLVE_POLICY_USE_LEVEL;
constexpr cusparseDirection_t by_rows = CUSPARSE_DIRECTION_ROW;
constexpr cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;

void open(Handle& handle) {
    check(cusparseCreate(handle.address()), "cusparseCreate");
    check(cusparseSetStream(handle, cuda::stream()), "cusparseSetStream");
}

void describe(Description& description, cusparseFillMode_t fill, cusparseDiagType_t diagonal) {
    check(cusparseCreateMatDescr(description.address()), "cusparseCreateMatDescr");
    check(cusparseSetMatFillMode(description, fill), "cusparseSetMatFillMode");
    check(cusparseSetMatDiagType(description, diagonal), "cusparseSetMatDiagType");
}

void describe(Sparse& sparse, CompressedRows& rows) {
    check(cusparseCreateCsr(sparse.address(), rows.rows(), rows.rows(), rows.entries(),
                            const_cast<int*>(rows.row_begin()), const_cast<int*>(rows.column()), rows.values(),
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
          "cusparseCreateCsr");
}

void describe(Dense& dense, Buffer<double>& values) {
    check(cusparseCreateDnVec(dense.address(), values.size(), values.data(), CUDA_R_64F), "cusparseCreateDnVec");
}

/// A buffer whose size cuSPARSE gave in 32 bits, where large sizes wrap around.
Buffer<char> buffer(const Context& context, int bytes, const char* what) {
    if (bytes < 0)
        throw UsageError(
            fmt::format("cuSPARSE's {} needs a buffer beyond the 2 GiB that it can count; use struct_ilu or "
                        "a smaller grid",
                        what));
    return Buffer<char>(context, "cuSPARSE's buffers", bytes);
}

/// What a triangle is and where its vectors are.
struct Side {
    cusparseFillMode_t fill;
    cusparseDiagType_t diagonal;
    cusparseOperation_t operation;
    Buffer<double>*in, *out;
};

/// An incomplete factorisation in place of compressed rows.
class Factorisation {
public:
    virtual ~Factorisation() = default;
    virtual int work_bytes(CompressedRows& rows) = 0;
    virtual void analyse(CompressedRows& rows, void* work) = 0;
    virtual void factorise(CompressedRows& rows, void* work) = 0;
    /// Row, or block row, of the first pivot that is missing or zero; -1: none. Waits for the device.
    virtual int zero_pivot() = 0;
    virtual const char* name() const = 0;

protected:
    int position(cusparseStatus_t status, int at) const {
        if (status == CUSPARSE_STATUS_ZERO_PIVOT) return at;
        check(status, name());
        return -1;
    }
    explicit Factorisation(const Handle& handle) : handle_(handle) {
        describe(general_, CUSPARSE_FILL_MODE_LOWER, CUSPARSE_DIAG_TYPE_NON_UNIT);
    }
    const Handle& handle_;
    Description general_;
};

class Csrilu02 : public Factorisation {
public:
    explicit Csrilu02(const Handle& handle) : Factorisation(handle) {
        check(cusparseCreateCsrilu02Info(info_.address()), name());
    }
    int work_bytes(CompressedRows& a) override {
        int bytes = 0;
        check(cusparseDcsrilu02_bufferSize(handle_, a.rows(), a.entries(), general_, a.values(), a.row_begin(),
                                           a.column(), info_, &bytes),
              "cusparseDcsrilu02_bufferSize");
        return bytes;
    }
    void analyse(CompressedRows& a, void* work) override {
        check(cusparseDcsrilu02_analysis(handle_, a.rows(), a.entries(), general_, a.values(), a.row_begin(),
                                         a.column(), info_, policy, work),
              "cusparseDcsrilu02_analysis");
    }
    void factorise(CompressedRows& a, void* work) override {
        check(cusparseDcsrilu02(handle_, a.rows(), a.entries(), general_, a.values(), a.row_begin(), a.column(), info_,
                                policy, work),
              name());
    }
    int zero_pivot() override {
        int at = -1;
        const auto status = cusparseXcsrilu02_zeroPivot(handle_, info_, &at);
        return position(status, at);
    }
    const char* name() const override { return "csrilu02"; }

private:
    Owned<csrilu02Info_t, cusparseDestroyCsrilu02Info> info_;
};

/// Reads and writes the lower triangle only.
class Csric02 : public Factorisation {
public:
    explicit Csric02(const Handle& handle) : Factorisation(handle) {
        check(cusparseCreateCsric02Info(info_.address()), name());
    }
    int work_bytes(CompressedRows& a) override {
        int bytes = 0;
        check(cusparseDcsric02_bufferSize(handle_, a.rows(), a.entries(), general_, a.values(), a.row_begin(),
                                          a.column(), info_, &bytes),
              "cusparseDcsric02_bufferSize");
        return bytes;
    }
    void analyse(CompressedRows& a, void* work) override {
        check(cusparseDcsric02_analysis(handle_, a.rows(), a.entries(), general_, a.values(), a.row_begin(), a.column(),
                                        info_, policy, work),
              "cusparseDcsric02_analysis");
    }
    void factorise(CompressedRows& a, void* work) override {
        check(cusparseDcsric02(handle_, a.rows(), a.entries(), general_, a.values(), a.row_begin(), a.column(), info_,
                               policy, work),
              name());
    }
    int zero_pivot() override {
        int at = -1;
        const auto status = cusparseXcsric02_zeroPivot(handle_, info_, &at);
        return position(status, at);
    }
    const char* name() const override { return "csric02"; }

private:
    Owned<csric02Info_t, cusparseDestroyCsric02Info> info_;
};

class Bsrilu02 : public Factorisation {
public:
    Bsrilu02(const Handle& handle, int block) : Factorisation(handle), block_(block) {
        check(cusparseCreateBsrilu02Info(info_.address()), name());
    }
    int work_bytes(CompressedRows& a) override {
        int bytes = 0;
        check(cusparseDbsrilu02_bufferSize(handle_, by_rows, a.rows(), a.entries(), general_, a.values(), a.row_begin(),
                                           a.column(), block_, info_, &bytes),
              "cusparseDbsrilu02_bufferSize");
        return bytes;
    }
    void analyse(CompressedRows& a, void* work) override {
        check(cusparseDbsrilu02_analysis(handle_, by_rows, a.rows(), a.entries(), general_, a.values(), a.row_begin(),
                                         a.column(), block_, info_, policy, work),
              "cusparseDbsrilu02_analysis");
    }
    void factorise(CompressedRows& a, void* work) override {
        check(cusparseDbsrilu02(handle_, by_rows, a.rows(), a.entries(), general_, a.values(), a.row_begin(),
                                a.column(), block_, info_, policy, work),
              name());
    }
    int zero_pivot() override {
        int at = -1;
        const auto status = cusparseXbsrilu02_zeroPivot(handle_, info_, &at);
        return position(status, at);
    }
    const char* name() const override { return "bsrilu02"; }

private:
    int block_;
    Owned<bsrilu02Info_t, cusparseDestroyBsrilu02Info> info_;
};

/// A triangular solve between two fixed vectors.
class Triangle {
public:
    virtual ~Triangle() = default;
    /// Allocates the work and analyses the factored values; later values are told by `update`.
    virtual void analyse(const Context& context) = 0;
    virtual void update() = 0;
    virtual void solve() = 0;
    Index work_bytes() const { return work_.size(); }

protected:
    Triangle(const Handle& handle, CompressedRows& rows, const Side& side)
        : handle_(handle), rows_(rows), side_(side) {}
    const Handle& handle_;
    CompressedRows& rows_;
    Side side_;
    Buffer<char> work_;
};

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
        work_ = Buffer<char>(context, "cuSPARSE's buffers", Index(bytes));
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

/// Seconds of work, with all it queued.
double seconds_of(const std::function<void()>& work) {
    device::synchronize();
    const auto begin = std::chrono::steady_clock::now();
    work();
    device::synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

std::string cusparse_unavailable() {
    return device::unavailable();
}

struct CusparseIlu::Device {
    Layout layout;
    std::vector<Int3> offsets;
    int dof, pattern_lower;
    bool symmetric, analysed = false;
    Handle handle;
    CompressedRows rows;
    Buffer<double> in, middle, out;
    std::unique_ptr<Factorisation> factorisation;
    std::unique_ptr<Triangle> lower, upper;
    Buffer<char> work;
    CusparseCosts costs;

    Device(const Context& context, const StructMatrix& a, const Stencil& pattern, RowFormat format)
        : layout(a.layout()),
          offsets(a.stencil().offsets()),
          dof(a.dof()),
          pattern_lower(pattern.lower_size()),
          symmetric(a.symmetric()),
          rows(context, a, pattern, format, symmetric && format == RowFormat::csr ? RowPart::lower : RowPart::full),
          in(context, "cuSPARSE's vectors", a.unknowns()),
          middle(context, "cuSPARSE's vectors", a.unknowns()),
          out(context, "cuSPARSE's vectors", a.unknowns()) {
        open(handle);
        const bool cholesky = symmetric && format == RowFormat::csr;
        const auto unit = cholesky ? CUSPARSE_DIAG_TYPE_NON_UNIT : CUSPARSE_DIAG_TYPE_UNIT;
        const Side low{CUSPARSE_FILL_MODE_LOWER, unit, plain, &in, &middle};
        const Side up{cholesky ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER, CUSPARSE_DIAG_TYPE_NON_UNIT,
                      cholesky ? CUSPARSE_OPERATION_TRANSPOSE : plain, &middle, &out};
        if (format == RowFormat::bsr) {
            factorisation = std::make_unique<Bsrilu02>(handle, dof);
            lower = std::make_unique<Bsrsv2Triangle>(handle, rows, low);
            upper = std::make_unique<Bsrsv2Triangle>(handle, rows, up);
        } else {
            if (cholesky)
                factorisation = std::make_unique<Csric02>(handle);
            else
                factorisation = std::make_unique<Csrilu02>(handle);
            lower = std::make_unique<SpSVTriangle>(handle, rows, low);
            upper = std::make_unique<SpSVTriangle>(handle, rows, up);
        }
    }

    bool serves(const StructMatrix& a) const {
        return a.layout() == layout && a.dof() == dof && a.symmetric() == symmetric && a.stencil().offsets() == offsets;
    }

    void analyse_factorisation(const Context& context) {
        work = buffer(context, factorisation->work_bytes(rows), factorisation->name());
        costs.analysis += seconds_of([&] { factorisation->analyse(rows, work.data()); });
        require_pivots();
    }

    void analyse_triangles(const Context& context) {
        costs.analysis += seconds_of([&] {
            lower->analyse(context);
            upper->analyse(context);
        });
        costs.work_bytes = work.size() + lower->work_bytes() + upper->work_bytes();
    }

    void require_pivots() {
        const int at = factorisation->zero_pivot();
        if (at < 0) return;
        const int rows_of_point = rows.format() == RowFormat::bsr ? 1 : dof;
        const Int3 cell = layout.grid().point(Index(at / rows_of_point));
        throw SetupError(
            fmt::format("cusparse_ilu: {} met a pivot that is zero{} at cell ({},{},{}){}; it has no remedy for one, "
                        "struct_ilu has "
                        "(preconditioner.pivot_policy = shift or boost)",
                        factorisation->name(), symmetric ? " or not positive" : "", cell.x, cell.y, cell.z,
                        rows_of_point > 1 ? fmt::format(", component {}", at % rows_of_point) : ""));
    }
};

CusparseIlu::CusparseIlu(const Context& context, const CusparseOptions& options)
    : context_(context), options_(options) {}
CusparseIlu::~CusparseIlu() = default;

SetupReport CusparseIlu::setup(const StructMatrix& a) {
    if (!device_ || !device_->serves(a)) {
        device_.reset();
        const Stencil stencil = a.stencil().filled(options_.fill_level);
        const double seconds =
            seconds_of([&] { device_ = std::make_unique<Device>(context_, a, stencil, options_.format); });
        device_->costs.conversion = seconds;
        device_->analyse_factorisation(context_);
    } else {
        restore(a);
    }
    Device& d = *device_;
    factorise();
    d.require_pivots();
    if (!d.analysed) {
        d.analyse_triangles(context_);
        d.analysed = true;
    } else {
        d.lower->update();
        d.upper->update();
    }
    SetupReport report;
    report.factor_bytes = d.rows.bytes();
    return report;
}

void CusparseIlu::restore(const StructMatrix& a) {
    device_->rows.assign(a);
}

void CusparseIlu::factorise() {
    device_->factorisation->factorise(device_->rows, device_->work.data());
}

void CusparseIlu::load(const Vector& r) const {
    to_rows(r, device_->in.data());
}

void CusparseIlu::lower_solve() const {
    device_->lower->solve();
}

void CusparseIlu::upper_solve() const {
    device_->upper->solve();
}

void CusparseIlu::store(Vector& z) const {
    from_rows(device_->out.data(), z);
}

void CusparseIlu::apply(const Vector& r, Vector& z) const {
    load(r);
    lower_solve();
    upper_solve();
    store(z);
}

PreconditionerTraits CusparseIlu::traits() const {
    return {.fixed = true, .symmetric = device_ && device_->symmetric};
}

Index CusparseIlu::bytes_per_apply() const {
    const Device& d = *device_;
    const Index block = Index(d.dof) * d.dof * d.layout.slots(), lower = d.pattern_lower;
    return ((2 * lower + 2) * block + 4 * d.in.size()) * Index(sizeof(double));
}

const CusparseCosts& CusparseIlu::costs() const {
    return device_->costs;
}

struct CusparseProduct::Device {
    Handle handle;
    CompressedRows rows;
    Buffer<double> x, y;
    Sparse matrix;
    Dense from, to;
    Description general;
    Buffer<char> work;

    Device(const Context& context, const StructMatrix& a, RowFormat format)
        : rows(context, a, a.stencil(), format, RowPart::full),
          x(context, "cuSPARSE's vectors", a.unknowns()),
          y(context, "cuSPARSE's vectors", a.unknowns()) {
        open(handle);
        describe(general, CUSPARSE_FILL_MODE_LOWER, CUSPARSE_DIAG_TYPE_NON_UNIT);
        if (format == RowFormat::csr) prepare(context);
    }

    void prepare(const Context& context) {
        describe(matrix, rows);
        describe(from, x);
        describe(to, y);
        std::size_t bytes = 0;
        check(cusparseSpMV_bufferSize(handle, plain, &one, matrix, from, &zero, to, CUDA_R_64F,
                                      CUSPARSE_SPMV_ALG_DEFAULT, &bytes),
              "cusparseSpMV_bufferSize");
        work = Buffer<char>(context, "cuSPARSE's buffers", Index(bytes));
        check(cusparseSpMV_preprocess(handle, plain, &one, matrix, from, &zero, to, CUDA_R_64F,
                                      CUSPARSE_SPMV_ALG_DEFAULT, work.data()),
              "cusparseSpMV_preprocess");
    }

    void multiply() {
        if (rows.format() == RowFormat::bsr)
            return check(
                cusparseDbsrmv(handle, by_rows, plain, rows.rows(), rows.rows(), rows.entries(), &one, general,
                               rows.values(), rows.row_begin(), rows.column(), rows.block(), x.data(), &zero, y.data()),
                "cusparseDbsrmv");
        check(cusparseSpMV(handle, plain, &one, matrix, from, &zero, to, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT,
                           work.data()),
              "cusparseSpMV");
    }
};

CusparseProduct::CusparseProduct(const Context& context, const StructMatrix& a, RowFormat format) : a_(a) {
    if (a.grid().any_periodic())
        throw UsageError("a product by cuSPARSE leaves out couplings that wrap; bench a grid without periodic axes");
    device_ = std::make_unique<Device>(context, a, format);
}
CusparseProduct::~CusparseProduct() = default;

void CusparseProduct::load(const Vector& x) const {
    to_rows(x, device_->x.data());
}

void CusparseProduct::multiply() const {
    device_->multiply();
}

void CusparseProduct::store(Vector& y) const {
    from_rows(device_->y.data(), y);
}

void CusparseProduct::apply(const Vector& x, Vector& y) const {
    load(x);
    multiply();
    store(y);
}

}  // namespace hyperplane
