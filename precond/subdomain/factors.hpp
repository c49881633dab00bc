// SPDX-License-Identifier: BSD-3-Clause
// Incomplete factors of subdomains, which are independent; the equations are in precond/subdomain/ildu0.hpp.
#pragma once

#include <memory>

#include "precond/factors/copy.hpp"
#include "precond/factors/pivots.hpp"
#include "precond/factors/stored_values.hpp"
#include "precond/subdomain/factor_arguments.hpp"
#include "precond/subdomain/partition.hpp"

namespace hyperplane {

/// View of the factors, for code on either backend. Entries below the diagonal are W, the diagonal is D^-1, and entries
/// above it are G.
template <class T>
struct BasicSubdomainView {
    Partition partition;
    const SubdomainPlace* places = nullptr;  ///< [local number]
    T* values = nullptr;
    Index subdomain_values = 0;
    int dof = 1, lower = 0;

    HYPERPLANE_HD T& at(Index subdomain, int local, int entry, int row, int col) const {
        const SubdomainPlace& place = places[local];
        const int from = entry < lower ? place.lower : place.upper, e = entry < lower ? entry : entry - lower;
        return values[subdomain * subdomain_values + from + Index(e * dof + col) * place.stride +
                      row * place.row_stride];
    }
    /// The exponent of half_scaled for a row of part 0, 1 or 2, which are W, G and D^-1.
    HYPERPLANE_HD RowExponent& exponent(Index subdomain, int local, int part, int row) const {
        const SubdomainPlace& place = places[local];
        return reinterpret_cast<RowExponent*>(
            values + subdomain * subdomain_values)[place.exponents[part] + row * place.row_stride];
    }
};
using SubdomainFactorView = BasicSubdomainView<double>;

class SubdomainFactorCuda;
class PivotRecord;

/// The factors of the subdomains that a rank has, with the order in which they are stored.
class SubdomainFactors {
public:
    /// Allocates factors for matrices of the shape of `a`.
    SubdomainFactors(const Context& context, const Partition& partition, const StructMatrix& a,
                     SubdomainOrder::Rows rows, FactorStorage storage);

    bool serves(const Partition& partition, const StructMatrix& a) const;
    /// Factors A + alpha diag(A) without the couplings between subdomains. A subdomain is factored on a GPU by a thread
    /// block, level by level, on a CPU by one thread, line by line, for which factors must be stored by line.
    void factor(const StructMatrix& a, double alpha, const PivotRules& rules, PivotInverter& inverter);
    /// Rounds the factors to the storage, which must be in reduced precision, and releases those in double precision.
    /// In the result's numbers, the parts of a matrix row in W, D^-1 and G count as three rows. `layout` is the
    /// matrix's.
    Rounding round(const Layout& layout);

    const Partition& partition() const { return partition_; }
    /// The subdomains that are factored; on one of several ranks, those of its part of the grid.
    const Partition::Range& held() const { return held_; }
    const Stencil& stencil() const { return stencil_; }  ///< Partition::within of the matrix's
    const SubdomainOrder& order() const { return order_; }
    FactorStorage storage() const { return order_.storage; }
    /// The stored factors of all subdomains in held(), each in the order of order(). T must be the type of the
    /// storage: double, float or Half.
    template <class T>
    const T* values() const {
        return static_cast<const T*>(data());
    }
    const void* data() const { return is_reduced(storage()) ? reduced_.data() : values_.data(); }

    /// The argument of the kernels that factor on tensor cores (precond/subdomain/factor.cuh).
    SubdomainFactorArguments tensor_arguments(const StructMatrix& a, double alpha, const PivotRules& rules,
                                              PivotRecord& record);

    /// Copies factors in double precision, of all subdomains in held(). Couplings between subdomains are zero in the
    /// copy, and `to` must have the offsets of stencil().
    void copy_triangles(const TriangleCopy& to) const;

    /// Bytes held by the factors alone, and together with their tables.
    Index factor_bytes() const { return count() * bytes_of(storage()); }
    static Index bytes(const Partition& partition, Index subdomains, const Stencil& matrix, int dof,
                       SubdomainOrder::Rows rows, FactorStorage storage);
    /// Bytes held in addition during a set-up: on a GPU the record of pivots, and the factors in double precision if
    /// they are going to be rounded.
    static Index setup_bytes(Backend backend, const Partition& partition, Index subdomains, const Stencil& matrix,
                             int dof, SubdomainOrder::Rows rows, FactorStorage storage);

private:
    Index count() const { return held_.count() * order_.values; }
    /// The plane of the whole grid at which the partition's begins: on a GPU that of a rank's planes.
    int first_plane(const Layout& layout) const;
    void factor_lines(const StructMatrix& a, double alpha, PivotInverter& inverter);
    void factor_points(const StructMatrix& a, double alpha, const PivotRules& rules, PivotInverter& inverter);
    /// The same on tensor cores (precond/subdomain/factor.cuh), if the unknowns of a point allow it.
    void factor_on_tensor_cores(const StructMatrix& a, double alpha, const PivotRules& rules, PivotRecord& record);
    template <class T>
    void round_to(const Layout& layout, T* values, RoundingLog* log);

    Context context_;
    Partition partition_;
    Partition::Range held_;
    Stencil stencil_;
    std::vector<Int3> matrix_offsets_;
    bool symmetric_;
    SubdomainOrder order_;
    Buffer<SubdomainPlace> places_;
    Buffer<int> points_, levels_, tables_;
    Buffer<Int3> offsets_, kept_offsets_;
    Buffer<SubdomainProduct> products_;                           ///< where points are factored on tensor cores
    Buffer<double> values_;                                       ///< in double precision; released after rounding
    StoredValues reduced_;                                        ///< in reduced precision, with exponents among them
    std::shared_ptr<const SubdomainFactorCuda> on_tensor_cores_;  ///< kernels, if points have five to eight unknowns
};

}  // namespace hyperplane
