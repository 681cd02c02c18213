// For tests of implementations on a GPU: prepares them on filled inputs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/contract/kernel.h"
#include "kernels/cuda/device/gpu_test_fixture.h"

namespace fusegate::kernels {

class ImplementationTest : public GpuTest {
 protected:
  PreparedKernel prepared(const std::string& operation, const std::string& name,
                          const Problem& problem) {
    const auto& all = implementations();
    const auto found = std::ranges::find_if(all, [&](const Implementation& i) {
      return i.operation == operation && i.name == name && i.device == "cuda";
    });
    if (found == all.end()) throw std::invalid_argument("no implementation " + name);
    std::vector<Tensor> in;
    for (const TensorSpec& spec : input_specs(find_operation(operation), problem)) {
      in.push_back(filled(spec, in.size()));
    }
    // Filled, since autotuning copies it, which compute-sanitizer's initcheck reports.
    const Tensor out = filled(output_specs(find_operation(operation), problem).front(), in.size());
    return found->prepare(*device_, problem, in, out);
  }

 private:
  Tensor filled(const TensorSpec& spec, std::uint64_t seed) {
    const Tensor tensor = allocate_tensor(*device_, spec.shape, *spec.dtype, memory_);
    device_->fill(tensor, Fill::uniform(1), seed);
    return tensor;
  }
};

}  // namespace fusegate::kernels
