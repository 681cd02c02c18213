#include "ci/codes/program_codes.h"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "baselines/io/content_hash.h"
#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/launches/elf_file.h"
#include "baselines/launches/kernel_name.h"
#include "ci/codes/fat_binary.h"
#include "ci/codes/host_code.h"
#include "ci/codes/ptx.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using baselines::InputError;
using baselines::KernelCode;
using Bytes = std::span<const std::byte>;

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The libraries that a program loads, but for those that every program has.
std::vector<std::string> needed_libraries(const baselines::ElfFile& elf) {
  static const std::set<std::string_view> ordinary{
      "libc", "libm", "libstdc++", "libgcc_s", "libdl", "librt", "libpthread", "ld-linux-x86-64"};
  const auto content_of = [&](std::string_view name) {
    const auto found = std::ranges::find(elf.sections, name, &baselines::ElfSection::name);
    return found == elf.sections.end() ? Bytes{} : found->content;
  };
  const Bytes dynamic = content_of(".dynamic");
  const std::string_view names = text_of(content_of(".dynstr"));
  std::vector<std::string> libraries;
  for (std::size_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic.size(); at += sizeof(Elf64_Dyn)) {
    const auto entry = baselines::record_at<Elf64_Dyn>(dynamic, at);
    if (entry.d_tag != DT_NEEDED || entry.d_un.d_val >= names.size()) continue;
    std::string_view name = names.substr(entry.d_un.d_val);
    name = name.substr(0, name.find('\0'));
    if (!ordinary.contains(name.substr(0, name.find(".so")))) libraries.emplace_back(name);
  }
  constexpr std::string_view kDlopen("\0dlopen\0", 8);
  if (names.find(kDlopen) != names.npos) libraries.emplace_back("what it opens by dlopen()");
  return libraries;
}

// Gathers the kernels of all files.
class Gathering {
 public:
  void add(Bytes file, const std::string& source) {
    const std::size_t before = kernels_.size();
    source_ = source;
    try {
      read(file);
    } catch (const InputError&) {
      throw;
    } catch (const std::runtime_error& error) {
      throw InputError(source, "", error.what());
    }
    if (kernels_.size() == before) {
      notes_.insert(fmt::format("{}: has no kernels of its own", source));
    }
    sources_.push_back(source);
  }

  ProgramCodes codes() && {
    ProgramCodes codes{.sources = std::move(sources_)};
    std::size_t shared_names = 0;
    for (const auto& [key, by_hash] : kernels_) {
      codes.kernels.push_back({key.first, key.second, baselines::taken_together(by_hash),
                               static_cast<int>(by_hash.size())});
      shared_names += by_hash.size() > 1 ? 1 : 0;
      if (by_hash.size() == 1) codes.kernels.back().kinds = kinds_[by_hash.begin()->first];
    }
    for (const auto& [section, hash] : host_) codes.host[section] = hash.hex();
    if (shared_names > 0) {
      notes_.insert(
          fmt::format("{} of {} kernels: several have that name in one architecture, and "
                      "are taken together",
                      shared_names, kernels_.size()));
    }
    codes.notes.assign(notes_.begin(), notes_.end());
    return codes;
  }

 private:
  void read(Bytes file) {
    if (!baselines::is_elf(file)) {
      const bool is_archive = text_of(file).starts_with("!<arch>\n");
      if (!is_archive && (file.empty() || find_container(file, 0) != 0)) {
        throw std::runtime_error("is not a program, library, fat binary or cubin");
      }
      return read_containers(file);
    }
    constexpr std::uint16_t kCuda = 190;  // EM_CUDA
    const baselines::ElfFile elf = baselines::read_elf(file);
    if (elf.machine == kCuda) return read_cubin(file, "");
    for (const auto& [section, hash] : host_code(elf)) host_[section].add(hash);
    if (elf.sections.empty()) {
      notes_.insert(source_ + ": has no table of sections, so that all of it was searched");
      return read_containers(file);
    }
    if (const auto libraries = needed_libraries(elf); !libraries.empty()) {
      notes_.insert(
          fmt::format("{}: kernels of the libraries that it loads are not in it; name those "
                      "of yours too: {}",
                      source_, fmt::join(libraries, ", ")));
    }
    // What nvlink is still to link lies in __nv_relfatbin, and stays there beside the result.
    for (const std::string_view name : {".nv_fatbin", "__nv_relfatbin"}) {
      const std::size_t before = kernels_.size();
      for (const auto& section : elf.sections) {
        if (section.name == name) read_containers(section.content);
      }
      if (kernels_.size() > before) return;
    }
  }

