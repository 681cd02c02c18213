#include "baselines/io/message_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace fusegate::baselines {

// V. I. Levenshtein, "Binary codes capable of correcting deletions, insertions and reversals",
// Soviet Physics Doklady 10 (1966), 707-710.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

std::string nearest_name(std::string_view word, const std::vector<std::string>& names) {
  constexpr std::size_t kLongestWord = 100;  // a longer one is no slip of a finger
  if (word.size() > kLongestWord) return "";
  std::string nearest;
  std::size_t least = word.size() / 3 + 1;
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(word, name);
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  return nearest;
}

std::string mistyped_text(std::string_view word, std::string_view what,
                          const std::vector<std::string>& names) {
  const std::string nearest = nearest_name(word, names);
  return fmt::format("\"{}\" is not a {}{}", word, what,
                     nearest.empty() ? "" : "; the nearest is " + nearest);
}

std::string first_of(const std::vector<std::string>& names, std::string_view separator,
                     std::size_t most) {
  const std::span shown = std::span(names).first(std::min(most, names.size()));
  const std::size_t left = names.size() - shown.size();
  return fmt::format("{}{}", fmt::join(shown, separator),
                     left == 0 ? "" : fmt::format(" and {} more", left));
}

}  // namespace fusegate::baselines
