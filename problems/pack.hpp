// Several doubles that the host computes with at once: what a point formula written for any type of number takes
// where it runs along consecutive slots. Lane by lane the bits are those of plain doubles.
#pragma once

#include <cmath>

#include "core/types.hpp"

namespace hyperplane {

/// a b + c, rounded once.
HYPERPLANE_HD inline double fused(double a, double b, double c) {
    return std::fma(a, b, c);
}
/// `yes` where `which` holds, else `no`.
HYPERPLANE_HD inline double chosen(bool which, double yes, double no) {
    return which ? yes : no;
}
HYPERPLANE_HD inline double root(double x) {
    return std::sqrt(x);
}

struct Pack {
#ifdef __AVX512F__
    static constexpr int lanes = 8;
#else
    static constexpr int lanes = 4;
#endif
    typedef double Lanes __attribute__((vector_size(lanes * sizeof(double))));

    /// One flag a lane.
    struct Flags {
        bool at[lanes];
        Flags operator!() const {
            Flags not_these;
            for (int l = 0; l < lanes; ++l) not_these.at[l] = !at[l];
            return not_these;
        }
    };

    Lanes v;

    Pack() = default;
    Pack(double x) : v(x - Lanes{}) {}
    Pack(Lanes values) : v(values) {}

    Pack& operator+=(const Pack& b) {
        v += b.v;
        return *this;
    }
    Pack& operator-=(const Pack& b) {
        v -= b.v;
        return *this;
    }
    friend Pack operator+(const Pack& a, const Pack& b) {
        return a.v + b.v;
    }
    friend Pack operator-(const Pack& a, const Pack& b) {
        return a.v - b.v;
    }
    friend Pack operator*(const Pack& a, const Pack& b) {
        return a.v * b.v;
    }
    friend Pack operator/(const Pack& a, const Pack& b) {
        return a.v / b.v;
    }
    friend Pack operator-(const Pack& a) {
        return -a.v;
    }

    friend Pack fused(const Pack& a, const Pack& b, const Pack& c) {
        Pack r;
        for (int l = 0; l < lanes; ++l) r.v[l] = std::fma(a.v[l], b.v[l], c.v[l]);
        return r;
    }
    friend Pack chosen(const Flags& which, const Pack& yes, const Pack& no) {
        Pack r;
        for (int l = 0; l < lanes; ++l) r.v[l] = which.at[l] ? yes.v[l] : no.v[l];
        return r;
    }
    friend Pack root(const Pack& x) {
        Pack r;
        for (int l = 0; l < lanes; ++l) r.v[l] = std::sqrt(x.v[l]);
        return r;
    }
};

}  // namespace hyperplane
