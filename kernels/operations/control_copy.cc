// control_copy: out = x, all [M, hidden]. A control that lives on memory, or on the L2 where it
// fits.
#include "kernels/contract/kernel.h"

namespace fusegate::kernels {
namespace {

std::vector<TensorShape> inputs(const Problem& p) { return {{"x", p.rows(), p.hidden, 1.0}}; }

void reference(Device& device, const Problem& p, std::span<double* const> in, double* out) {
  device.reference_math().copy(in[0], out, p.rows() * p.hidden);
}

const OperationRegistration registered{{
    .name = "control_copy",
    .uses_dim = false,
    .is_control = true,
    .inputs = &inputs,
    .output =
        [](const Problem& p) {
          return TensorShape{"out", p.rows(), p.hidden};
        },
    .reference = &reference,
}};

}  // namespace
}  // namespace fusegate::kernels
