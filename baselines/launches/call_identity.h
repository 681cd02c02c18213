// The code that one call of a benchmark runs: the machine code of every kernel, its launch and its
// arguments. Calls of equal identity run identical code, whatever their sources, compilers or
// names. In a run file it is details.identity of one entry of the benchmark, and in a baseline a
// member of the benchmark:
//
//   {"launches": [{"kernel": "void ns::gemm<...>(...)", "code": "0f3a...", "instructions":
//                  1204, "launch": "grid 48x1x1, block 256x1x1, ...", "arguments": "77c1..."}],
//    "order": "5d0e..."}
//   {"unknown": "why it is not known"}
//
// code and arguments are hashes in hexadecimal, made by the program that measured. Addresses
// enter the arguments relative to the tensors that they lie in. A memory operation has no code.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "baselines/io/json_field.h"

namespace fusegate::baselines {

struct LaunchIdentity {
  std::string kernel{};  // for people, never compared: a name is no work
  std::string code{};    // empty for a memory operation
  int instructions = 0;  // of the code, for people as well; 0: not known, as in older files
  std::string launch{};  // what the launch asks for, in words that people can read
  std::string arguments{};
};

struct CallIdentity {
  std::vector<LaunchIdentity> launches{};  // in the order in which they were captured
  std::string order{};                     // which waits for which
  std::string unknown{};                   // why it is not known; empty where it is
};

// Whether both are known and equal.
bool identical_code(const CallIdentity& a, const CallIdentity& b);

// The one that all have; unknown where they differ. identities must not be empty.
CallIdentity common_identity(const std::vector<CallIdentity>& identities);

nlohmann::json identity_json(const CallIdentity& identity);
// Throws InputError naming file and field.
CallIdentity parse_identity(const JsonField& field);

}  // namespace fusegate::baselines
