#include "baselines/formats/broken_text.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace fusegate::baselines {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 5> kNonfinite{"Infinity", "NaN", "nan", "Inf", "inf"};

// The length of such a number there, with its sign; 0 where there is none.
std::size_t nonfinite_length(std::string_view text) {
  const std::size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  for (const std::string_view word : kNonfinite) {
    if (text.substr(sign).starts_with(word)) return sign + word.size();
  }
  return 0;
}

// Behind the closing quote of the string that begins there.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return text.size();
}

}  // namespace

bool quote_nonfinite(std::string& text) {
  bool found = false;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '"') {
      i = end_of_string(text, i);
    } else if (const std::size_t length = nonfinite_length(std::string_view(text).substr(i))) {
      text[i] = text[i + length - 1] = '"';
      i += length;
      found = true;
    } else {
      ++i;
    }
  }
  return found;
}

bool ends_early(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == text.npos) return true;
  const auto keep_nothing = [](int, json::parse_event_t, const json&) { return false; };
  try {
    [[maybe_unused]] const json nothing = json::parse(text, keep_nothing);
    return false;
  } catch (const json::parse_error& error) {
    // Behind the last character, counted from 1, where more text is needed.
    return error.byte > text.size();
  } catch (const json::exception&) {  // a number that is too large
    return false;
  }
}

}  // namespace fusegate::baselines
