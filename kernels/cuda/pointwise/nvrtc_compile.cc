#include "kernels/cuda/pointwise/nvrtc_compile.h"

#include <fmt/format.h>
#include <nvrtc.h>

#include <memory>

#include "kernels/contract/device.h"

namespace fusegate::kernels {
namespace {

void check(nvrtcResult result, const char* call) {
  if (result == NVRTC_SUCCESS) return;
  throw DeviceError(fmt::format("{} in {}", nvrtcGetErrorString(result), call));
}

class Program {
 public:
  explicit Program(const NvrtcRequest& request) {
    std::vector<const char*> names, texts;
    for (const NamedText& header : request.headers) {
      names.push_back(header.name);
      texts.push_back(header.text);
    }
    check(nvrtcCreateProgram(&program_, request.source.text, request.source.name,
                             static_cast<int>(names.size()), texts.data(), names.data()),
          "nvrtcCreateProgram");
  }
  ~Program() { nvrtcDestroyProgram(&program_); }
  // A copy would destroy it twice.
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  nvrtcResult compile(const std::vector<std::string>& options) {
    std::vector<const char*> arguments;
    for (const std::string& option : options) arguments.push_back(option.c_str());
    return nvrtcCompileProgram(program_, static_cast<int>(arguments.size()), arguments.data());
  }

  std::string log() const {
    std::size_t size = 0;
    check(nvrtcGetProgramLogSize(program_, &size), "nvrtcGetProgramLogSize");
    std::string text(size, '\0');
    check(nvrtcGetProgramLog(program_, text.data()), "nvrtcGetProgramLog");
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
    return text;
  }

  std::vector<char> machine_code() const {
    std::size_t size = 0;
    check(nvrtcGetCUBINSize(program_, &size), "nvrtcGetCUBINSize");
    std::vector<char> code(size);
    check(nvrtcGetCUBIN(program_, code.data()), "nvrtcGetCUBIN");
    return code;
  }

 private:
  nvrtcProgram program_ = nullptr;
};

}  // namespace

std::vector<char> nvrtc_compile(const NvrtcRequest& request) {
  Program program(request);
  std::vector<std::string> options{"--std=c++20", "--gpu-architecture=" + request.architecture};
  for (const std::string& macro : request.macros) options.push_back("--define-macro=" + macro);
  if (const nvrtcResult result = program.compile(options); result != NVRTC_SUCCESS) {
    throw DeviceError(fmt::format("NVRTC cannot compile {} for {}: {}\n{}", request.source.name,
                                  request.architecture, nvrtcGetErrorString(result),
                                  program.log()));
  }
  return program.machine_code();
}

}  // namespace fusegate::kernels
