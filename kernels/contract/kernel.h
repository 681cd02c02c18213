// The contract between a kernel and everybody who sweeps, checks, times or reports it.
//
// An operation is what is computed: its inputs, its output, and the reference in double precision.
// An implementation is how. Adding one is one new file that ends in its registration, and one line
// in a CMake list:
//
//   const ImplementationRegistration registered{{
//       .operation = "geglu", .name = "fused", .device = "cuda",
//       .dtypes = {Dtype::kBf16, Dtype::kFp16}, .alignment = 1, .prepare = &prepare}};
//
// Sweep, correctness test, timing, run file, gate and report pick it up from there.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/contract/device.h"
#include "kernels/contract/expectation.h"
#include "kernels/contract/problem.h"

namespace fusegate::kernels {

// A tensor that an operation reads or writes, not yet in memory.
struct TensorShape {
  std::string name;  // such as "w_gate"
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  double scale = 1;  // random inputs are uniform in [-scale, scale)
};

struct Operation {
  std::string name;
  bool uses_dim = true;  // false: the sweep does not repeat it along the dim axis
  // It runs a library's code alone: where its time moves, the machine moved and not our code. A
  // sweep has it only where it names it.
  bool is_control = false;
  std::function<std::vector<TensorShape>(const Problem&)> inputs;
  std::function<TensorShape(const Problem&)> output;
  // inputs and out: device addresses of doubles, in the order and shape of the two above. Scratch
  // memory comes from device.
  std::function<void(Device& device, const Problem&, std::span<double* const> inputs, double* out)>
      reference;
};

// What one kernel of a launch takes of a GPU.
struct KernelResources {
  std::string name;
  std::int64_t blocks = 0;
  int threads_per_block = 0;
  int registers = 0;  // of a thread
  int static_shared_bytes = 0;
  int dynamic_shared_bytes = 0;
  int blocks_per_sm = 0;  // at most, by these resources alone: clusters may get fewer
  double occupancy = 0;   // threads of those blocks over what an SM holds
};

// One part of an implementation, with an NVTX range of its own when annotated.
struct Stage {
  std::string name;              // such as "gate_proj"
  double flops = 0;              // multiply and add count two; a transcendental function counts one
  double min_bytes = 0;          // each operand read once, each result written once
  std::function<void()> launch;  // enqueues on the device's stream
  std::string choice;            // what a library picked for it, such as an algorithm; may be empty
  std::vector<KernelResources> kernels{};  // which a meter finds out, where the device tells
  // What preparing it took, such as "compiled in 75 ms". Unlike a choice it is never compared: the
  // next process has another. May be empty.
  std::string note = {};
};

// An implementation made ready for one problem in one place of memory.
struct PreparedKernel {
  std::vector<Stage> stages;    // launched in this order
  std::vector<Memory> scratch;  // intermediate results and workspaces, alive as long as the stages

  // A tensor for an intermediate result, kept in scratch.
  Tensor intermediate(Device& device, std::int64_t rows, std::int64_t cols, Dtype dtype);

  void launch() const;
  double flops() const;
  double min_bytes() const;
};

struct Implementation {
  std::string operation;
  std::string name;
  std::string device;  // the kind of device that it needs
  std::vector<Dtype> dtypes;
  std::int64_t alignment = 1;  // dim and hidden must be multiples of it
  // inputs and out: as the operation says, rounded to problem.dtype.
  std::function<PreparedKernel(Device& device, const Problem& problem,
                               std::span<const Tensor> inputs, const Tensor& out)>
      prepare;
  // Why it cannot compute the problem, for reasons other than device, dtype and alignment; "" where
  // it can. It is asked after those, so the device is of its kind.
  std::function<std::string(const Device&, const Problem&)> refuses = {};
  // What a trace of one call contains, one alternative for each way in which it is composed. Empty
  // where nothing is declared, as on the CPU, where nobody looks.
  std::vector<Expectation> expects = {};
};

class OperationRegistration {
 public:
  explicit OperationRegistration(Operation operation);
  // One for each of them.
  OperationRegistration(std::span<const Activation> activations,
                        Operation (*of)(const Activation&));
};

class ImplementationRegistration {
 public:
  explicit ImplementationRegistration(Implementation implementation);
  // One for each of them.
  ImplementationRegistration(std::span<const Activation> activations,
                             Implementation (*of)(const Activation&));
};

// Sorted by name (implementations by operation, then name).
const std::vector<Operation>& operations();
const std::vector<Implementation>& implementations();

// Sorted: those of the registered, and of this project's that the build at hand leaves out, so that
// a suite may name them. CMake reads them out of the sources (kernels/CMakeLists.txt).
std::vector<std::string> implementation_names();

// Throws std::out_of_range naming the operations there are.
const Operation& find_operation(std::string_view name);

// Why the implementation cannot compute the problem on the device, or "" where it can.
std::string refusal(const Implementation& implementation, const Device& device,
                    const Problem& problem);

// "geglu_mlp/fused_pointwise/bf16/batch:64/seq:128/dim:768/hidden:3072"
std::string benchmark_name(const Implementation& implementation, const Problem& problem);

// Device memory that the operation's tensors take.
double tensor_bytes(const Operation& operation, const Problem& problem);

}  // namespace fusegate::kernels
