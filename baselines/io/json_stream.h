// A JSON tokenizer for run files, which are large: nlohmann's goes through 125 MB/s on a core of
// the machine this was written on, this one through several times that, because it copies a plain
// string in one piece and reads numbers with std::from_chars. It only accepts or refuses; telling
// what is wrong and where is left to nlohmann's parser, on the rare text that is refused.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>

namespace fusegate::baselines {

// Handler: as for nlohmann::json::sax_parse(), less binary() and parse_error(). Its return values
// are not looked at; it stops the parsing by an exception.
template <typename Handler>
class JsonStream {
 public:
  JsonStream(std::string_view text, Handler& handler)
      : next_(text.data()), end_(text.data() + text.size()), handler_(handler) {}

  // Whether the text is one JSON value (RFC 8259) and nothing else. Events were sent up to the
  // error.
  bool parse() {
    if (rest().starts_with("\xEF\xBB\xBF")) next_ += 3;
    // A loop and not a recursion: a file of a million brackets must not overflow the stack.
    bool expects_value = true;
    while (expects_value || !open_.empty()) {
      if (!(expects_value ? value(expects_value) : after_value(expects_value))) return false;
    }
    return skip_space() == end_;
  }

 private:
  std::string_view rest() const { return {next_, end_}; }

  const char* skip_space() {
    while (next_ != end_ && (*next_ == ' ' || *next_ == '\n' || *next_ == '\t' || *next_ == '\r')) {
      ++next_;
    }
    return next_;
  }
  bool sees(char c) { return skip_space() != end_ && *next_ == c; }
  bool take(char c) {
    if (!sees(c)) return false;
    ++next_;
    return true;
  }
  bool take_word(std::string_view word) {
    if (!rest().starts_with(word)) return false;
    next_ += word.size();
    return true;
  }

  bool value(bool& expects_value) {
    if (skip_space() == end_) return false;
    expects_value = false;
    switch (*next_) {
      case '{':
        return open_object(expects_value);
      case '[':
        return open_array(expects_value);
      case '"':
        return string() && (handler_.string(buffer_), true);
      case 't':
        return take_word("true") && (handler_.boolean(true), true);
      case 'f':
        return take_word("false") && (handler_.boolean(false), true);
      case 'n':
        return take_word("null") && (handler_.null(), true);
      default:
        return number();
    }
  }

  bool open_object(bool& expects_value) {
    ++next_;
    handler_.start_object(static_cast<std::size_t>(-1));
    open_ += '}';
    if (sees('}')) return true;
    expects_value = true;
    return key();
  }
  bool open_array(bool& expects_value) {
    ++next_;
    handler_.start_array(static_cast<std::size_t>(-1));
    open_ += ']';
    expects_value = !sees(']');
    return true;
  }
  bool key() {
    if (!sees('"') || !string()) return false;
    handler_.key(buffer_);
    return take(':');
  }

  // The end of the innermost container, or a comma and what must follow it.
  bool after_value(bool& expects_value) {
    const bool in_object = open_.back() == '}';
    if (take(open_.back())) {
      open_.pop_back();
      in_object ? handler_.end_object() : handler_.end_array();
      return true;
    }
    expects_value = true;
    return take(',') && (!in_object || key());
  }

  // Leaves the string in buffer_. Plain means printable ASCII without escapes; anything else goes
  // to nlohmann's parser, which knows escapes, surrogates and UTF-8.
  bool string() {
    const char* start = next_++;
    bool plain = true;
    while (next_ != end_ && *next_ != '"') {
      const auto c = static_cast<unsigned char>(*next_);
      plain = plain && c >= 0x20 && c < 0x80 && c != '\\';
      next_ += c == '\\' && next_ + 1 != end_ ? 2 : 1;
    }
    if (next_ == end_) return false;
    ++next_;
    if (plain) {
      buffer_.assign(start + 1, next_ - 1);
      return true;
    }
    const auto decoded = nlohmann::json::parse(start, next_, nullptr, false);
    if (decoded.is_discarded()) return false;
    buffer_ = decoded.get_ref<const std::string&>();
    return true;
  }

  const char* skip_digits(const char* at) const {
    while (at != end_ && *at >= '0' && *at <= '9') ++at;
    return at;
  }

  bool number() {
    const char* start = next_;
    const bool negative = *start == '-';
    const char* digits = start + (negative ? 1 : 0);
    const char* at = skip_digits(digits);
    if (at == digits || (*digits == '0' && at != digits + 1)) return false;
    const bool integer = at == end_ || (*at != '.' && *at != 'e' && *at != 'E');
    if (!integer && !skip_fraction_and_exponent(at)) return false;
    next_ = at;
    if (integer && send_integer(start, negative)) return true;
    return send_float(start);
  }

  bool skip_fraction_and_exponent(const char*& at) const {
    if (at != end_ && *at == '.') {
      const char* digits = at + 1;
      at = skip_digits(digits);
      if (at == digits) return false;
    }
    if (at == end_ || (*at != 'e' && *at != 'E')) return true;
    ++at;
    if (at != end_ && (*at == '+' || *at == '-')) ++at;
    const char* digits = at;
    at = skip_digits(digits);
    return at != digits;
  }

  // False where it has too many digits for 64 bits.
  bool send_integer(const char* start, bool negative) {
    if (negative) {
      std::int64_t value = 0;
      if (std::from_chars(start, next_, value).ec != std::errc()) return false;
      handler_.number_integer(value);
    } else {
      std::uint64_t value = 0;
      if (std::from_chars(start, next_, value).ec != std::errc()) return false;
      handler_.number_unsigned(value);
    }
    return true;
  }

  bool send_float(const char* start) {
    double value = 0;
    if (std::from_chars(start, next_, value).ec != std::errc()) {
      // from_chars calls 1e-400 out of range as it does 1e400; the first is zero, the second no
      // number.
      value = std::strtod(std::string(start, next_).c_str(), nullptr);
      if (!std::isfinite(value)) return false;
    }
    handler_.number_float(value, std::string_view(start, next_));
    return true;
  }

  const char* next_;
  const char* end_;
  Handler& handler_;
  std::string open_;  // the closing brackets that are due
  std::string buffer_;
};

}  // namespace fusegate::baselines
