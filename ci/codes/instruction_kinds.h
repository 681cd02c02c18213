// What a kernel's instructions do, counted by their names in NVIDIA's disassembler. The encoding is
// not documented: a name stands here where nvdisasm 13.5 gave it to every such instruction of
// fusegate_bench and of kernels written for it (instruction_kinds_test.cc has what it saw).
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace fusegate::ci {

// "HGMMA": 48. What has no name here is "opcode 0x1c9".
using InstructionKinds = std::map<std::string, int>;

// code: instructions of 16 bytes, as since Volta. architecture: "sm_90a"; others than those that
// were seen have no names, as an opcode may mean something else there.
InstructionKinds instruction_kinds(std::span<const std::byte> code, std::string_view architecture);

// The most changed first, but what spills registers (STL, LDL) before all others: "STL +2, HGMMA
// +8, MOV -3, and 4 more kinds". "" where each is as often there as before.
std::string kinds_text(const InstructionKinds& before, const InstructionKinds& after);

}  // namespace fusegate::ci
