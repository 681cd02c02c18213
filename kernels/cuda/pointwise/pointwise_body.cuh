// The body of the element-wise kernels: two 16-bit numbers in a word, and what one thread does.
// nvcc (pointwise.cu) and, at run time, NVRTC (gated_specialized.cu) compile this file; since NVRTC
// gets no other headers, it includes none and converts by PTX.
//
// Tensors are contiguous. A pack is 16 bytes, four words. Elements are packs and then a tail
// shorter than a pack; all are tail where an address is not a multiple of 16.
#pragma once

namespace fusegate::kernels {

inline constexpr unsigned kInAPack = 8;  // elements

// A number format of 16 bits. first and second: a word's numbers, the first in its low half; an
// element is a word whose second is zero. word: rounds to nearest even.
struct Bf16 {
  static __device__ float first(unsigned word) { return __uint_as_float(word << 16); }
  static __device__ float second(unsigned word) { return __uint_as_float(word & 0xffff0000u); }
  static __device__ unsigned word(float first, float second = 0) {
    unsigned result;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(second), "f"(first));
    return result;
  }
};

struct Fp16 {
  static __device__ float widened(unsigned short bits) {
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(bits));
    return result;
  }
  static __device__ float first(unsigned word) { return widened(word & 0xffffu); }
  static __device__ float second(unsigned word) { return widened(word >> 16); }
  static __device__ unsigned word(float first, float second = 0) {
    unsigned result;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(second), "f"(first));
    return result;
  }
};

// What is computed of one element of each input, in fp32. Format: the elements'; Functor: an
// activation's.
template <typename Functor>
struct Activated {
  template <typename Format>
  static __device__ float of(float x) {
    return Functor::of(x);
  }
};
struct Mul {
  template <typename Format>
  static __device__ float of(float a, float b) {
    return __fmul_rn(a, b);
  }
};
template <typename Functor>
struct Gated {
  template <typename Format>
  static __device__ float of(float g, float u) {
    return __fmul_rn(Functor::of(g), u);
  }
};
// Of a backward pass: a gate's derivative, times d; and what the operands of a gated unit get of
// dh.
template <typename Functor>
struct Sloped {
  template <typename Format>
  static __device__ float of(float g, float d) {
    return __fmul_rn(Functor::slope(g), d);
  }
};
template <typename Functor>
struct GateGradient {
  template <typename Format>
  static __device__ float of(float g, float u, float dh) {
    return __fmul_rn(Functor::slope(g), __fmul_rn(u, dh));
  }
};
// With activation(g) rounded first, as a tensor would be.
template <typename Functor>
struct RoundedGated {
  template <typename Format>
  static __device__ float of(float g, float u) {
    return __fmul_rn(Format::first(Format::word(Functor::of(g))), u);
  }
};
struct Add {
  template <typename Format>
  static __device__ float of(float a, float b) {
    return __fadd_rn(a, b);
  }
};

// The default of what delays a thread before it writes (planted/slowdown.cuh).
struct NotHeldUp {
  __device__ unsigned held_up(unsigned word) const { return word; }
};

template <typename Format, typename Op, typename... Words>
__device__ unsigned word_of(Words... words) {
  return Format::word(Op::template of<Format>(Format::first(words)...),
                      Op::template of<Format>(Format::second(words)...));
}

// Not .nc, since out may be an input.
__device__ inline uint4 load_pack(const void* from, unsigned pack) {
  return static_cast<const uint4*>(from)[pack];
}

template <typename Format, typename Op, typename... Pack>
__device__ uint4 pack_of(const Pack&... in) {
  return {word_of<Format, Op>(in.x...), word_of<Format, Op>(in.y...), word_of<Format, Op>(in.z...),
          word_of<Format, Op>(in.w...)};
}

// Waits until the kernel ahead of this one has written everything (dependent_launch.h). Call before
// any access to memory.
__device__ inline void wait_for_kernel_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Lets the next kernel's blocks start. Not before the wait, since waiting grids would pile up on
// the SMs; nor before the loads, which starting blocks slows down. In a graph of gelu-muls on an
// H200 (driver 580.159.04), microseconds a kernel by where the next one is let in:
//
//   elements     before the wait   after it   after the loads   never
//     262,144         1.74           0.99          0.94          1.05
//     524,288         1.87           1.21          1.20          1.24
//   1,409,024         2.01           2.16          1.75          1.85
//   3,145,728         2.76           2.76          2.68          2.70
__device__ inline void let_next_kernel_in() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// in: the pack of each input, loaded.
template <typename Format, typename Op, typename Hold, typename... Pack>
__device__ void write_pack(Hold hold, void* out, unsigned pack, const Pack&... in) {
  let_next_kernel_in();
  uint4 result = pack_of<Format, Op>(in...);
  result.w = hold.held_up(result.w);
  static_cast<uint4*>(out)[pack] = result;
}

__device__ inline unsigned load_element(const void* from, unsigned long long i) {
  return static_cast<const unsigned short*>(from)[i];
}

template <typename Format, typename Op, typename Hold, typename... In>
__device__ void write_element(Hold hold, void* out, unsigned long long i, In... in) {
  let_next_kernel_in();
  const unsigned word = Format::word(Op::template of<Format>(Format::first(in)...));
  static_cast<unsigned short*>(out)[i] = static_cast<unsigned short>(hold.held_up(word));
}

// One thread's part: a pack or an element of the tail.
template <typename Format, typename Op, unsigned kThreads, typename Hold, typename... In>
__device__ void pointwise(Hold hold, void* out, unsigned packs, unsigned tail, const In*... in) {
  wait_for_kernel_before();
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  if (i < packs) {
    write_pack<Format, Op>(hold, out, i, load_pack(in, i)...);
  } else if (i - packs < tail) {
    const unsigned long long element = packs * 1ull * kInAPack + (i - packs);
    write_element<Format, Op>(hold, out, element, load_element(in, element)...);
  }
}

}  // namespace fusegate::kernels
