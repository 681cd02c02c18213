// Inputs for a fuzz target where no libFuzzer is at hand: those that are given, changed at random,
// and in the same way for the same seed. It does not see what an input reaches, as libFuzzer does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace fusegate::ci {

class Mutator {
 public:
  // Without an input it starts from an empty one. longest: no input is longer.
  Mutator(std::uint64_t seed, std::vector<std::string> inputs, std::size_t longest);

  std::string next();

 private:
  std::size_t below(std::size_t count);  // from 0; count may be 0
  void change(std::string& text);
  void change_bytes(std::string& text);
  void change_number(std::string& text);
  void move_part(std::string& text);
  void add_part_of_another(std::string& text);
  void lengthen(std::string& text);

  std::mt19937_64 random_;
  std::vector<std::string> inputs_;
  std::size_t longest_;
};

}  // namespace fusegate::ci
