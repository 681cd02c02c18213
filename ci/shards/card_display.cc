#include "ci/shards/card_display.h"

#include <fmt/format.h>

#include <limits>

namespace fusegate::ci {
namespace {

// How Output::status_line() begins.
constexpr std::string_view kStatusMark = "\r\x1b[K";

// Without the benchmark, which two blanks precede (ProgressDisplay): a line has room for all cards.
std::string shortened(const std::string& status) { return status.substr(0, status.find("  ")); }

}  // namespace

CardDisplay::~CardDisplay() {
  if (console_.status_line) console_.err.status_line("", console_.columns);
}

Console& CardDisplay::add_card(const std::string& name) {
  const std::lock_guard lock(mutex_);
  Card& card = cards_.emplace_back(*this, name);
  card.console.status_line = console_.status_line;
  card.console.columns = std::numeric_limits<std::size_t>::max();  // the display cuts
  return card.console;
}

void CardDisplay::note(const std::string& line) {
  const std::lock_guard lock(mutex_);
  print(line);
}

void CardDisplay::print(const std::string& line) {
  if (console_.status_line) console_.err.status_line("", console_.columns);
  console_.err.print("{}\n", line);
  console_.err.flush();
  show_status();
}

void CardDisplay::show_status() {
  if (!console_.status_line) return;
  std::string text;
  for (const Card& card : cards_) {
    if (card.buffer.status().empty()) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", card.buffer.name(),
                        shortened(card.buffer.status()));
  }
  console_.err.status_line(text, console_.columns);
}

int CardDisplay::CardStream::overflow(int c) {
  if (c == traits_type::eof()) return traits_type::not_eof(c);
  if (c != '\n') {
    text_ += static_cast<char>(c);
    return c;
  }
  const std::lock_guard lock(display_.mutex_);
  if (!text_.empty()) display_.print(fmt::format("{}: {}", name_, text_));
  text_.clear();
  return c;
}

int CardDisplay::CardStream::sync() {
  if (!text_.starts_with(kStatusMark)) return 0;
  const std::lock_guard lock(display_.mutex_);
  status_ = text_.substr(kStatusMark.size());
  text_.clear();
  display_.show_status();
  return 0;
}

}  // namespace fusegate::ci