  void read_containers(Bytes section) {
    for_each_entry(
        section, budget_, [this](const FatBinaryEntry& entry) { read_entry(entry); },
        [this] { baselines::fail_too_large(source_); });
  }

  void read_entry(const FatBinaryEntry& entry) {
    switch (entry.kind) {
      case FatBinaryEntry::Kind::kCubin:
        return read_cubin(entry.bytes, "sm_" + entry.architecture);
      case FatBinaryEntry::Kind::kPtx:
        if (!entry.has_cubin) read_ptx_entry(entry);
        return;
      case FatBinaryEntry::Kind::kOther:
        baselines::ContentHash hash;
        hash.add(entry.bytes);
        put(fmt::format("(fat binary entry of kind {})", entry.number), "sm_" + entry.architecture,
            {.hash = hash.hex()});
        notes_.insert(
            fmt::format("{}: has entries of kind {}, of which nothing is known but "
                        "whether they changed",
                        source_, entry.number));
    }
  }

  void read_cubin(Bytes cubin, const std::string& architecture) {
    constexpr std::string_view kText = ".text.";
    constexpr std::size_t kInstructionBytes = 16;
    std::string name = architecture.empty() ? baselines::cubin_architecture(cubin) : architecture;
    const auto codes = baselines::kernel_codes(cubin);
    const baselines::ElfFile elf = baselines::read_elf(cubin);
    for (const auto& section : elf.sections) {
      if (!section.name.starts_with(kText)) continue;
      const auto found = codes.find(std::string(section.name.substr(kText.size())));
      if (found == codes.end() || found->second.is_function) continue;
      const KernelCode& code = found->second;
      put(found->first, name, code);
      // Without what fills the section up.
      const std::size_t bytes = static_cast<std::size_t>(code.instructions) * kInstructionBytes;
      kinds_[code.hash] =
          instruction_kinds(section.content.first(std::min(bytes, section.content.size())), name);
    }
  }

  void read_ptx_entry(const FatBinaryEntry& entry) {
    const Ptx ptx = read_ptx(text_of(entry.bytes));
    for (const std::string& kernel : ptx.kernels) {
      put(kernel, "compute_" + entry.architecture, {.hash = ptx.hash});
    }
    if (!ptx.kernels.empty()) {
      notes_.insert(source_ +
                    ": has PTX alone for some kernels: these count as changed where any "
                    "text of their PTX did");
    }
  }

  void put(const std::string& kernel, const std::string& architecture, const KernelCode& code) {
    kernels_[{readable_kernel(kernel), architecture}].emplace(code.hash, code);
  }

  std::string source_{};
  std::vector<std::string> sources_{};
  std::set<std::string> notes_{};
  // By name and architecture, then by hash.
  std::map<std::pair<std::string, std::string>, std::map<std::string, KernelCode>> kernels_{};
  std::map<std::string, InstructionKinds> kinds_{};       // by hash
  std::map<std::string, baselines::ContentHash> host_{};  // by section
  std::size_t budget_ = baselines::largest_file();
};

std::vector<fs::path> files_of(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file() && entry.path().extension() == ".cubin") {
      files.push_back(entry.path());
    }
  }
  if (files.empty()) throw InputError(path.string(), "", "has no .cubin file");
  std::ranges::sort(files);
  return files;
}

}  // namespace

// "__nv_static_28__290e7327_7_some_cu_1efa1a85__ZN39_GLOBAL__N__...", with a number of the source's
// text.
std::string readable_kernel(std::string_view name) {
  if (name.starts_with("__nv_static_")) {
    if (const std::size_t own = name.find("__Z"); own != name.npos) name.remove_prefix(own + 1);
  }
  return baselines::read_kernel_name(name).name;
}

ProgramCodes read_codes(const std::vector<fs::path>& paths) {
  Gathering gathering;
  for (const fs::path& path : paths) {
    for (const fs::path& file : files_of(path)) {
      const std::string bytes = baselines::read_file(file);
      gathering.add(std::as_bytes(std::span(bytes)), file.string());
    }
  }
  ProgramCodes codes = std::move(gathering).codes();
  if (codes.kernels.empty()) {
    throw InputError(codes.sources.empty() ? "codes" : codes.sources.front(), "",
                     fmt::format("has no kernels: name the program or library that nvcc's objects "
                                 "are linked into ({})",
                                 fmt::join(codes.notes, "; ")));
  }
  return codes;
}

ProgramCodes codes_in(Bytes file, const std::string& source) {
  Gathering gathering;
  gathering.add(file, source);
  return std::move(gathering).codes();
}

}  // namespace fusegate::ci
