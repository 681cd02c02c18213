#include <fmt/format.h>

#include "ci/claims/claims.h"
#include "ci/claims/compare.h"
#include "ci/claims/kernels.h"

namespace fusegate::ci {
namespace {

constexpr std::string_view kEager = "geglu_mlp-torch_eager";
constexpr std::string_view kCompiled = "geglu_mlp-torch_compile";
constexpr std::string_view kLiger = "geglu_mlp-liger";

Claim same_gemms(const ClaimsInput& input) {
  Claim claim;
  claim.statement =
      "Compiled or by Liger, the MLP's three GEMMs are the very kernels of the eager one";
  claim.published = "kernel names identical, byte for byte";
  claim.findings = {
      same_kernels_finding("So in the compiled trace", input, kCompiled, kEager, library_gemms),
      same_kernels_finding("So in Liger's", input, kLiger, kEager, library_gemms)};
  return claim;
}

bool is_one_triton_kernel(const KernelNames& kernels) {
  const KernelNames others = all_but_gemms(kernels);
  return others.size() == 1 && others.front().library == "triton" &&
         others.front().function == "poi" &&
         others.front().operations.find("gelu") != std::string::npos &&
         others.front().operations.find("mul") != std::string::npos;
}

Claim one_triton_kernel(const ClaimsInput& input) {
  Finding finding = trace_kernels_finding(
      "Beside its GEMMs every step of the compiled trace launches one kernel, Triton's, pointwise, "
      "of gelu and mul by its name",
      input, kCompiled, is_one_triton_kernel);
  Claim claim;
  claim.statement = "Compiling makes one Triton kernel of gelu and mul";
  claim.published = "`triton_poi_fused__unsafe_view_gelu_mul_0`";
  claim.findings = {finding};
  return claim;
}

bool has_compilers_rows(const ReadTrace& trace) {
  return !rows_with_prefix(trace.summary, "TorchDynamo").empty() ||
         !rows_with_prefix(trace.summary, "Torch-Compiled").empty();
}

Claim no_pre_ops(const ClaimsInput& input) {
  Claim claim;
  claim.statement =
      "Liger's hand-written kernel fuses the same without the compiler's work before each call";
  claim.published = "shown in its traces; no figure";
  claim.findings = {
      trace_kernels_finding(
          "Beside its GEMMs every step of Liger's trace launches one kernel", input, kLiger,
          [](const KernelNames& kernels) { return all_but_gemms(kernels).size() == 1; }),
      trace_finding("It has no row of TorchDynamo or of a compiled region", input, kLiger,
                    [](const ReadTrace& trace) { return answer_of(!has_compilers_rows(trace)); }),
      trace_finding("The compiled trace has", input, kCompiled,
                    [](const ReadTrace& trace) { return answer_of(has_compilers_rows(trace)); })};
  return claim;
}

}  // namespace

std::vector<Claim> claims_of_compiled(const ClaimsInput& input) {
  return {same_gemms(input), one_triton_kernel(input), no_pre_ops(input)};
}

}  // namespace fusegate::ci
