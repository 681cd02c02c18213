// An operation's tensors in device memory, for checking and timing a kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/contract/kernel.h"

namespace fusegate::kernels {

class Workspace {
 public:
  // kAround: zones before and behind each tensor, which show writes outside it. Timed tensors have
  // none, since they would change the memory layout.
  enum class Guards { kNone, kAround };
  // Of an operation across ranks: what this rank holds, or every tensor whole, as the reference
  // sees them.
  enum class Extent { kPart, kWhole };

  // Fills inputs by seed and poisons outputs that have memory of their own. Throws DeviceError
  // where memory is short, and ContractError as input_specs does.
  Workspace(Device& device, const Operation& operation, const Problem& problem, std::uint64_t seed,
            Guards guards = Guards::kNone, Extent extent = Extent::kPart);

  const std::vector<Tensor>& inputs() const { return inputs_; }
  const std::vector<Tensor>& outputs() const { return outputs_; }
  const std::vector<TensorSpec>& input_specs() const { return input_specs_; }
  const std::vector<TensorSpec>& output_specs() const { return output_specs_; }
  // Inputs, then outputs that have memory of their own.
  std::vector<Tensor> tensors() const;

  // Fills and poisons again, for the next kernel.
  void restore() { restore(seed_); }
  void restore(std::uint64_t seed);

  // A window in an input, and where other numbers of the same input begin that may take its place.
  struct Window {
    std::byte* data;
    std::size_t bytes;
    std::byte* others;
  };
  // By their seed windows begin at the same element, and others at any. None of an input that is
  // one number, a constant or a weight, or that changes as a whole.
  std::optional<Window> window(std::size_t input, std::uint64_t seed, std::uint64_t others) const;
  // Numbers that a function fills may hang together.
  bool changes_whole(std::size_t input) const;
  // Changes a window of each input, or the whole: alike in every workspace of that operation and
  // problem that was filled by the same seed.
  void change(std::uint64_t seed);
  // Forbidden writes: "wrote past the end of output 'y'" or "changed input 'x'"; "" where there
  // were none. Needs guards.
  std::string damage() const;

 private:
  struct Guarded {
    std::string name;  // "output 'y'"
    Tensor tensor;
    bool is_constant = false;  // no kernel may change it
    std::uint64_t seed = 0;    // of an input's values; and their digest
    std::uint64_t digest = 0;
    Memory memory;
  };

  Tensor take(const TensorSpec& spec, const char* role);
  void set_guards(const Guarded& one);
  bool is_whole(const std::byte* guard) const;
  bool is_split(const TensorSpec& spec) const;
  void fill(std::size_t input, std::uint64_t seed);
  void fill_whole(std::size_t input, std::uint64_t seed, const Tensor& tensor) const;
  void copy_part(const TensorSpec& spec, const Tensor& whole, const Tensor& part) const;

  Device& device_;
  Problem problem_;
  std::uint64_t seed_;
  Guards guards_;
  Extent extent_;
  std::vector<TensorSpec> input_specs_, output_specs_;
  std::vector<Guarded> memory_;  // inputs first
  std::vector<Tensor> inputs_, outputs_;
};

}  // namespace fusegate::kernels
