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

// Takes a whole text and knows where it broke.
class BreakFinder : public nlohmann::json_sax<json> {
 public:
  std::size_t position() const { return position_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    position_ = position;
    return false;
  }

 private:
  std::size_t position_ = 0;  // counted from 1
};

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
  BreakFinder finder;
  // Its error is behind the last character where more text is needed.
  return !json::sax_parse(text.begin(), text.end(), &finder) && finder.position() > text.size();
}

}  // namespace fusegate::baselines
