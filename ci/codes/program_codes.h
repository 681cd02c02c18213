// The machine code of every kernel in programs and libraries, and whether the host's is the same,
// read from their files: no GPU and no driver is needed, and nothing of them runs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/launches/kernel_code.h"
#include "ci/codes/instruction_kinds.h"

namespace fusegate::ci {

struct ProgramKernel {
  std::string name{};          // demangled
  std::string architecture{};  // "sm_90a"; "compute_90" where there is PTX alone
  // Its hash is that of an identity (baselines/launches/call_identity.h). Of PTX, of the text.
  baselines::KernelCode code{};
  int of_one_name = 1;       // different kernels of this name and architecture, taken together
  InstructionKinds kinds{};  // of the code's instructions; empty of PTX, and of several of one name
};

struct ProgramCodes {
  std::vector<std::string> sources{};    // what was read
  std::vector<ProgramKernel> kernels{};  // by name, then architecture
  std::vector<std::string> notes{};      // for people: what to know of them
  // host_code.h, of all programs and libraries together; empty where there is none.
  std::map<std::string, std::string> host{};
};

// A kernel's name as people read it, the same of each build: demangled, and without what nvcc puts
// before static kernels' names where device code is linked.
std::string readable_kernel(std::string_view name);

// Of each path, together: an ELF program, library or object; a static library; a cubin; a fat
// binary; a folder with .cubin files, such as Triton's cache. Throws InputError for a file that is
// none of these or is cut short, and where there is no kernel in any of them.
ProgramCodes read_codes(const std::vector<std::filesystem::path>& paths);

// The same of one file's bytes. source: its name in messages.
ProgramCodes codes_in(std::span<const std::byte> file, const std::string& source);

}  // namespace fusegate::ci
