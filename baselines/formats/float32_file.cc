#include "baselines/formats/float32_file.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"

namespace fusegate::baselines {

std::vector<double> read_float32(const Float32File& file, const std::string& named_in) {
  static_assert(sizeof(float) == 4);
  const std::string bytes = read_regular_file(file.path);
  if (bytes.size() != 4 * file.size) {
    throw InputError(file.path.string(), "",
                     fmt::format("has {} bytes, but {} names {} numbers of 4 bytes", bytes.size(),
                                 named_in, file.size));
  }
  std::vector<double> numbers(file.size);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::uint32_t word = 0;
    for (std::size_t byte = 4; byte-- > 0;) {
      word = word << 8 | static_cast<unsigned char>(bytes[4 * i + byte]);
    }
    numbers[i] = std::bit_cast<float>(word);
  }
  return numbers;
}

}  // namespace fusegate::baselines
