// Products of blocks of three to eight unknowns on tensor cores: a warp has one block at a time, or two of up
// to four unknowns, in registers. Definitions: DOF.
//
// A product is D = A B + C with 8 x 4 values of A, 4 x 8 of B and 8 x 8 of C, D (mma.m8n8k4), twice where a block has
// more than four columns. Of two blocks, one has rows and columns 0 to 3, the other 4 to 7; what their products have
// off the diagonal is never read.

constexpr int points = DOF <= 4 ? 2 : 1, size = 8 / points;  // of a warp; rows of a block with what fills it up
constexpr int steps = size == 4 ? 1 : 2;                     // products of 4 columns
constexpr int block_size = DOF * DOF;

/// A block as a result: rows lane / 4, columns 2 (lane % 4) and the next.
struct Block {
    double v[2];
};
/// As a left operand: row lane / 4, columns lane % 4 + 4 h. As a right one: rows lane % 4 + 4 h, column lane / 4.
struct Operand {
    double v[steps];
};

/// What a thread of a warp has of blocks.
struct Lane {
    const int lane, which;  // of the warp's blocks
    const int r, c, k, n;   // row and first column of a result; column (row) and row (column) of an operand
    const bool in_rows;     // of a result

    __device__ explicit Lane(int thread)
        : lane(thread % 32),
          which(points == 2 ? lane / 16 : 0),
          r(lane / 4 - size * which),
          c(2 * (lane % 4) - size * which),
          k(lane % 4),
          n(r),
          in_rows(r < DOF) {}

    /// Whether this thread's columns of a result are the block's.
    __device__ bool inside(int m) const { return in_rows && unsigned(c + m) < unsigned(DOF); }

    __device__ static double from(double value, int lane_) { return __shfl_sync(~0u, value, lane_); }

    /// Column `column` of this thread's row of a result; every thread may ask for another one.
    __device__ static double of_row(const Block& x, int row, int column) {
        const int source = 4 * row + column / 2;
        const double even = from(x.v[0], source), odd = from(x.v[1], source);
        return column % 2 ? odd : even;
    }
    __device__ Operand as_left(const Block& x) const {
        Operand left;
#pragma unroll
        for (int h = 0; h < steps; ++h) {
            const double value = of_row(x, lane / 4, k + 4 * h + size * which);
            left.v[h] = k + 4 * h < DOF ? value : 0.0;
        }
        return left;
    }
    __device__ Operand as_right(const Block& x) const {
        Operand right;
#pragma unroll
        for (int h = 0; h < steps; ++h) right.v[h] = of_row(x, k + 4 * h + size * which, lane / 4);
        return right;
    }
    /// sum += sign * left right
    template <int sign>
    __device__ static void multiply_add(const Operand& left, const Operand& right, Block& sum) {
#pragma unroll
        for (int h = 0; h < steps; ++h)
            asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                : "+d"(sum.v[0]), "+d"(sum.v[1])
                : "d"(sign * left.v[h]), "d"(right.v[h]));
    }

    /// Step p of the Gauss-Jordan elimination of x (FGBILU paper, Algorithm 8). `row`: p's of the result; `here`:
    /// column p of this thread's row.
    __device__ __forceinline__ void eliminate(Block& x, int p, int row, double here, double inverse) const {
#pragma unroll
        for (int m = 0; m < 2; ++m) {
            const double above = from(x.v[m], 4 * row + lane % 4);
            const double scaled = (c + m == p ? 1.0 : above) * inverse;
            x.v[m] = r == p ? scaled : (c + m == p ? 0.0 : x.v[m]) - here * scaled;
        }
    }

    /// Where this thread's value of a right operand lies in a block, or in its transpose. Rows and columns beyond
    /// the block read its last ones: they meet zeros of the left operand, or end up outside.
    __device__ int place_of(bool transposed, int h) const {
        const int row = min(k + 4 * h, DOF - 1), column = min(n, DOF - 1);
        return transposed ? column * DOF + row : row * DOF + column;
    }
};
