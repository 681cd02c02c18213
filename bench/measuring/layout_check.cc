#include "bench/measuring/layout_check.h"

#include <fmt/format.h>

#include <stdexcept>

namespace fusegate::bench {
namespace {

std::vector<std::uint64_t> output_digests(kernels::Device& device,
                                          const kernels::Workspace& workspace) {
  std::vector<std::uint64_t> digests;
  for (const kernels::Tensor& output : workspace.outputs()) {
    digests.push_back(device.digest(output));
  }
  return digests;
}

bool has_own_memory(const kernels::Workspace& workspace, std::size_t output) {
  return workspace.output_specs()[output].in_place_of.empty();
}

void zero(kernels::Device& device, const kernels::Tensor& tensor) {
  device.fill(tensor, kernels::Fill::constant(0), 0);
}

void finish(kernels::Device& device, const kernels::PreparedKernel& kernel) {
  if (kernel.collect) kernel.collect();
  device.synchronize();
}

}  // namespace

void LayoutCheck::poison_outputs(const kernels::Workspace& workspace) {
  for (std::size_t i = 0; i < workspace.outputs().size(); ++i) {
    if (has_own_memory(workspace, i)) device_.poison(workspace.outputs()[i]);
  }
  if (poison_.empty()) poison_ = output_digests(device_, workspace);
}

void LayoutCheck::require_current_arguments(kernels::Workspace& workspace,
                                            const kernels::PreparedKernel& kernel) {
  auto stale = meter_.stale_argument(kernel, workspace.tensors());
  if (device_.ranks().all("no address of an earlier memory layout", !stale)) return;
  // Where another rank has one, this one takes part in the calls.
  if (!stale) stale.emplace(StaleArgument{.kernel = {}, .memory = {}});
  if (!works_in(stale->memory, workspace, kernel)) return;
  throw std::runtime_error(fmt::format(
      "{} works in memory of an earlier memory layout: the call keeps an address of that",
      stale->kernel));
}

// An address alone proves nothing: it may be one before a tensor's first, or unused. Zeros are in
// range wherever numbers there are indices.
bool LayoutCheck::works_in(const MemorySpan& elsewhere, kernels::Workspace& workspace,
                           const kernels::PreparedKernel& kernel) {
  const kernels::Tensor memory{reinterpret_cast<void*>(elsewhere.begin),
                               {static_cast<std::int64_t>(elsewhere.bytes)},
                               kernels::Dtype::kInt8};
  bool is_written = false;
  const auto results = [&] {
    workspace.restore();
    const std::uint64_t before = device_.digest(memory);
    kernel.launch();
    finish(device_, kernel);
    is_written = is_written || device_.digest(memory) != before;
    return output_digests(device_, workspace);
  };
  const auto first = results(), again = results();
  zero(device_, memory);
  const auto without = results();
  workspace.restore();
  return is_written || (first == again && first != without);
}

void LayoutCheck::require_written_outputs(const kernels::Workspace& workspace,
                                          const kernels::PreparedKernel& kernel, Batch& batch) {
  finish(device_, kernel);
  for (std::size_t i = 0; i < workspace.outputs().size(); ++i) {
    const kernels::Tensor& output = workspace.outputs()[i];
    if (!has_own_memory(workspace, i)) continue;
    const bool is_written = device_.digest(output) != poison_.at(i);
    if (device_.ranks().all("its outputs are written", is_written)) continue;
    if (!is_unwritten(output, kernel, batch)) continue;
    throw std::runtime_error(
        fmt::format("writes nothing to its output '{}' in another memory layout: it keeps the "
                    "address of an earlier one",
                    workspace.output_specs()[i].name));
  }
}

// A right result may look like poison: integers that are all -1.
bool LayoutCheck::is_unwritten(const kernels::Tensor& output, const kernels::PreparedKernel& kernel,
                               Batch& batch) {
  zero(device_, output);
  const std::uint64_t before = device_.digest(output);
  batch.run();
  finish(device_, kernel);
  return device_.digest(output) == before;
}

}  // namespace fusegate::bench
