// The contract of a kernel with what sweeps, checks, times and reports it.
//
// An operation is what is computed: its axes, inputs, outputs and reference in double precision. An
// implementation is how. Each is one file that ends in its registration:
//
//   const OperationRegistration softmax{{
//       .name = "softmax", .axes = {"heads", "kv"}, .inputs = &inputs, .outputs = &outputs,
//       .host_reference = &reference}};
//
//   const ImplementationRegistration online{{
//       .operation = "softmax", .name = "online", .device = "cuda",
//       .dtypes = {Dtype::kBf16, Dtype::kFp16}, .prepare = &prepare}};
//
// Sweep, correctness test, timing, run file, gate and report pick it up.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/contract/device.h"
#include "kernels/contract/expectation.h"
#include "kernels/contract/problem.h"

namespace fusegate::kernels {

// An operation or implementation declares what is invalid, or a function of it threw. The text
// names the operation and the field.
class ContractError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A tensor that an operation reads or writes, not yet in memory.
struct TensorSpec {
  std::string name;                 // such as "w_gate"
  std::vector<std::int64_t> shape;  // any rank; sizes from 1 on
  Fill fill = {};                   // of an input
  std::optional<Dtype> dtype = {};  // the problem's by default
  // Of an output: the largest ||out - reference|| / ||reference|| that passes. Default: error_bound
  // of its dtype (expected.h), which is zero for integers.
  std::optional<double> tolerance = {};
  // Of an output: the input of the same shape and dtype that it overwrites. Each check and each
  // memory layout starts with the input as it was filled; the calls of a timed batch do not: each
  // reads what the call before it wrote.
  std::string in_place_of = {};
  // Of an input: it stays from call to call, as a layer's weights do, so that preparing a kernel
  // may pack it. Its numbers are the same in every check and memory layout. Those of others change
  // after a kernel was prepared.
  bool is_weight = false;
  // Of an operation across ranks (kRanksAxis): the axis along which each rank holds its part, in
  // the order of ranks; of an output the first. Others are whole on each rank. shape is that of the
  // whole, which the reference sees.
  std::optional<int> split_axis = {};
  // Of a floating-point input: kernels use its numbers as they are, such as scales of other inputs,
  // so that no error of theirs passes through the operation (rounding.h).
  bool is_exact = false;
};

// An operation's outputs, in its order. Converts to T where there is one.
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

// What the time of an operation over several ranks is read beside.
struct AcrossRanks {
  std::string work;  // the operation of which each rank computes a part: "geglu_mlp"
  std::vector<std::string> divided;  // its axes, which a part has divided by the number of ranks
  // The operations that are the exchange alone, over the same ranks: "all_reduce".
  std::vector<std::string> exchanges = {};
};

struct Operation {
  std::string name;
  // All axes of its problems, in the order of benchmark names. A sweep must give all of them.
  std::vector<std::string> axes;
  // Axes that change nothing: a sweep takes their first value only.
  std::vector<std::string> unswept_axes = {};
  // Axes whose values may also be fractions, true and false, or names. Those of others are sizes.
  std::vector<std::string> named_axes = {};
  // Its own problems: what a sweep measures that leaves out axes or dtype. Optional.
  std::vector<Problem> problems = {};
  // It runs only a library's code: if its time changes, the machine changed. A sweep must name it.
  bool is_control = false;
  // Its outputs jump where an intermediate result passes a point, as relu's derivative at zero:
  // there a rounding decides on which side they are (rounding.h).
  bool is_discontinuous = false;
  // The implementation that reports compare the others with; left out, the first registered.
  std::string compared_with = {};
  std::optional<AcrossRanks> across_ranks = {};
  std::function<std::vector<TensorSpec>(const Problem&)> inputs = {};
  std::function<std::vector<TensorSpec>(const Problem&)> outputs;
  // Exactly one of two references, which get inputs and outputs in the order and shape of the
  // functions above. An output that overwrites an input has memory of its own here.
  //
  // On the device, for what a CPU is too slow for: device addresses of doubles; computes with
  // device.reference_math().
  std::function<void(Device& device, const Problem&, std::span<double* const> inputs,
                     const OneOrMore<double*>& outputs)>
      reference = {};
  // On the host. Outputs have their sizes, which must not change.
  std::function<void(const Problem&, std::span<const std::vector<double>> inputs,
                     std::span<std::vector<double>> outputs)>
      host_reference = {};
  std::string registered_at = {};  // the file; of other languages its line too
};

// What one kernel of a launch needs of a GPU.
struct KernelResources {
  std::string name;
  std::int64_t blocks = 0;
  int threads_per_block = 0;
  int registers = 0;  // per thread
  int static_shared_bytes = 0;
  int dynamic_shared_bytes = 0;
  int blocks_per_sm = 0;  // at most, by these resources; clusters may get fewer
  double occupancy = 0;   // threads of those blocks over an SM's maximum
};

// One part of an implementation, with its own NVTX range when annotated. Its launch may mark stages
// of its own (stage_marks.h).
struct Stage {
  std::string name;      // such as "gate_proj"
  double flops = 0;      // multiply and add count two; a transcendental function counts one
  double min_bytes = 0;  // each operand read once, each result written once
  // Enqueues on the device's stream. Empty where another stage's launch does, and marks it.
  std::function<void()> launch = {};
  std::string choice = {};                 // such as a library's algorithm; may be empty
  std::vector<KernelResources> kernels{};  // filled in by a meter, where the device reports them
  // About its preparation: "compiled in 75 ms". Never compared, unlike a choice. May be empty.
  std::string note = {};
};

// An implementation made ready for one problem in one memory layout.
struct PreparedKernel {
  std::vector<Stage> stages;  // launched in this order
  // Intermediate results and workspaces, as long-lived as the stages.
  std::vector<Memory> scratch = {};
  std::shared_ptr<void> owner = {};  // what else they need as long
  // Memory that they share with other ranks, kept by the device: what arguments may point to beside
  // tensors and scratch.
  std::vector<std::span<std::byte>> of_ranks = {};
  // Where launches leave results in memory of their own, as functions that return new tensors do:
  // copies those of the last launch to the outputs, to be checked. Optional.
  std::function<void()> collect = {};
  // Its launches allocate device memory of their own, as those of other languages do.
  bool allocates = false;
  // Of a step of training, the bytes that its forward pass keeps for its backward pass.
  std::optional<double> kept_bytes = {};

