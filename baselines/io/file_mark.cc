#include "baselines/io/file_mark.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace fusegate::baselines {
namespace {

using nlohmann::json;

class MarkDetector : public nlohmann::json_sax<json> {
 public:
  explicit MarkDetector(std::span<const std::string_view> marks) : marks_(marks) {}

  const std::string& found() const { return found_; }

  bool key(string_t& name) override {
    if (depth_ != 1) return true;
    if (std::ranges::find(marks_, name) != marks_.end()) found_ = name;
    return found_.empty() && name != "context";
  }
  bool start_object(std::size_t) override { return ++depth_ > 0; }
  bool start_array(std::size_t) override { return ++depth_ > 1; }  // a list at the top has no keys
  bool end_object() override { return --depth_ > 0; }
  bool end_array() override { return --depth_ > 0; }
  bool null() override { return depth_ > 0; }
  bool boolean(bool) override { return depth_ > 0; }
  bool number_integer(number_integer_t) override { return depth_ > 0; }
  bool number_unsigned(number_unsigned_t) override { return depth_ > 0; }
  bool number_float(number_float_t, const string_t&) override { return depth_ > 0; }
  bool string(string_t&) override { return depth_ > 0; }
  bool binary(binary_t&) override { return false; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  std::span<const std::string_view> marks_;
  int depth_ = 0;
  std::string found_;
};

}  // namespace

std::string first_mark(std::string_view text, std::span<const std::string_view> marks) {
  MarkDetector detector(marks);
  json::sax_parse(text.begin(), text.end(), &detector);
  return detector.found();
}

bool has_mark(std::string_view text, std::string_view mark) {
  return !first_mark(text, std::span(&mark, 1)).empty();
}

}  // namespace fusegate::baselines
