// For tests of implementations on a GPU: prepares them on filled inputs.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/contract/kernel.h"
#include "kernels/cuda/device/gpu_test_fixture.h"

namespace fusegate::kernels {

class ImplementationTest : public GpuTest {
 protected:
  PreparedKernel prepared(const std::string& operation, const std::string& name,
                          const Problem& problem) {
    std::vector<Tensor> in;
    for (const TensorSpec& spec : input_specs(find_operation(operation), problem)) {
      in.push_back(filled(spec, in.size()));
    }
    // Filled, since autotuning copies it, which compute-sanitizer's initcheck reports.
    const Tensor out = filled(output_specs(find_operation(operation), problem).front(), in.size());
    return find_implementation(operation, name, "cuda").prepare(*device_, problem, in, out);
  }

 private:
  Tensor filled(const TensorSpec& spec, std::uint64_t seed) {
    const Tensor tensor = allocate_tensor(*device_, spec.shape, *spec.dtype, memory_);
    device_->fill(tensor, Fill::uniform(1), seed);
    return tensor;
  }
};

}  // namespace fusegate::kernels
