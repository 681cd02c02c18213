#include "ci/processes/cards.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>

#include "baselines/io/error.h"
#include "ci/processes/child_process.h"

namespace fusegate::ci {
namespace {

using baselines::InputError;

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts;
  std::istringstream stream{std::string(text)};
  for (std::string part; std::getline(stream, part, ',');) {
    const auto first = part.find_first_not_of(' '), last = part.find_last_not_of(" \r");
    if (first != part.npos) parts.push_back(part.substr(first, last + 1 - first));
  }
  return parts;
}

std::string labels_text(const std::vector<Card>& cards) {
  std::vector<std::string> labels;
  for (const Card& card : cards) labels.push_back(card.label);
  return fmt::format("{}", fmt::join(labels, ", "));
}

bool is_meant(const Card& card, const std::string& asked) {
  return card.label == asked || card.label.starts_with(asked + ":") ||
         (asked.size() > 3 && card.uuid.starts_with(asked));
}

std::vector<Card> meant_by(const std::string& asked, const std::vector<Card>& cards) {
  std::vector<Card> meant;
  std::ranges::copy_if(cards, std::back_inserter(meant),
                       [&](const Card& card) { return is_meant(card, asked); });
  if (meant.empty()) {
    throw InputError(
        "--gpus", "",
        fmt::format("\"{}\" is no GPU; nvidia-smi -L lists {}", asked, labels_text(cards)));
  }
  const bool is_number = asked.find_first_not_of("0123456789:") == asked.npos;
  if (meant.size() == 1 || is_number) return meant;
  throw InputError(
      "--gpus", "",
      fmt::format("\"{}\" is the beginning of {} UUIDs; give more of it", asked, meant.size()));
}

void require_one_model(const std::vector<Card>& cards) {
  for (const Card& card : cards) {
    if (card.model == cards.front().model) continue;
    throw InputError(
        "--gpus", "",
        fmt::format("{} is an {}, and {} an {}: measure cards of one model in a run",
                    cards.front().name(), cards.front().model, card.name(), card.model));
  }
}

}  // namespace

std::vector<Card> parse_cards(std::string_view list, std::string_view buses) {
  std::map<std::string, std::string> bus_of;
  std::istringstream bus_lines{std::string(buses)};
  for (std::string line; std::getline(bus_lines, line);) {
    const auto parts = split_at_commas(line);
    if (parts.size() == 2) bus_of[parts[0]] = parts[1];
  }
  static const std::regex whole(R"(GPU (\d+): (.+) \(UUID: (GPU-[^)]+)\))");
  static const std::regex slice(R"(\s+(MIG .*\S)\s+Device\s+(\d+): \(UUID: (MIG-[^)]+)\))");
  std::vector<Card> cards;
  Card gpu;  // the last one, of which slices may follow
  std::istringstream lines{std::string(list)};
  std::smatch found;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, found, whole)) {
      gpu = {.label = found[1], .uuid = found[3], .model = found[2], .bus_id = bus_of[found[3]]};
      cards.push_back(gpu);
    } else if (std::regex_match(line, found, slice) && !cards.empty()) {
      if (cards.back().uuid == gpu.uuid) cards.pop_back();
      cards.push_back({.label = fmt::format("{}:{}", gpu.label, found[2].str()),
                       .uuid = found[3],
                       .model = fmt::format("{} {}", gpu.model, found[1].str()),
                       .bus_id = gpu.bus_id});
    }
  }
  return cards;
}

std::vector<Card> cards_of_host() {
  return parse_cards(
      output_of({"nvidia-smi", "-L"}),
      output_of({"nvidia-smi", "--query-gpu=uuid,pci.bus_id", "--format=csv,noheader"}));
}

std::vector<Card> chosen_cards(std::string_view asked, const std::vector<Card>& cards,
                               const char* visible) {
  if (cards.empty()) {
    throw InputError("--gpus", "",
                     "nvidia-smi lists no GPU here; leave --gpus out, or see whether "
                     "nvidia-smi -L runs");
  }
  std::vector<Card> chosen;
  if (asked == "all" && visible == nullptr) {
    chosen = cards;
  } else {
    for (const std::string& one : split_at_commas(asked == "all" ? visible : asked)) {
      for (const Card& card : meant_by(one, cards)) {
        if (std::ranges::find(chosen, card.uuid, &Card::uuid) != chosen.end()) {
          throw InputError("--gpus", "", fmt::format("{} is given twice", card.name()));
        }
        chosen.push_back(card);
      }
    }
  }
  if (chosen.empty()) throw InputError("--gpus", "", "names no GPU");
  require_one_model(chosen);
  return chosen;
}

}  // namespace fusegate::ci