  // A new tensor in scratch.
  Tensor intermediate(Device& device, std::vector<std::int64_t> shape, Dtype dtype);

  void launch() const;
  double flops() const;
  double min_bytes() const;
  double scratch_bytes() const;
};

struct Implementation {
  std::string operation;
  std::string name;
  std::string device;                                  // the kind it needs: "cuda", "cpu"
  std::vector<Dtype> dtypes;                           // of problems
  std::map<std::string, std::int64_t> multiples = {};  // axes that must be multiples
  // Makes it ready for one problem, anew for each memory layout. Not timed: allocate memory here
  // (PreparedKernel::scratch), set up libraries, pack weights, choose algorithms. Timed are the
  // launches of its stages, captured into a CUDA graph: they enqueue on the device's stream and
  // neither wait nor allocate. What a launch needs must outlive prepare: let its lambda hold it, a
  // library's handle as a shared_ptr.
  std::function<PreparedKernel(Device& device, const Problem& problem, Inputs inputs,
                               const Outputs& outputs)>
      prepare;
  // Why it cannot compute the problem, "" where it can. Called when device, dtype and multiples
  // fit.
  std::function<std::string(const Device&, const Problem&)> refuses = {};
  // What one call launches; alternatives where it can be composed in several ways. Optional.
  std::vector<Expectation> expects = {};
  // Implementations that a report of where it stops paying compares it with, in place of its
  // operation's.
  std::vector<std::string> compared_with = {};
  std::string registered_at = {};  // by its registration, as an operation's
  std::size_t registered_as = 0;   // its position among registrations
};

// Registers before main. Link its object file into the program: of an archive, a linker drops
// members that nothing refers to. It notes no line, which would make every comment before it a
// change of the program's machine code.
class OperationRegistration {
 public:
  explicit OperationRegistration(Operation operation, const char* file = __builtin_FILE());
  // One for each activation.
  OperationRegistration(std::span<const Activation> activations, Operation (*of)(const Activation&),
                        const char* file = __builtin_FILE());
};

class ImplementationRegistration {
 public:
  explicit ImplementationRegistration(Implementation implementation,
                                      const char* file = __builtin_FILE());
  // One for each activation.
  ImplementationRegistration(std::span<const Activation> activations,
                             Implementation (*of)(const Activation&),
                             const char* file = __builtin_FILE());
};

// Sorted by name (implementations by operation, then name).
const std::vector<Operation>& operations();
const std::vector<Implementation>& implementations();

// Throws ContractError with a line for each invalid registration: a repeated one, a name that
// cannot be part of a benchmark's name, a missing field. Call it before planning.
void require_sound_registrations();

// Sorted: all registered ones, and those of this project that this build leaves out, so that a
// suite may name them. CMake reads them from the sources (kernels/CMakeLists.txt).
std::vector<std::string> implementation_names();

// Both throw std::out_of_range; that of an operation lists those that there are.
const Operation& find_operation(std::string_view name);
const Implementation& find_implementation(std::string_view operation, std::string_view name,
                                          std::string_view device);

// Why the implementation cannot compute the problem on the device, or "" where it can.
std::string refusal(const Implementation& implementation, const Device& device,
                    const Problem& problem);

// "geglu_mlp/fused_pointwise/bf16/batch:64/seq:128/dim:768/hidden:3072"
std::string benchmark_name(const Implementation& implementation, const Problem& problem);

// The operation's tensors, each with its dtype. Throws ContractError where its functions throw or
// return what is invalid: a missing or repeated name, a size below 1, more elements than fit into
// 64 bits, a fill that the dtype cannot hold, an in_place_of that is not an input alike.
std::vector<TensorSpec> input_specs(const Operation& operation, const Problem& problem);
std::vector<TensorSpec> output_specs(const Operation& operation, const Problem& problem);

// The shape of what one rank holds of a checked spec.
std::vector<std::int64_t> part_shape(const TensorSpec& spec, const Problem& problem);

// Device memory that the operation's tensors need, of each rank. Throws ContractError as those do.
double tensor_bytes(const Operation& operation, const Problem& problem);

}  // namespace fusegate::kernels
