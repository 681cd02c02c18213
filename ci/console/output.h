// What everything that a command prints goes through. Names, reasons and messages are others' text:
// here they lose what would act on a terminal or in a log (baselines/io/printable.h), and no line
// of them becomes a workflow command, "::error::..." or "##[error]...", which GitHub's runner takes
// from the output of any program.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>

#include "baselines/io/printable.h"
#include "ci/console/terminal.h"

namespace fusegate::ci {

class Output {
 public:
  // stream: outlives this.
  Output(std::ostream& stream, TextStyle style = {}) : stream_(&stream), style_(style) {}

  // As fmt::print. An argument that is text stays within its line: its newlines are escaped.
  template <typename... Args>
  void print(fmt::format_string<std::conditional_t<
                 std::convertible_to<const Args&, std::string_view>, std::string, Args>...>
                 format,
             const Args&... args) {
    lines(formatted(format, as_printed(args)...));
  }

  // Text that is laid out in lines already, of cells that are printable. Colours of ours stay,
  // where this has any.
  void lines(std::string_view text);

  // Of a terminal: what its last line shows from now on, cut to the width; empty clears it.
  void status_line(std::string_view text, std::size_t columns);

  void flush() { stream_->flush(); }
  // Whether all of it was written, a full disk behind a redirection included.
  bool finish() { return static_cast<bool>(stream_->flush()); }

  const TextStyle& style() const { return style_; }
  void set_columns(std::size_t columns) { style_.columns = columns; }

 private:
  template <typename T>
  static auto as_printed(const T& value) {
    if constexpr (std::convertible_to<const T&, std::string_view>) {
      return baselines::printable(value);
    } else {
      return value;
    }
  }
  template <typename... Args>
  static std::string formatted(fmt::string_view format, const Args&... args) {
    return fmt::vformat(format, fmt::make_format_args(args...));
  }

  std::string shown(std::string_view text) const;

  std::ostream* stream_;
  TextStyle style_;
  bool is_line_start_ = true;  // nothing but blanks stands in the line
};

}  // namespace fusegate::ci
