// wgmma: a warpgroup multiplies A [64, 16] by B [N, 16]^T (32 columns where elements have 8 bits),
// both in shared memory, K-major, in the 128-byte swizzle, and adds it to D [64, N] in registers
// (PTX ISA, "Asynchronous warpgroup level matrix instructions"). Of 16-bit elements B may also lie
// as [16, N], N-major.
//
// D in registers: lane l of warp w of the warpgroup holds, of rows 16 w + l / 4 (element pairs 0)
// and that plus 8 (element pairs 1), columns 8 j + 2 (l % 4) and the next, in d[4 j + 2 pair + i].
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <type_traits>

namespace fusegate::kernels::sm90 {

// Describes a tile of 128-byte rows in the 128-byte swizzle, groups of eight rows
// 1,024 bytes apart. address: shared, a multiple of 1,024 plus 32 for every wgmma's columns in.
__device__ inline std::uint64_t matrix_descriptor(std::uint32_t address) {
  constexpr std::uint64_t kLeadingBytes = 1, kStrideBytes = 1024, kSwizzle128 = 1;
  return (address >> 4 & 0x3fff) | kLeadingBytes << 16 | (kStrideBytes >> 4) << 32 |
         kSwizzle128 << 62;
}

// The same of a B that lies as [k, N]: boxes of 64 columns, so many bytes apart. address: a
// multiple of 1,024, plus 2,048 for every wgmma's rows down.
__device__ inline std::uint64_t plain_descriptor(std::uint32_t address, std::uint32_t box_bytes) {
  constexpr std::uint64_t kGroupBytes = 1024, kSwizzle128 = 1;  // eight rows
  return (address >> 4 & 0x3fff) | static_cast<std::uint64_t>(box_bytes >> 4) << 16 |
         (kGroupBytes >> 4) << 32 | kSwizzle128 << 62;
}

// Makes earlier writes of registers and shared memory visible to later wgmmas.
__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

__device__ inline void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Until at most kPending committed groups are still running.
template <int kPending>
__device__ inline void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// Keeps the compiler from moving accesses to d across it, since wgmma writes d asynchronously.
template <int kCount>
__device__ inline void wgmma_pin(float (&d)[kCount]) {
#pragma unroll
  for (float& value : d) asm volatile("" : "+f"(value)::"memory");
}

// clang-format off
#define FUSEGATE_D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define FUSEGATE_D16(i) FUSEGATE_D4(i), FUSEGATE_D4(i + 4), FUSEGATE_D4(i + 8), FUSEGATE_D4(i + 12)
#define FUSEGATE_D32(i) FUSEGATE_D16(i), FUSEGATE_D16(i + 16)
#define FUSEGATE_D64(i) FUSEGATE_D32(i), FUSEGATE_D32(i + 32)
#define FUSEGATE_S0_7 "%0, %1, %2, %3, %4, %5, %6, %7"
#define FUSEGATE_S0_15 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define FUSEGATE_S16_23 "%16, %17, %18, %19, %20, %21, %22, %23"
#define FUSEGATE_S16_31 FUSEGATE_S16_23 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define FUSEGATE_S32_47 \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define FUSEGATE_S48_63 \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define FUSEGATE_S64_95 \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define FUSEGATE_S96_127 \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

// One wgmma of N columns; FORMAT is "k16.f32.bf16.bf16" or alike, A_, B_ and P_ the operands after d. SIGNS: not negated, and
// where elements have 16 bits which of A and B is not K-major.
#define FUSEGATE_WGMMA(N, FORMAT, SIGNS, REGISTERS, A_, B_, P_, ...)                     \
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, " P_ ", 0;\n"                        \
               "wgmma.mma_async.sync.aligned.m64n" #N FORMAT " {" REGISTERS "}, "          \
               A_ ", " B_ ", add, " SIGNS ";\n}"                                          \
               : __VA_ARGS__ : "l"(a), "l"(b), "r"(add))
#define FUSEGATE_WGMMA_OF(N, REGISTERS, A_, B_, P_, ...)                                   \
  template <>                                                                              \
  struct WgmmaOf<N> {                                                                      \
    template <typename T, bool kPlainB>                                                    \
    static __device__ void run(float (&d)[N / 2], std::uint64_t a, std::uint64_t b, int add) { \
      if constexpr (kPlainB) {                                                             \
        static_assert(std::is_same_v<T, __nv_bfloat16>);                                   \
        FUSEGATE_WGMMA(N, "k16.f32.bf16.bf16", "1, 1, 0, 1", REGISTERS, A_, B_, P_, __VA_ARGS__); \
      } else if constexpr (std::is_same_v<T, __half>) {                                    \
        FUSEGATE_WGMMA(N, "k16.f32.f16.f16", "1, 1, 0, 0", REGISTERS, A_, B_, P_, __VA_ARGS__); \
      } else if constexpr (std::is_same_v<T, __nv_fp8_e4m3>) {                             \
        FUSEGATE_WGMMA(N, "k32.f32.e4m3.e4m3", "1, 1", REGISTERS, A_, B_, P_, __VA_ARGS__); \
      } else {                                                                             \
        FUSEGATE_WGMMA(N, "k16.f32.bf16.bf16", "1, 1, 0, 0", REGISTERS, A_, B_, P_, __VA_ARGS__); \
      }                                                                                    \
    }                                                                                      \
  }

