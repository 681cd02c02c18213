// A compiled pattern (pattern.h): steps that take a character, fork, or test the characters around.
// The match is behind the last step.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace fusegate::baselines {

struct PatternStep {
  enum Kind : std::uint8_t {
    kCharacter,  // one of the characters, then the next step
    kEither,     // goes on at two steps; both may be the same
    kStart,
    kEnd,
    kWordStart,
    kWordEnd,
    kWordEdge,
    kNoWordEdge,
  };
  Kind kind = kCharacter;
  std::ptrdiff_t next = 1, other = 1;  // from this step
  std::bitset<256> characters{};
};
using PatternProgram = std::vector<PatternStep>;

// An extended regular expression: . [] [^] [:alpha:] () | * + ? {m,n} ^ $, and of GNU's \w \W \s \S
// \b \B \< \>. Throws std::invalid_argument for any other text, and where it nests deeper than 200
// or comes to more than 200,000 steps, as x{1000}{1000} does.
PatternProgram pattern_program(std::string_view text);

bool is_word_character(char c);

}  // namespace fusegate::baselines
