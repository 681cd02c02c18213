// A file of little-endian float32 numbers and nothing else, as nvbench's --jsonbin writes them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace fusegate::baselines {

struct Float32File {
  std::filesystem::path path;
  std::size_t size = 0;  // how many it is said to hold
};

// named_in: the file that names the size, for messages. Throws InputError.
std::vector<double> read_float32(const Float32File& file, const std::string& named_in);

}  // namespace fusegate::baselines
