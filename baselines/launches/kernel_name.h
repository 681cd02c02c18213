// The parts of a kernel's name: library, architecture, tile and so on. An unknown name is shown as
// it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fusegate::baselines {

// Empty and zero where the name does not have it.
struct KernelName {
  std::string name;      // whole; demangled where it was mangled
  std::string library;   // "cublas", "cutlass", ...; empty where nobody can read it
  std::string function;  // "nvjet", "xmma", "gemm", "gemv2T", "poi", "vectorized_elementwise", ...
  std::string architecture;          // "sm90", "ampere"
  std::string dtype;                 // of what is read: "bf16", "fp16", "fp32", ...
  std::string out_dtype;             // where it has its own
  std::string accumulator;           // the dtype of sums
  std::string operations;            // what Triton fused, or the functor of an element-wise kernel
  std::string number;                // Triton's, within its graph
  std::vector<int> tile;             // as the name has it: of the output, then of K
  int stages = 0;                    // tiles in flight
  std::vector<int> cluster;          // of blocks
  std::string layout;                // of A and B: "tn" is A transposed, B not
  std::string out_layout;            // of the output
  bool split_k = false;              // several blocks share a sum, which something adds up
  std::string epilogue;              // "bias", "relu_bias"
  std::string arguments;             // of a template, short
  std::vector<std::string> flavour;  // whatever else the name says, unread
  bool is_any_cpp = false;           // of a library that is known by its namespace alone

  bool is_read() const { return !library.empty(); }
};

// "cublas nvjet bf16 128x256x64 tn, split-K"; a name that was not read whole.
std::string short_kernel_name(const KernelName& kernel);

// What differs, in words: "tile 128x256x64 -> 128x128x64". Both names whole where one of them was
// not read, or where they differ in what nothing here reads. Empty for the same kernel.
// Namespaces, and the parameters of a kernel whose library is known by its namespace alone, are
// ignored.
std::vector<std::string> kernel_differences(const KernelName& before, const KernelName& after);

}  // namespace fusegate::baselines
