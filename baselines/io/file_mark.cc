#include "baselines/io/file_mark.h"

#include <nlohmann/json.hpp>

namespace fusegate::baselines {
namespace {

using nlohmann::json;

class MarkDetector : public nlohmann::json_sax<json> {
 public:
  explicit MarkDetector(std::string_view mark) : mark_(mark) {}

  bool found() const { return found_; }

  bool key(string_t& name) override {
    if (depth_ != 1) return true;
    found_ = name == mark_;
    return !found_ && name != "context";
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
  std::string_view mark_;
  int depth_ = 0;
  bool found_ = false;
};

}  // namespace

bool has_mark(std::string_view text, std::string_view mark) {
  MarkDetector detector(mark);
  json::sax_parse(text.begin(), text.end(), &detector);
  return detector.found();
}

}  // namespace fusegate::baselines
