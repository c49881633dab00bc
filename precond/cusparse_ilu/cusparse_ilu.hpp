// SPDX-License-Identifier: BSD-3-Clause
// cusparse_ilu: NVIDIA's own incomplete factorisations and triangular solves, the baseline on a GPU.
//
//     csr   csrilu02 and SpSV; csric02 and SpSV for a symmetric matrix
//     bsr   bsrilu02 and bsrsv2, blocks of dof x dof; a symmetric matrix is factored as any other
//
// With storage = single the factors are computed in double precision, then rounded. The solves, their arithmetic and
// their vectors are in single precision; r and z are converted.
//
// A matrix is copied to compressed rows (compressed_rows.hpp), on a grid in natural order, and in this order cuSPARSE's
// analysis finds its levels. The pattern of the fill level is that of struct_ilu, or of sync_free_ilu for a general
// matrix, and entries that the matrix does not have are zero. CUDA 13 marks the factorisations for removal. So only
// files that include precond/cusparse_ilu/calls.hpp call cuSPARSE; if the toolkit does not have the factorisations, the
// program is built without these files and says so.
#pragma once

#include <memory>
#include <string>

#include "core/interfaces/linear_operator.hpp"
#include "core/interfaces/preconditioner.hpp"
#include "precond/checks/applications.hpp"
#include "precond/cusparse_ilu/compressed_rows.hpp"
#include "precond/registry_row.hpp"

namespace hyperplane {

/// Empty if cuSPARSE's factorisations can be used, else the reason why they cannot.
std::string cusparse_unavailable();

/// What cuSPARSE needs before it can factor and solve.
struct CusparseCosts {
    double conversion = 0.0;  ///< seconds to make the compressed rows
    double analysis = 0.0;    ///< seconds to analyse the factorisation's pattern and both triangles
    Index analyses = 0;       ///< how many cuSPARSE has made for these; new values need no others
    Index work_bytes = 0;     ///< buffers, besides rows and vectors
};

struct CusparseOptions {
    RowFormat format = RowFormat::csr;
    int fill_level = 0;  ///< the matrix is padded with zeros to the stencil's pattern of this level
    FactorStorage storage = FactorStorage::double_precision;  ///< or single; cuSPARSE has no solves in half precision
    bool levels = true;  ///< whether all routines but SpSV use the levels that their analysis finds
    bool allow_cholesky = true;
    /// The keys and their places in the deck, for messages.
    std::string where_storage = "preconditioner.storage", where_format = "preconditioner.format";

    /// Whether the factorisation is csric02, for which CSR keeps one triangle of a symmetric matrix.
    bool cholesky(bool symmetric) const { return allow_cholesky && symmetric && format == RowFormat::csr; }
    RowPart part(bool symmetric) const { return cholesky(symmetric) ? RowPart::lower : RowPart::full; }
    /// Throws UsageError if storage is not double and the matrix is a general one.
    void check_storage(MatrixKind kind) const;
    /// Throws UsageError if rows with so many scalars are more than cuSPARSE can factor, in CSR 2^30: on CUDA 13.0
    /// csrilu02 factors 1.041e9 entries (star13:2:272), but its kernels fail with 1.088e9 (star13:2:276), and after
    /// them everything that uses the GPU.
    void require_factorisable(Index scalars) const;
};

class CusparseIlu : public Preconditioner {
public:
    /// For matrices of either kind.
    CusparseIlu(const Context& context, const CusparseOptions& options);
    ~CusparseIlu() override;

    SetupReport setup(const SystemMatrix& a) override;
    void apply(const Vector& r, Vector& z) const override;
    PreconditionerTraits traits() const override;
    Index bytes_per_apply() const override;
    /// Checks by the factors of struct_ilu, or of sync_free_ilu for a general matrix, which `in_double` makes.
    ApplicationCheck check_application(const SystemMatrix& a, const Vector& r, const Vector& z,
                                       const MakeInDouble& in_double) const override {
        return check_by_another(a, options_.storage, r, z, in_double);
    }
    /// The factorisation alone, without the analysis and without copying the matrix.
    NumericSetup numeric_setup(const SystemMatrix& a) override {
        return {[this] { factorise(); }, [this, &a] { restore(a); }, costs().analysis, costs().work_bytes};
    }
    /// The two solves alone, with the vector that the last apply loaded.
    void apply_unconverted(const Vector& /*r*/, Vector& /*z*/) const override {
        lower_solve();
        upper_solve();
    }
    void convert_vectors(const Vector& r, Vector& z) const override {
        load(r);
        store(z);
    }
    /// Of a matrix on a grid.
    bool solve_lower(const Vector& r, Vector& y) const override;

    /// Fewest bytes that one application moves: the factors, so many blocks of L + U, once, r, z, and the vector
    /// between the two solves.
    static Index fewest_bytes(Index blocks, int dof, Index rows, FactorStorage storage);

    const CusparseCosts& costs() const;

    /// The parts of setup and apply, for benchmarks; queued on the device.
    void restore(const SystemMatrix& a);  ///< copies the matrix to the rows again
    void factorise();                     ///< in place, once after each restore
    void load(const Vector& r) const;     ///< converts r to natural order
    void lower_solve() const;             ///< solves with what was loaded
    void upper_solve() const;             ///< solves with the lower solve's result
    void store(Vector& z) const;          ///< converts the result back

private:
    struct Device;
    Context context_;
    CusparseOptions options_;
    std::unique_ptr<Device> device_;
};

/// cuSPARSE's algorithms of products in CSR. The first is its default.
enum class ProductAlgorithm { first, second };

/// y = A x by cuSPARSE: cusparseSpMV on CSR, bsrmv on BSR. `a` computes the true residual and must outlive this object.
class CusparseProduct : public LinearOperator {
public:
    /// Throws UsageError if an axis is periodic, or if there are more entries than 32 bits count.
    CusparseProduct(const Context& context, const SystemMatrix& a, RowFormat format,
                    ProductAlgorithm algorithm = ProductAlgorithm::first);
    ~CusparseProduct() override;

    void apply(const Vector& x, Vector& y) const override;
    void residual(const Vector& b, const Vector& x, Vector& r) const override { a_.residual(b, x, r); }
    Index bytes_per_apply() const override { return a_.bytes_per_apply(); }

    /// The parts of apply, for benchmarks.
    void load(const Vector& x) const;
    void multiply() const;
    void store(Vector& y) const;

private:
    struct Device;
    const SystemMatrix& a_;
    std::unique_ptr<Device> device_;
};

PreconditionerRow cusparse_ilu_row();

}  // namespace hyperplane
