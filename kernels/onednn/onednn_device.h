// The CPU through oneDNN: preferred to the plain one where a program links both.
#pragma once

#include <dnnl.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/onednn/cpu_device.h"

namespace fusegate::kernels {

class OnednnDevice : public CpuDevice {
 public:
  OnednnDevice();

  std::map<std::string, std::string> versions() const override;
  void synchronize() override;

  // The speed of generated code depends on its address: with one copy per process, times of the
  // same kernel differed by a factor of up to 1.75 (docs/evidence/cpu.md). Freed code would be
  // generated again at the same address. So primitives live as long as the device, and each memory
  // layout has others.
  const dnnl::primitive& store(dnnl::primitive primitive) {
    return primitives_.emplace_back(std::move(primitive));
  }

  dnnl::engine& engine() { return engine_; }
  dnnl::stream& stream() { return stream_; }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  std::vector<dnnl::primitive> primitives_;
};

}  // namespace fusegate::kernels
