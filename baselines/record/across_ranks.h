// Of operations over several ranks, what reports read their times beside; "across_ranks" of a run
// file's context and of a stored baseline:
//
//   {"geglu_mlp_tp": {"work": "geglu_mlp", "divided": ["hidden"], "exchanges": ["all_reduce"]}}
//
// "work": the operation of which each rank computes a part, whose axes "divided" are those of the
// whole over the number of ranks. "exchanges": the operations that are the exchange alone.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "baselines/io/json_field.h"

namespace fusegate::baselines {

struct AcrossRanks {
  std::string work;
  std::vector<std::string> divided{};
  std::vector<std::string> exchanges{};
};
using OperationsAcrossRanks = std::map<std::string, AcrossRanks>;  // by operation

nlohmann::json across_ranks_json(const OperationsAcrossRanks& operations);

// Of the object that has the key, if it does. Throws InputError naming the field.
OperationsAcrossRanks read_across_ranks(const JsonField& object);

}  // namespace fusegate::baselines
