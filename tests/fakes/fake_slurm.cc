#include "tests/fakes/fake_slurm.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "tests/fakes/fake_program.h"

namespace fusegate::tests {

namespace fs = std::filesystem;

FakeSlurm::FakeSlurm(const baselines::ScratchFolder& folder)
    : folder_(folder),
      bin_((folder.path() / "slurm-bin").string()),
      path_(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "") {
  setenv("PATH", (bin_ + ":" + path_).c_str(), 1);
  for (const char* command : {"sbatch", "squeue", "sacct"}) {
    write_script(folder, std::string("slurm-bin/") + command,
                 "own='" + bin_ +
                     "/'$(basename \"$0\")\n"
                     "echo \"$*\" >> \"$own.calls\"\n"
                     "[ ! -e \"$own.error\" ] || { cat \"$own.error\" >&2; exit 1; }\n"
                     "[ ! -e \"$own.out\" ] || { cat \"$own.out\"; exit; }\n"
                     "[ \"${own##*/}\" != sbatch ] || wc -l < \"$own.calls\"\n");
  }
}

FakeSlurm::~FakeSlurm() { setenv("PATH", path_.c_str(), 1); }

void FakeSlurm::prints(const std::string& command, const std::string& text) const {
  fs::remove(path_of(command) + ".error");
  folder_.write("slurm-bin/" + command + ".out", text);
}

void FakeSlurm::fails(const std::string& command, const std::string& error) const {
  folder_.write("slurm-bin/" + command + ".error", error + "\n");
}

void FakeSlurm::is_not_installed(const std::string& command) const { fs::remove(path_of(command)); }

std::vector<std::string> FakeSlurm::calls(const std::string& command) const {
  std::vector<std::string> calls;
  const std::string file = path_of(command) + ".calls";
  if (!fs::exists(file)) return calls;
  std::istringstream lines(baselines::read_file(file));
  for (std::string line; std::getline(lines, line);) calls.push_back(line);
  return calls;
}

}  // namespace fusegate::tests
