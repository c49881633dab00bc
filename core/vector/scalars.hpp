// SPDX-License-Identifier: BSD-3-Clause
// Scalars that live where the vectors live: reductions write them, later operations take them as Ratios, and
// the host need not see them in between.
#pragma once

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "core/device/context.hpp"

namespace hyperplane {

/// A product this small beside its factors' norms, or the rest of a vector this small beside the
/// vector, is rounding error and nothing else.
inline constexpr double rounding_tolerance = 1e-14;

/// Whether `product` = u^T w stands out from the rounding of its own sum; uu = u^T u, ww = w^T w. False for NaN.
HYPERPLANE_HD inline bool stands_out(double product, double uu, double ww) {
    return std::abs(product) > rounding_tolerance * std::sqrt(uu) * std::sqrt(ww);
}

/// factor * over / under, taken when the operation it is given to runs; null pointers count as 1.
///
/// A method may say what must hold of its scalars. Where that does not, or the quotient is not finite, the
/// value is 0, and operations leave a vector alone that a coefficient of 0 belongs to: no bad scalar reaches it.
class Ratio {
public:
    Ratio(double factor) : factor_(factor) {}  // NOLINT: a number is a coefficient
    Ratio(double factor, const double* over, const double* under) : factor_(factor), over_(over), under_(under) {}

    /// The same, used only where over > 0 and under > 0.
    Ratio if_positive() const {
        Ratio guarded = *this;
        guarded.demand_ = Demand::positive;
        return guarded;
    }
    /// The same, used only where u^T w stands out.
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

/// Some doubles in a context's memory, zero at first.
class Scalars {
public:
    Scalars(const Context& context, const std::string& label, Index count) : values_(context, label, count) {}

    /// In the context's memory: for operations, not for the host.
    double* data() { return values_.data(); }
    Index size() const { return values_.size(); }
    /// Overwrites those from `first` on, after all operations given so far.
    void set(Index first, std::span<const double> values);
    /// Waits for all operations given so far.
    std::vector<double> get(Index first, Index count) const;

private:
    Buffer<double> values_;
};

}  // namespace hyperplane
