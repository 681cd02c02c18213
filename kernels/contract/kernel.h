// The contract between a kernel and everybody who sweeps, checks, times or reports it.
//
// An operation is what is computed: its axes, its inputs, its outputs, and the reference in double
// precision. An implementation is how. Each is one file that ends in its registration:
//
//   const OperationRegistration softmax{{
//       .name = "softmax", .axes = {"heads", "kv"}, .inputs = &inputs, .outputs = &outputs,
//       .host_reference = &reference}};
//
//   const ImplementationRegistration online{{
//       .operation = "softmax", .name = "online", .device = "cuda",
//       .dtypes = {Dtype::kBf16, Dtype::kFp16}, .prepare = &prepare}};
//
// Sweep, correctness test, timing, run file, gate and report pick it up from there.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <source_location>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/contract/device.h"
#include "kernels/contract/expectation.h"
#include "kernels/contract/problem.h"

namespace fusegate::kernels {

// What an operation or an implementation says cannot be, or a function of it threw. The text names
// the operation and the field.
class ContractError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A tensor that an operation reads or writes, not yet in memory.
struct TensorSpec {
  std::string name;                 // such as "w_gate"
  std::vector<std::int64_t> shape;  // any rank; each axis from 1 on
  Fill fill = {};                   // of an input
  std::optional<Dtype> dtype = {};  // the problem's, unless it is named here
  // Of an output: the largest ||out - reference|| / ||reference|| that is right. Without it that is
  // error_bound of its dtype (expected.h), which for integers is zero: they must be equal.
  std::optional<double> tolerance = {};
  // Of an output: the input of the same shape and dtype that it is written over. A check and every
  // place in memory start from the input as it was filled. The calls of a batch that is timed
  // follow each other without that: each reads what the call before it left there.
  std::string in_place_of = {};
};

// An operation's outputs, in its order. A function that takes one T fits where there is one output.
template <typename T>
class OneOrMore : public std::span<const T> {
 public:
  OneOrMore(const std::vector<T>& all) : std::span<const T>(all) {}
  OneOrMore(const T& one) : std::span<const T>(&one, 1) {}
  operator const T&() const {
    if (this->size() == 1) return this->front();
    throw ContractError("it takes one output, and the operation has " +
                        std::to_string(this->size()));
  }
};
using Inputs = std::span<const Tensor>;
using Outputs = OneOrMore<Tensor>;

struct Operation {
  std::string name;
  // All of its problems' axes, in the order in which its benchmarks' names have them. A sweep has
  // all of them.
  std::vector<std::string> axes;
  // Those of them that change nothing for it: a sweep does not repeat it along these, and takes
  // their first value.
  std::vector<std::string> unswept_axes = {};
  // It runs a library's code alone: where its time moves, the machine moved and not our code. A
  // sweep has it only where it names it.
  bool is_control = false;
  std::function<std::vector<TensorSpec>(const Problem&)> inputs = {};
  std::function<std::vector<TensorSpec>(const Problem&)> outputs;
  // One of the two references. Inputs and outputs are as the two above say, in order and shape; an
  // output in place of an input is apart from it.
  //
  // On the device, for what is too much for a CPU: device addresses of doubles. Scratch memory
  // comes from device, and ReferenceMath of device is what there is to compute with.
  std::function<void(Device& device, const Problem&, std::span<double* const> inputs,
                     const OneOrMore<double*>& outputs)>
      reference = {};
  // On the host. Each output has its size, and must keep it.
  std::function<void(const Problem&, std::span<const std::vector<double>> inputs,
                     std::span<std::vector<double>> outputs)>
      host_reference = {};
  std::string registered_at = {};  // file and line, by its registration
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

  // A tensor for an intermediate result or a library's workspace, kept in scratch.
  Tensor intermediate(Device& device, std::vector<std::int64_t> shape, Dtype dtype);

  void launch() const;
  double flops() const;
  double min_bytes() const;
};

struct Implementation {
  std::string operation;
  std::string name;
  std::string device;         // the kind of device that it needs: "cuda", "cpu"
  std::vector<Dtype> dtypes;  // of problems
  std::map<std::string, std::int64_t> multiples = {};  // axes that must be multiples of a number
  // Makes it ready for one problem, at every place in memory anew. Nothing of it is timed: memory
  // is allocated here (PreparedKernel::scratch), libraries are set up, weights are packed,
  // algorithms are chosen. What is timed are the launches of its stages, which are captured into a
  // CUDA graph: they enqueue on the device's stream and neither wait nor allocate. What a launch
  // needs must outlive prepare: a lambda holds it, as a shared_ptr where it is a library's handle.
  std::function<PreparedKernel(Device& device, const Problem& problem, Inputs inputs,
                               const Outputs& outputs)>
      prepare;
  // Why it cannot compute the problem, for reasons other than device, dtype and multiples; "" where
  // it can. It is asked after those, so the device is of its kind.
  std::function<std::string(const Device&, const Problem&)> refuses = {};
  // What a trace of one call contains, one alternative for each way in which it is composed. Empty
  // where nothing is declared, as on the CPU, where nobody looks.
  std::vector<Expectation> expects = {};
  std::string registered_at = {};  // file and line, by its registration
};

// Registered before main, in objects of the program (not of an archive whose members nobody names).
class OperationRegistration {
 public:
  explicit OperationRegistration(Operation operation,
                                 std::source_location where = std::source_location::current());
  // One for each of them.
  OperationRegistration(std::span<const Activation> activations, Operation (*of)(const Activation&),
                        std::source_location where = std::source_location::current());
};

class ImplementationRegistration {
 public:
  explicit ImplementationRegistration(Implementation implementation,
                                      std::source_location where = std::source_location::current());
  // One for each of them.
  ImplementationRegistration(std::span<const Activation> activations,
                             Implementation (*of)(const Activation&),
                             std::source_location where = std::source_location::current());
};

// Sorted by name (implementations by operation, then name).
const std::vector<Operation>& operations();
const std::vector<Implementation>& implementations();

// Throws ContractError with a line for each registration that cannot be: one that is there twice, a
// name that cannot be part of a benchmark's, a field that is missing. To be asked before anything
// is planned.
void require_sound_registrations();

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

// The operation's tensors, each with its dtype. Throws ContractError where its functions throw or
// say what cannot be: no name or one twice, an axis below 1, more elements than fit into 64 bits, a
// fill that the dtype does not hold, an output in place of nothing alike.
std::vector<TensorSpec> input_specs(const Operation& operation, const Problem& problem);
std::vector<TensorSpec> output_specs(const Operation& operation, const Problem& problem);

// Device memory that the operation's tensors take. Throws ContractError as those do.
double tensor_bytes(const Operation& operation, const Problem& problem);

}  // namespace fusegate::kernels
