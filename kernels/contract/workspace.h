// An operation's tensors in device memory, filled with fresh inputs: where a kernel is checked and
// timed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/contract/kernel.h"

namespace fusegate::kernels {

class Workspace {
 public:
  // kAround: between zones that show what was written outside of the tensors. What is timed has
  // none, so that its tensors lie as their numbered layout says.
  enum class Guards { kNone, kAround };

  // Inputs are filled by seed; outputs are poisoned, unless they are in place of an input. Throws
  // DeviceError where memory is short, and ContractError as input_specs does.
  Workspace(Device& device, const Operation& operation, const Problem& problem, std::uint64_t seed,
            Guards guards = Guards::kNone);

  const std::vector<Tensor>& inputs() const { return inputs_; }
  const std::vector<Tensor>& outputs() const { return outputs_; }
  const std::vector<TensorSpec>& output_specs() const { return output_specs_; }
  // Each once: the inputs, then the outputs that are in place of none.
  std::vector<Tensor> tensors() const;

  // As it was made: for the next kernel.
  void restore() { restore(seed_); }
  // The same with the inputs of another seed.
  void restore(std::uint64_t seed);
  // What a kernel did to it that no kernel may, such as "wrote past the end of output 'y'" or
  // "changed input 'x'"; "" where it did nothing. Of a workspace with guards alone.
  std::string damage() const;

 private:
  struct Guarded {
    std::string name;  // "output 'y'"
    Tensor tensor;
    bool is_kept = false;    // no kernel may change it
    std::uint64_t seed = 0;  // of what an input holds, and its digest
    std::uint64_t digest = 0;
    Memory memory;
  };

  Tensor take(const TensorSpec& spec, const char* role);
  void set_guards(const Guarded& one);
  bool is_whole(const std::byte* guard) const;
  void fill(std::size_t input, std::uint64_t seed);

  Device& device_;
  Problem problem_;
  std::uint64_t seed_;
  Guards guards_;
  std::vector<TensorSpec> input_specs_, output_specs_;
  std::vector<Guarded> memory_;  // inputs first
  std::vector<Tensor> inputs_, outputs_;
};

}  // namespace fusegate::kernels
