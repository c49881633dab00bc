// What passes between tiles: edges, a {value, epoch} record for each point that other tiles need. Definitions:
// struct_ilu_solve.cuh.

constexpr int edge_j = HALO_J < TJ ? HALO_J : TJ, edge_k = HALO_K < TK ? HALO_K : TK;
constexpr int edge_cells = edge_j * TK + edge_k * TJ;
constexpr int halo_cells = HALO_J * TK + HALO_K * columns;
constexpr int halo_records = halo_cells * DOF;
constexpr int plane_records = edge_cells * DOF;  // of a level
constexpr int halo_share = HALO_THREADS > 0 ? (halo_records + HALO_THREADS - 1) / HALO_THREADS : 0;
constexpr int halo_places = halo_share > 0 ? halo_share : 1;

__device__ __forceinline__ void store_edge(Edge* at, double value, u64 epoch) {
    asm volatile("{ .reg .b128 t; mov.b128 t, {%1, %2}; st.relaxed.gpu.global.b128 [%0], t; }" ::"l"(at),
                 "l"(__double_as_longlong(value)), "l"(epoch)
                 : "memory");
}

__device__ __forceinline__ void load_edge(const Edge* at, double& value, u64& epoch) {
    long long bits;
    asm volatile("{ .reg .b128 t; ld.relaxed.gpu.global.b128 t, [%2]; mov.b128 {%0, %1}, t; }"
                 : "=l"(bits), "=l"(epoch)
                 : "l"(at)
                 : "memory");
    value = __longlong_as_double(bits);
}

__device__ __forceinline__ int edge_cell_below(int tj, int tk) {
    return edge_j * TK + (tk - (TK - edge_k)) * TJ + tj;
}
__device__ __forceinline__ int edge_cell_right(int tj, int tk) {
    return (tj - (TJ - edge_j)) * TK + tk;
}

/// Brings the edges of other tiles into the ring: those of a level while the workers compute theirs of it.
__device__ void receive(const Arguments& a, const Tile& tile, u64 epoch, int lane) {
    const Edge* at[halo_places];
    int start[halo_places], place[halo_places];
#pragma unroll
    for (int h = 0; h < halo_share; ++h) {
        const int record = lane + h * HALO_THREADS;
        const int component = record % DOF, cell = record / DOF;
        // left columns of the tile's own rows first, then the rows above
        const bool left = cell < HALO_J * TK;
        const int row = left ? HALO_K + cell / (HALO_J > 0 ? HALO_J : 1) : (cell - HALO_J * TK) / columns;
        const int column = left ? cell % (HALO_J > 0 ? HALO_J : 1) : (cell - HALO_J * TK) % columns;
        const int skewed = tile.j + column - HALO_J, k = tile.k + row - HALO_K;
        const Line line(a, skewed, k);
        start[h] = 1 << 30;
        at[h] = a.edges;
        place[h] = (row * columns + column) * DOF + component;
        if (record < halo_records && line.valid && skewed >= 0) {
            const int from = a.tile_at[(k / TK) * a.tiles_j + skewed / TJ];
            const int tj = skewed % TJ, tk = k % TK;
            const int edge = left ? edge_cell_right(tj, tk) : edge_cell_below(tj, tk);
            at[h] += (long long)from * a.nx * plane_records + edge * DOF + component;
            start[h] = line.start;
        }
    }
    // A tile that has not begun yet must not crowd the memory: one lane asks for the warp's first record.
    int earliest = start[0];
#pragma unroll
    for (int h = 1; h < halo_share; ++h) earliest = min(earliest, start[h]);
    const int first = __reduce_min_sync(~0u, earliest);
    if (first <= tile.first && earliest == first) {
        const unsigned candidates = __activemask();
        if (lane % 32 == __ffs(candidates) - 1) {
            const Edge* from = at[0];
#pragma unroll
            for (int h = 1; h < halo_share; ++h)
                if (start[h] == first) from = at[h];
            u64 seen = 0;
            for (double ignored; seen != epoch;) {
                load_edge(from + (long long)(first % a.nx) * plane_records, ignored, seen);
                if (seen != epoch) __nanosleep(150);
            }
        }
    }
    __syncwarp();
    // Loads of the next LOOKAHEAD levels are under way while a level is waited for.
    double value[LOOKAHEAD][halo_places];
    u64 seen[LOOKAHEAD][halo_places];
    const int begin = tile.first - MAX_LEVEL;
    int ahead = begin, ahead_plane = (begin % a.nx + a.nx) % a.nx;
    const auto fetch = [&](double(&v)[halo_places], u64(&s)[halo_places]) {
#pragma unroll
        for (int h = 0; h < halo_share; ++h) {
            s[h] = 0;
            if (unsigned(ahead - start[h]) < unsigned(a.nx))
                load_edge(at[h] + (long long)ahead_plane * plane_records, v[h], s[h]);
        }
        ++ahead;
        if (++ahead_plane == a.nx) ahead_plane = 0;
    };
    int level = begin, plane = ahead_plane;
#pragma unroll
    for (int d = 0; d < LOOKAHEAD - 1; ++d) fetch(value[d], seen[d]);
    while (level <= tile.last) {
#pragma unroll
        for (int d = 0; d < LOOKAHEAD; ++d) {
            if (level <= tile.last) {
                __syncwarp();
                meet_all();  // the workers begin `level`, which needs the levels before
                fetch(value[(d + LOOKAHEAD - 1) % LOOKAHEAD], seen[(d + LOOKAHEAD - 1) % LOOKAHEAD]);
#pragma unroll
                for (int h = 0; h < halo_share; ++h)
                    if (unsigned(level - start[h]) < unsigned(a.nx)) {
                        int tries = 0;
                        while (seen[d][h] != epoch) {
                            if (++tries > 32) __nanosleep(40);
                            load_edge(at[h] + (long long)plane * plane_records, value[d][h], seen[d][h]);
                        }
                        shared[(level & (RING - 1)) * DOF * plane_size + place[h]] = value[d][h];
                    }
                ++level;
                if (++plane == a.nx) plane = 0;
            }
        }
    }
}
