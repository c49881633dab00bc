// SPDX-License-Identifier: BSD-3-Clause
// Incomplete factors of subdomains, each factored by itself; the equations are in precond/subdomain/ildu0.hpp.
#pragma once

#include "precond/factors/copy.hpp"
#include "precond/factors/pivots.hpp"
#include "precond/subdomain/partition.hpp"

namespace hyperplane {

/// Where factors lie, for code on either backend; a small value. Entries below the diagonal are W, the diagonal one is
/// D^-1, those above are G.
template <class T>
struct BasicSubdomainView {
    Cuts cuts;
    const SubdomainPlace* places = nullptr;  ///< by local number
    T* values = nullptr;
    Index subdomain_values = 0;
    int dof = 1, lower = 0;

    HYPERPLANE_HD T& at(Index subdomain, int local, int entry, int row, int col) const {
        const SubdomainPlace& place = places[local];
        const int from = entry < lower ? place.lower : place.upper, e = entry < lower ? entry : entry - lower;
        return values[subdomain * subdomain_values + from + Index(e * dof + col) * place.stride +
                      row * place.row_stride];
    }
    /// half_scaled's, of part 0, 1 or 2: W, G or D^-1.
    HYPERPLANE_HD RowExponent& exponent(Index subdomain, int local, int part, int row) const {
        const SubdomainPlace& place = places[local];
        return reinterpret_cast<RowExponent*>(
            values + subdomain * subdomain_values)[place.exponents[part] + row * place.row_stride];
    }
};
using SubdomainFactorView = BasicSubdomainView<double>;

class SubdomainFactors {
public:
    /// For matrices of this shape.
    SubdomainFactors(const Context& context, const Cuts& cuts, const StructMatrix& a, SubdomainOrder::Rows rows,
                     FactorStorage storage);

    bool serves(const Cuts& cuts, const StructMatrix& a) const;
    /// Factors A + alpha diag(A) without the couplings between subdomains. One block of threads a subdomain on a GPU,
    /// one thread on a CPU, with its factors by line; step by step on both.
    void factor(const StructMatrix& a, double alpha, const PivotRules& rules, PivotInverter& inverter);
    /// Keeps what was factored in fewer bits, as the storage has it, and releases the rest. A row of W, one of D^-1 and
    /// one of G are rows of their own.
    Rounding round();

    const Cuts& cuts() const { return cuts_; }
    const Stencil& stencil() const { return stencil_; }  ///< Cuts::within of the matrix's
    const SubdomainOrder& order() const { return order_; }
    FactorStorage storage() const { return order_.storage; }
    /// As the storage has them, in the order's places; T is double, float or Half.
    template <class T>
    const T* values() const {
        return static_cast<const T*>(data());
    }
    const void* data() const {
        return is_narrow(storage()) ? static_cast<const void*>(narrow_.data()) : values_.data();
    }

    /// Copies factors of double precision, zero across cuts; `to` has the offsets of stencil().
    void copy_triangles(const TriangleCopy& to) const;
    /// W, D^-1 and G as they are kept, on the host, in natural order; zero across cuts.
    StructMatrix widened() const;

    /// Memory held: the factors alone, and with their tables.
    Index factor_bytes() const { return cuts_.subdomains() * order_.values * bytes_of(storage()); }
    static Index bytes(const Cuts& cuts, const Stencil& matrix, int dof, SubdomainOrder::Rows rows,
                       FactorStorage storage);
    /// More that is held while they are made: what is told of pivots, on a GPU by each subdomain, and factors of double
    /// precision that will be rounded.
    static Index setup_bytes(Backend backend, const Cuts& cuts, const Stencil& matrix, int dof,
                             SubdomainOrder::Rows rows, FactorStorage storage);

private:
    Index count() const { return cuts_.subdomains() * order_.values; }
    void factor_lines(const StructMatrix& a, double alpha, PivotInverter& inverter);
    void factor_points(const StructMatrix& a, double alpha, const PivotRules& rules, PivotInverter& inverter);
    template <class T>
    void round_to(RoundingLog* log);
    template <class T>
    void widen_to(StructMatrix& host) const;

    Context context_;
    Cuts cuts_;
    Stencil stencil_;
    std::vector<Int3> matrix_offsets_;
    bool symmetric_;
    SubdomainOrder order_;
    Buffer<SubdomainPlace> places_;
    Buffer<int> points_, begin_, tables_;
    Buffer<Int3> offsets_, kept_offsets_;
    Buffer<double> values_;         ///< while they are made, or for good
    Buffer<std::uint32_t> narrow_;  ///< the same in fewer bits
};

}  // namespace hyperplane
