// A program, a fat binary, a cubin, or a file of `fusegate codes`.
#include <span>

#include "baselines/io/file_io.h"
#include "ci/codes/codes_file.h"
#include "tests/fuzzing/target.h"

using namespace fusegate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  baselines::set_largest_file(std::size_t{1} << 20);
  const std::string text = tests::text_of(data, size);
  tests::read_or_refuse(tests::kFuzzed, [&] {
    return text.starts_with('{') ? ci::parse_codes(text, tests::kFuzzed)
                                 : ci::codes_in(std::as_bytes(std::span(text)), tests::kFuzzed);
  });
  return 0;
}
