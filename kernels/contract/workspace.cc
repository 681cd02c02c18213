#include "kernels/contract/workspace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/contract/number_format.h"
#include "kernels/contract/random.h"

namespace fusegate::kernels {
namespace {

// More than a block of threads writes past an unchecked end; a multiple of every alignment that
// tensors need.
constexpr std::size_t kGuardBytes = 4096;

constexpr std::uint64_t kWeightSeed = 0x9e3779b9;  // of every workspace

Tensor bytes_at(std::byte* data, std::size_t bytes) {
  return {data, {static_cast<std::int64_t>(bytes)}, Dtype::kInt8};
}

// The values of a function, stored as the dtype.
std::vector<std::byte> values_of(const TensorSpec& spec, const Problem& problem, std::uint64_t seed,
                                 const Tensor& tensor) {
  std::vector<double> values(static_cast<std::size_t>(tensor.count()));
  spec.fill.function(problem, seed, values);
  std::vector<std::byte> stored(tensor.bytes());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      throw ContractError(fmt::format("value {} is NaN or infinite", i));
    }
    store_element(stored.data(), tensor.dtype, static_cast<std::int64_t>(i), values[i]);
  }
  return stored;
}

}  // namespace

Workspace::Workspace(Device& device, const Operation& operation, const Problem& problem,
                     std::uint64_t seed, Guards guards, Extent extent)
    : device_(device),
      problem_(problem),
      seed_(seed),
      guards_(guards),
      extent_(extent),
      input_specs_(kernels::input_specs(operation, problem)),
      output_specs_(kernels::output_specs(operation, problem)) {
  for (const TensorSpec& spec : input_specs_) inputs_.push_back(take(spec, "input"));
  for (const TensorSpec& spec : output_specs_) {
    const auto same = std::ranges::find(input_specs_, spec.in_place_of, &TensorSpec::name);
    if (same == input_specs_.end()) {
      outputs_.push_back(take(spec, "output"));
    } else {
      const auto input = static_cast<std::size_t>(same - input_specs_.begin());
      outputs_.push_back(inputs_[input]);
      memory_[input].is_constant = false;
    }
  }
  try {
    for (std::size_t i = 0; i < inputs_.size(); ++i) fill(i, seed);
  } catch (const ContractError& error) {
    throw ContractError(fmt::format("operation '{}': {}", operation.name, error.what()));
  }
  for (std::size_t i = inputs_.size(); i < memory_.size(); ++i) device.poison(memory_[i].tensor);
}

Tensor Workspace::take(const TensorSpec& spec, const char* role) {
  Tensor tensor{nullptr, is_split(spec) ? part_shape(spec, problem_) : spec.shape, *spec.dtype};
  const std::size_t around = guards_ == Guards::kAround ? kGuardBytes : 0;
  Memory memory = device_.allocate(tensor.bytes() + 2 * around);
  auto* const data = static_cast<std::byte*>(memory.data());
  tensor.data = data + around;
  memory_.push_back({.name = fmt::format("{} '{}'", role, spec.name),
                     .tensor = tensor,
                     .is_constant = std::string_view(role) == "input",
                     .memory = std::move(memory)});
  set_guards(memory_.back());
  return tensor;
}

void Workspace::set_guards(const Guarded& one) {
  if (guards_ == Guards::kNone) return;
  auto* const begin = static_cast<std::byte*>(one.memory.data());
  device_.poison(bytes_at(begin, kGuardBytes));
  device_.poison(bytes_at(begin + kGuardBytes + one.tensor.bytes(), kGuardBytes));
}

bool Workspace::is_split(const TensorSpec& spec) const {
  return spec.split_axis && extent_ == Extent::kPart && ranks_of(problem_).value_or(1) > 1;
}

void Workspace::fill(std::size_t input, std::uint64_t workspace_seed) {
  const TensorSpec& spec = input_specs_[input];
  const Tensor& tensor = inputs_[input];
  const std::uint64_t seed = (spec.is_weight ? kWeightSeed : workspace_seed) + input + 1;
  if (is_split(spec)) {
    std::vector<Memory> memory;
    Tensor whole{nullptr, spec.shape, *spec.dtype};
    memory.push_back(device_.allocate_lasting(whole.bytes()));
    whole.data = memory.back().data();
    fill_whole(input, seed, whole);
    copy_part(spec, whole, tensor);
    device_.synchronize();  // before the whole is freed
  } else {
    fill_whole(input, seed, tensor);
  }
  memory_[input].seed = workspace_seed;
  if (guards_ == Guards::kAround) memory_[input].digest = device_.digest(tensor);
}

