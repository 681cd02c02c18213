#include "ci/fuzzing/mutation.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace fusegate::ci {
namespace {

// Where readers of numbers and of texts have their limits.
constexpr std::array<std::string_view, 20> kOdd{"0",
                                                "-1",
                                                "1e308",
                                                "1e-320",
                                                "1.7976931348623157e308",
                                                "-0",
                                                "2147483648",
                                                "4294967296",
                                                "9223372036854775807",
                                                "-9223372036854775808",
                                                "null",
                                                "true",
                                                "\"\"",
                                                "[]",
                                                "{}",
                                                "\\u0000",
                                                "\\ud800",
                                                "\xEF\xBB\xBF",
                                                "\xff",
                                                "18446744073709551616"};

constexpr std::size_t kSeldom = 300;

bool is_digit(char c) { return '0' <= c && c <= '9'; }

}  // namespace

Mutator::Mutator(std::uint64_t seed, std::vector<std::string> inputs, std::size_t longest)
    : random_(seed), inputs_(std::move(inputs)), longest_(longest) {
  if (inputs_.empty()) inputs_.emplace_back();
}

std::string Mutator::next() {
  std::string text = inputs_[below(inputs_.size())];
  for (std::size_t changes = 1 + below(6); changes > 0; --changes) change(text);
  if (text.size() > longest_) text.resize(longest_);
  return text;
}

// The same by every standard library, unlike std::uniform_int_distribution.
std::size_t Mutator::below(std::size_t count) { return count == 0 ? 0 : random_() % count; }

void Mutator::change(std::string& text) {
  // Seldom, as long inputs take their time.
  if (below(kSeldom) == 0) return lengthen(text);
  switch (below(5)) {
    case 0:
      return change_number(text);
    case 1:
      return move_part(text);
    case 2:
      return add_part_of_another(text);
    default:
      return change_bytes(text);
  }
}

void Mutator::change_bytes(std::string& text) {
  const std::size_t at = below(text.size());
  const auto byte = static_cast<char>(below(256));
  switch (below(4)) {
    case 0:
      text.insert(at, 1, byte);
      return;
    case 1:
      text.erase(at, 1 + below(8));
      return;
    case 2:
      if (!text.empty()) text[at] = byte;
      return;
    default:
      if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
  }
}

void Mutator::change_number(std::string& text) {
  const auto from = text.begin() + static_cast<std::ptrdiff_t>(below(text.size()));
  const auto first = std::find_if(from, text.end(), is_digit);
  const auto last = std::find_if_not(first, text.end(), is_digit);
  text.replace(first, last, kOdd[below(kOdd.size())]);
}

// Doubled, moved or, at the text's end, cut off.
void Mutator::move_part(std::string& text) {
  const std::size_t at = below(text.size());
  const std::string part = text.substr(at, 1 + below(64));
  if (below(2) == 0) text.erase(at, part.size());
  if (below(4) == 0) return text.resize(below(text.size()));
  text.insert(below(text.size()), part);
}

void Mutator::add_part_of_another(std::string& text) {
  const std::string& other = inputs_[below(inputs_.size())];
  const std::string part = other.substr(below(other.size()), 1 + below(128));
  const std::size_t at = below(text.size());
  text.replace(at, below(2) * part.size(), part);
}

// What takes the stack, memory or time a level or an element: a number within many brackets, or a
// part many times.
void Mutator::lengthen(std::string& text) {
  const std::size_t times = below(longest_ / 2);
  if (below(2) == 0) {
    const auto from = text.begin() + static_cast<std::ptrdiff_t>(below(text.size()));
    const auto first = std::find_if(from, text.end(), is_digit);
    const auto last = std::find_if_not(first, text.end(), is_digit);
    const std::string number(first, last);
    text.replace(first, last, std::string(times, '[') + number + std::string(times, ']'));
    return;
  }
  const std::size_t at = below(text.size());
  const std::string part = text.substr(at, 1 + below(64));
  std::string repeated;
  for (std::size_t i = 0; !part.empty() && i < times / part.size(); ++i) repeated += part;
  text.insert(at, repeated);
}

}  // namespace fusegate::ci
