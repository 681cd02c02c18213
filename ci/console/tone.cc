#include "ci/console/tone.h"

#include <algorithm>
#include <array>

namespace fusegate::ci {
namespace {

// In the enum's order: as it was, green, red, yellow, bold.
constexpr std::array<std::string_view, 5> kSequences{"\x1b[0m", "\x1b[32m", "\x1b[31m", "\x1b[33m",
                                                     "\x1b[1m"};

}  // namespace

std::string coloured(std::string text, Tone tone, const TextStyle& style) {
  if (!style.has_colours || tone == Tone::kPlain || text.empty()) return text;
  text.insert(0, kSequences.at(static_cast<std::size_t>(tone)));
  return text.append(kSequences.front());
}

std::string_view leading_colour(std::string_view text) {
  const auto* found = std::ranges::find_if(
      kSequences, [text](std::string_view sequence) { return text.starts_with(sequence); });
  return found == kSequences.end() ? "" : *found;
}

}  // namespace fusegate::ci
