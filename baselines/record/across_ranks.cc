#include "baselines/record/across_ranks.h"

namespace fusegate::baselines {
namespace {

std::vector<std::string> texts_of(const JsonField& list) {
  std::vector<std::string> texts;
  for (const JsonField& text : list.elements()) texts.push_back(text.text());
  return texts;
}

}  // namespace

nlohmann::json across_ranks_json(const OperationsAcrossRanks& operations) {
  nlohmann::json all = nlohmann::json::object();
  for (const auto& [operation, of] : operations) {
    all[operation] = {{"work", of.work}, {"divided", of.divided}, {"exchanges", of.exchanges}};
  }
  return all;
}

OperationsAcrossRanks read_across_ranks(const JsonField& object) {
  OperationsAcrossRanks operations;
  const auto found = object.find("across_ranks");
  if (!found) return operations;
  for (const auto& [operation, of] : found->members()) {
    operations[operation] = {.work = of.at("work").text(),
                             .divided = texts_of(of.at("divided")),
                             .exchanges = texts_of(of.at("exchanges"))};
  }
  return operations;
}

}  // namespace fusegate::baselines