// By rows of what lies behind the split axis.
void Workspace::copy_part(const TensorSpec& spec, const Tensor& whole, const Tensor& part) const {
  const auto axis = static_cast<std::ptrdiff_t>(*spec.split_axis);
  std::int64_t rows = 1;
  for (std::ptrdiff_t i = 0; i < axis; ++i) rows *= spec.shape[static_cast<std::size_t>(i)];
  const std::size_t row = whole.bytes() / static_cast<std::size_t>(rows);
  const std::size_t part_row = part.bytes() / static_cast<std::size_t>(rows);
  const auto* from = static_cast<const std::byte*>(whole.data) +
                     static_cast<std::size_t>(device_.ranks().rank()) * part_row;
  auto* to = static_cast<std::byte*>(part.data);
  for (std::int64_t i = 0; i < rows; ++i, from += row, to += part_row) {
    device_.copy(from, to, part_row);
  }
}

void Workspace::fill_whole(std::size_t input, std::uint64_t seed, const Tensor& tensor) const {
  const TensorSpec& spec = input_specs_[input];
  const bool is_on_device = spec.fill.kind == Fill::Kind::kOnDevice;
  if (is_on_device || spec.fill.kind == Fill::Kind::kFunction) {
    try {
      if (is_on_device) {
        spec.fill.device_function(problem_, seed, tensor);
      } else {
        device_.copy_to_device(values_of(spec, problem_, seed, tensor), tensor.data);
      }
    } catch (const DeviceError&) {
      throw;
    } catch (const std::exception& error) {
      throw ContractError(fmt::format("fill of input '{}': {}", spec.name, error.what()));
    }
  } else {
    device_.fill(tensor, spec.fill, seed);
  }
}

std::vector<Tensor> Workspace::tensors() const {
  std::vector<Tensor> all;
  for (const Guarded& one : memory_) all.push_back(one.tensor);
  return all;
}

void Workspace::restore(std::uint64_t seed) {
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    const Guarded& one = memory_[i];
    set_guards(one);
    if (i >= inputs_.size()) {
      device_.poison(one.tensor);
    } else if (!one.is_constant || one.seed != seed || guards_ == Guards::kNone ||
               device_.digest(one.tensor) != one.digest) {
      fill(i, seed);
    }
  }
}

bool Workspace::changes_whole(std::size_t input) const {
  const TensorSpec& spec = input_specs_[input];
  if (spec.is_weight) return false;
  // The same element lies elsewhere in a part than in the whole.
  const bool has_parts = spec.split_axis && ranks_of(problem_).value_or(1) > 1;
  return has_parts || spec.fill.kind == Fill::Kind::kFunction ||
         spec.fill.kind == Fill::Kind::kOnDevice;
}

// The window lies in one half, what may take its place in the other.
std::optional<Workspace::Window> Workspace::window(std::size_t input, std::uint64_t seed,
                                                   std::uint64_t others) const {
  constexpr std::int64_t kMostBytes = 1 << 20;  // which a GPU copies in about a microsecond
  const Tensor& tensor = inputs_[input];
  const std::int64_t half = tensor.count() / 2;
  const TensorSpec& spec = input_specs_[input];
  const bool stays = spec.is_weight || spec.fill.kind == Fill::Kind::kConstant;
  if (half == 0 || stays || changes_whole(input)) return std::nullopt;
  const auto size = static_cast<std::int64_t>(dtype_bytes(tensor.dtype));
  const std::int64_t count = std::clamp<std::int64_t>(half / 2, 1, kMostBytes / size);
  const auto offset = [&](std::uint64_t of) {
    return static_cast<std::int64_t>(random_bits(of, input) %
                                     static_cast<std::uint64_t>(half - count + 1));
  };
  auto* const data = static_cast<std::byte*>(tensor.data);
  std::byte* const second = data + half * size;
  const bool is_in_second = random_bits(seed, inputs_.size() + input) % 2 == 1;
  return Window{.data = (is_in_second ? second : data) + offset(seed) * size,
                .bytes = static_cast<std::size_t>(count * size),
                .others = (is_in_second ? data : second) + offset(others) * size};
}

void Workspace::change(std::uint64_t seed) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (changes_whole(i)) fill(i, seed + 1);
    if (const auto one = window(i, seed, seed + 1))
      device_.copy(one->others, one->data, one->bytes);
  }
}

bool Workspace::is_whole(const std::byte* guard) const {
  std::vector<std::byte> seen(kGuardBytes);
  device_.copy_to_host(guard, seen);
  return std::ranges::all_of(seen, [](std::byte byte) { return byte == std::byte{0xff}; });
}

std::string Workspace::damage() const {
  for (const Guarded& one : memory_) {
    const auto* const begin = static_cast<const std::byte*>(one.memory.data());
    if (!is_whole(begin)) return "wrote before the start of " + one.name;
    if (!is_whole(begin + kGuardBytes + one.tensor.bytes())) {
      return "wrote past the end of " + one.name;
    }
  }
  for (const Guarded& one : memory_) {
    if (one.is_constant && device_.digest(one.tensor) != one.digest) return "changed " + one.name;
  }
  return "";
}

}  // namespace fusegate::kernels