template <int kColumns>
struct WgmmaOf;

FUSEGATE_WGMMA_OF(24, FUSEGATE_S0_7 ", %8, %9, %10, %11", "%12", "%13", "%14", FUSEGATE_D4(0), FUSEGATE_D4(4), FUSEGATE_D4(8));
FUSEGATE_WGMMA_OF(32, FUSEGATE_S0_15, "%16", "%17", "%18", FUSEGATE_D16(0));
FUSEGATE_WGMMA_OF(40, FUSEGATE_S0_15 ", %16, %17, %18, %19", "%20", "%21", "%22", FUSEGATE_D16(0), FUSEGATE_D4(16));
FUSEGATE_WGMMA_OF(48, FUSEGATE_S0_15 ", " FUSEGATE_S16_23, "%24", "%25", "%26", FUSEGATE_D16(0), FUSEGATE_D4(16), FUSEGATE_D4(20));
FUSEGATE_WGMMA_OF(64, FUSEGATE_S0_15 ", " FUSEGATE_S16_31, "%32", "%33", "%34", FUSEGATE_D32(0));
FUSEGATE_WGMMA_OF(96, FUSEGATE_S0_15 ", " FUSEGATE_S16_31 ", " FUSEGATE_S32_47, "%48", "%49", "%50", FUSEGATE_D32(0), FUSEGATE_D16(32));
FUSEGATE_WGMMA_OF(104, FUSEGATE_S0_15 ", " FUSEGATE_S16_31 ", " FUSEGATE_S32_47 ", %48, %49, %50, %51", "%52", "%53", "%54", FUSEGATE_D32(0), FUSEGATE_D16(32), FUSEGATE_D4(48));
FUSEGATE_WGMMA_OF(128, FUSEGATE_S0_15 ", " FUSEGATE_S16_31 ", " FUSEGATE_S32_47 ", " FUSEGATE_S48_63, "%64", "%65", "%66", FUSEGATE_D64(0));
FUSEGATE_WGMMA_OF(152, FUSEGATE_S0_15 ", " FUSEGATE_S16_31 ", " FUSEGATE_S32_47 ", " FUSEGATE_S48_63 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75", "%76", "%77", "%78", FUSEGATE_D64(0), FUSEGATE_D4(64), FUSEGATE_D4(68), FUSEGATE_D4(72));
FUSEGATE_WGMMA_OF(192, FUSEGATE_S0_15 ", " FUSEGATE_S16_31 ", " FUSEGATE_S32_47 ", " FUSEGATE_S48_63 ", " FUSEGATE_S64_95, "%96", "%97", "%98", FUSEGATE_D64(0), FUSEGATE_D32(64));
FUSEGATE_WGMMA_OF(208, FUSEGATE_S0_15 ", " FUSEGATE_S16_31 ", " FUSEGATE_S32_47 ", " FUSEGATE_S48_63 ", " FUSEGATE_S64_95 ", %96, %97, %98, %99, %100, %101, %102, %103", "%104", "%105", "%106", FUSEGATE_D64(0), FUSEGATE_D32(64), FUSEGATE_D4(96), FUSEGATE_D4(100));
FUSEGATE_WGMMA_OF(256, FUSEGATE_S0_15 ", " FUSEGATE_S16_31 ", " FUSEGATE_S32_47 ", " FUSEGATE_S48_63 ", " FUSEGATE_S64_95 ", " FUSEGATE_S96_127, "%128", "%129", "%130", FUSEGATE_D64(0), FUSEGATE_D64(64));

#undef FUSEGATE_WGMMA_OF
#undef FUSEGATE_WGMMA
#undef FUSEGATE_S0_7
#undef FUSEGATE_S0_15
#undef FUSEGATE_S16_31
#undef FUSEGATE_S16_23
#undef FUSEGATE_S32_47
#undef FUSEGATE_S48_63
#undef FUSEGATE_S64_95
#undef FUSEGATE_S96_127
#undef FUSEGATE_D64
#undef FUSEGATE_D32
#undef FUSEGATE_D16
#undef FUSEGATE_D4
// clang-format on

// d = a b^T, plus d unless add is 0; asynchronous. a and b: matrix_descriptor's, b where kPlainB
// plain_descriptor's.
template <typename T, int kColumns, bool kPlainB = false>
__device__ inline void wgmma(float (&d)[kColumns / 2], std::uint64_t a, std::uint64_t b, int add) {
  WgmmaOf<kColumns>::template run<T, kPlainB>(d, a, b, add);
}

}  // namespace fusegate::kernels::sm90
