// PTX, which the driver compiles when a program starts: what its kernels are called, and what of
// its text can change their code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fusegate::ci {

struct Ptx {
  std::vector<std::string> kernels{};  // as the compiler names them
  std::string hash{};                  // of the text but for what only the source's text changes
};

Ptx read_ptx(std::string_view text);

// Names of kernels in anonymous namespaces, and of static ones, have a number that nvcc derives
// from the text of their source file.
std::string without_source_numbers(std::string_view text);

}  // namespace fusegate::ci
