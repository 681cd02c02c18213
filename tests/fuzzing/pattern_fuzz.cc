// A pattern, and behind the last newline the name that it is searched for in.
#include <stdexcept>

#include "baselines/io/pattern.h"
#include "tests/fuzzing/target.h"

using namespace fusegate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Time goes with the product of both.
  constexpr std::size_t kLongestName = 1000;
  const std::string text = tests::text_of(data, size);
  const std::size_t cut = std::min(text.rfind('\n'), text.size());
  try {
    const baselines::Pattern pattern(text.substr(0, cut));
    pattern.fits(text.substr(std::min(cut + 1, text.size()), kLongestName));
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
