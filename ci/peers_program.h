// bench/peers, the Python program that measures other people's implementations of the same
// operations (PyTorch, its compiler, Liger) and writes run files as fusegate_bench does. How it is
// called stands here alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace fusegate {

struct PeersProgram {
  std::string python;              // empty: $FUSEGATE_PYTHON, else python3 of PATH
  std::filesystem::path folder{};  // that has the package `peers`; empty: peers_folder()
};

// With what was left empty filled in. Not the interpreter that draws reports: that one has a
// virtual environment of its own, in which there is no PyTorch.
PeersProgram resolved(PeersProgram program);

// program: a resolved one.
std::vector<std::string> peers_command(const PeersProgram& program, const std::string& suite,
                                       int invocation, std::uint64_t seed,
                                       const std::filesystem::path& run_file);

}  // namespace fusegate
