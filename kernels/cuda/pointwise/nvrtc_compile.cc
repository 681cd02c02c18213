#include "kernels/cuda/pointwise/nvrtc_compile.h"

#include <fmt/format.h>
#include <nvrtc.h>

#include <algorithm>
#include <memory>
#include <type_traits>

#include "kernels/contract/device.h"

namespace fusegate::kernels {
namespace {

void check(nvrtcResult result, const char* call) {
  if (result == NVRTC_SUCCESS) return;
  throw DeviceError(fmt::format("{} in {}", nvrtcGetErrorString(result), call));
}

// The log or the machine code of a program.
template <typename SizeOf, typename Get>
std::vector<char> read(nvrtcProgram program, SizeOf size_of, Get get, const char* what) {
  std::size_t size = 0;
  check(size_of(program, &size), what);
  std::vector<char> bytes(size);
  check(get(program, bytes.data()), what);
  return bytes;
}

using Program =
    std::unique_ptr<std::remove_pointer_t<nvrtcProgram>, void (*)(nvrtcProgram program)>;

Program make_program(const NvrtcRequest& request) {
  std::vector<const char*> names, texts;
  for (const NamedText& header : request.headers) {
    names.push_back(header.name);
    texts.push_back(header.text);
  }
  nvrtcProgram program = nullptr;
  check(nvrtcCreateProgram(&program, request.source.text, request.source.name,
                           static_cast<int>(names.size()), texts.data(), names.data()),
        "nvrtcCreateProgram");
  return {program, [](nvrtcProgram owned) { nvrtcDestroyProgram(&owned); }};
}

}  // namespace

std::vector<char> nvrtc_compile(const NvrtcRequest& request) {
  const Program program = make_program(request);
  std::vector<std::string> options{"--std=c++20", "--gpu-architecture=" + request.architecture};
  for (const std::string& macro : request.macros) options.push_back("--define-macro=" + macro);
  std::vector<const char*> arguments;
  for (const std::string& option : options) arguments.push_back(option.c_str());
  const nvrtcResult result =
      nvrtcCompileProgram(program.get(), static_cast<int>(arguments.size()), arguments.data());
  if (result != NVRTC_SUCCESS) {
    const std::vector<char> log =
        read(program.get(), nvrtcGetProgramLogSize, nvrtcGetProgramLog, "nvrtcGetProgramLog");
    std::string text(log.begin(), std::ranges::find(log, '\0'));
    while (text.ends_with('\n')) text.pop_back();
    throw DeviceError(fmt::format("NVRTC cannot compile {} for {}: {}\n{}", request.source.name,
                                  request.architecture, nvrtcGetErrorString(result), text));
  }
  return read(program.get(), nvrtcGetCUBINSize, nvrtcGetCUBIN, "nvrtcGetCUBIN");
}

}  // namespace fusegate::kernels
