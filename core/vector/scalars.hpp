// SPDX-License-Identifier: BSD-3-Clause
// Scalars in the memory of the vectors' backend: reductions write them and later operations read them as Ratios, so the
// host does not have to wait for them.
#pragma once

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "core/device/context.hpp"

namespace hyperplane {

/// An inner product this small relative to the norms of its factors, or the remainder of a vector this small relative
/// to the vector, is nothing but rounding error.
inline constexpr double rounding_tolerance = 1e-14;

/// Whether `product` = u^T w is larger than the rounding errors of its sum; uu = u^T u, ww = w^T w. False for NaN.
HYPERPLANE_HD inline bool stands_out(double product, double uu, double ww) {
    return std::abs(product) > rounding_tolerance * std::sqrt(uu) * std::sqrt(ww);
}

/// The coefficient factor * over / under, evaluated when the operation that it is passed to runs; null pointers count
/// as 1.
///
/// A method may state a condition on the scalars. If the condition is violated or the quotient is not finite, the value
/// is 0, and operations do not touch a vector whose coefficient is 0, so that no bad scalar reaches it.
class Ratio {
public:
    Ratio(double factor) : factor_(factor) {}  // NOLINT: implicit, since a number is a coefficient
    Ratio(double factor, const double* over, const double* under) : factor_(factor), over_(over), under_(under) {}

    /// The same, on condition that over > 0 and under > 0.
    Ratio if_positive() const {
        Ratio guarded = *this;
        guarded.demand_ = Demand::positive;
        return guarded;
    }
    /// The same, on condition that stands_out(product, uu, ww).
    Ratio if_stands_out(const double* product, const double* uu, const double* ww) const {
        Ratio guarded = *this;
        guarded.demand_ = Demand::stands_out;
        guarded.product_ = product;
        guarded.uu_ = uu;
        guarded.ww_ = ww;
        return guarded;
    }

    HYPERPLANE_HD double value() const {
        const double over = over_ ? *over_ : 1.0, under = under_ ? *under_ : 1.0;
        const double quotient = factor_ * over / under;
        if (demand_ == Demand::nothing) return quotient;
        const bool usable = demand_ == Demand::positive ? over > 0.0 && under > 0.0 : stands_out(*product_, *uu_, *ww_);
        return usable && std::abs(quotient) <= 1.7976931348623157e308 ? quotient : 0.0;
    }

private:
    enum class Demand { nothing, positive, stands_out };

    double factor_;
    const double *over_ = nullptr, *under_ = nullptr;
    Demand demand_ = Demand::nothing;
    const double *product_ = nullptr, *uu_ = nullptr, *ww_ = nullptr;
};

/// An array of doubles in a context's memory, initially zero.
class Scalars {
public:
    Scalars(const Context& context, const std::string& label, Index count) : values_(context, label, count) {}

    /// An address in the context's memory, which the host may not be able to read.
    double* data() { return values_.data(); }
    Index size() const { return values_.size(); }
    /// Overwrites the scalars from number `first` on, after all operations queued so far.
    void set(Index first, std::span<const double> values);
    /// The scalars [first, first + count); waits for all operations queued so far.
    std::vector<double> get(Index first, Index count) const;

private:
    Buffer<double> values_;
};

}  // namespace hyperplane
