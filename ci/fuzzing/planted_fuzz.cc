// Falls over what is planted in it, to see whether that is found: each fault is one byte away from
// the inputs that the test gives.
#include <stdexcept>
#include <vector>

#include "ci/fuzzing/target.h"

namespace {

volatile int kept;  // so that nothing is left out as useless

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fusegate::ci::text_of(data, size);
  const int length = static_cast<int>(size);
  if (text == "throw") throw std::runtime_error("planted");
  if (text == "input") throw fusegate::baselines::InputError("planted", "", "is no good");
  if (text == "break") fusegate::ci::promise(false, "planted");
  if (text == "shift") kept = length << (length + 40);
  if (text == "reads") kept = std::vector<char>(data, data + size).data()[size];
  while (text == "hangs") kept = length;
  return 0;
}
