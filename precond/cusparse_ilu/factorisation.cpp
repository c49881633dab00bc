// SPDX-License-Identifier: BSD-3-Clause
#include "precond/cusparse_ilu/factorisation.hpp"

#include <string_view>

namespace hyperplane::cusparse {
namespace {

struct Csrilu02 {
    using Info = Owned<csrilu02Info_t, cusparseDestroyCsrilu02Info>;
    static constexpr bool blocks = false;
    static constexpr auto name = "cusparseDcsrilu02";
    static constexpr auto create = cusparseCreateCsrilu02Info;
    static constexpr auto buffer_size = cusparseDcsrilu02_bufferSize;
    static constexpr auto analyse = cusparseDcsrilu02_analysis;
    static constexpr auto factorise = cusparseDcsrilu02;
    static constexpr auto zero_pivot = cusparseXcsrilu02_zeroPivot;
};

struct Csric02 {
    using Info = Owned<csric02Info_t, cusparseDestroyCsric02Info>;
    static constexpr bool blocks = false;
    static constexpr auto name = "cusparseDcsric02";
    static constexpr auto create = cusparseCreateCsric02Info;
    static constexpr auto buffer_size = cusparseDcsric02_bufferSize;
    static constexpr auto analyse = cusparseDcsric02_analysis;
    static constexpr auto factorise = cusparseDcsric02;
    static constexpr auto zero_pivot = cusparseXcsric02_zeroPivot;
};

struct Bsrilu02 {
    using Info = Owned<bsrilu02Info_t, cusparseDestroyBsrilu02Info>;
    static constexpr bool blocks = true;
    static constexpr auto name = "cusparseDbsrilu02";
    static constexpr auto create = cusparseCreateBsrilu02Info;
    static constexpr auto buffer_size = cusparseDbsrilu02_bufferSize;
    static constexpr auto analyse = cusparseDbsrilu02_analysis;
    static constexpr auto factorise = cusparseDbsrilu02;
    static constexpr auto zero_pivot = cusparseXbsrilu02_zeroPivot;
};

/// A factorisation by one of the sets of routines above, which all have the same arguments.
template <class Routines>
class InPlace : public Factorisation {
public:
    InPlace(const Handle& handle, bool levels) : handle_(handle), policy_(policy_of(levels)) {
        describe(general_, CUSPARSE_FILL_MODE_LOWER, CUSPARSE_DIAG_TYPE_NON_UNIT);
        check(Routines::create(info_.address()), name());
    }
    int work_bytes(CompressedRows& a) override {
        int bytes = 0;
        check(call(Routines::buffer_size, a, &bytes), Routines::name, "_bufferSize");
        return bytes;
    }
    void analyse(CompressedRows& a, void* work) override {
        check(call(Routines::analyse, a, policy_, work), Routines::name, "_analysis");
        ++analyses_;
    }
    Index analyses() const override { return analyses_; }
    void factorise(CompressedRows& a, void* work) override {
        check(call(Routines::factorise, a, policy_, work), name());
    }
    int zero_pivot() override {
        int at = -1;
        const auto status = Routines::zero_pivot(handle_, info_, &at);
        if (status == CUSPARSE_STATUS_ZERO_PIVOT) return at;
        check(status, name());
        return -1;
    }
    const char* name() const override { return Routines::name + std::string_view("cusparseD").size(); }

private:
    template <class Routine, class... Rest>
    cusparseStatus_t call(Routine routine, CompressedRows& a, Rest... rest) {
        if constexpr (Routines::blocks)
            return routine(handle_, by_rows, a.rows(), a.entries(), general_, a.values(), a.row_begin(), a.column(),
                           a.block(), info_, rest...);
        else
            return routine(handle_, a.rows(), a.entries(), general_, a.values(), a.row_begin(), a.column(), info_,
                           rest...);
    }

    const Handle& handle_;
    Index analyses_ = 0;
    cusparseSolvePolicy_t policy_;
    Description general_;
    typename Routines::Info info_;
};

}  // namespace

std::unique_ptr<Factorisation> make_factorisation(const Handle& handle, RowFormat format, bool cholesky, bool levels) {
    if (format == RowFormat::bsr) return std::make_unique<InPlace<Bsrilu02>>(handle, levels);
    if (cholesky) return std::make_unique<InPlace<Csric02>>(handle, levels);
    return std::make_unique<InPlace<Csrilu02>>(handle, levels);
}

}  // namespace hyperplane::cusparse
