// Two names of kernels, the second behind the last newline.
#include "baselines/launches/kernel_name.h"
#include "tests/fuzzing/target.h"

using namespace fusegate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = tests::text_of(data, size);
  const std::size_t cut = std::min(text.rfind('\n'), text.size());
  const baselines::KernelName before = baselines::read_kernel_name(text.substr(0, cut));
  const baselines::KernelName after =
      baselines::read_kernel_name(text.substr(std::min(cut + 1, text.size())));
  baselines::short_kernel_name(before);
  baselines::kernel_differences(before, after);
  tests::promise(baselines::kernel_differences(before, before).empty(),
                 "a kernel does not differ from itself");
  return 0;
}
