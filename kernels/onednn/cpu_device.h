// The CPU as a device, computing through oneDNN: the embedded default, and what a machine without a
// GPU measures.
#pragma once

#include <dnnl.hpp>
#include <utility>
#include <vector>

#include "kernels/contract/device.h"
#include "kernels/contract/host_reference.h"

namespace fusegate::kernels {

class CpuDevice : public Device {
 public:
  CpuDevice();

  std::string_view kind() const override { return "cpu"; }
  std::string name() const override;
  std::string uuid() const override { return ""; }
  std::map<std::string, std::string> versions() const override;
  std::size_t available_bytes() const override;
  Memory allocate(std::size_t bytes) override;
  bool lay_out(std::uint64_t) override { return false; }
  void fill(const Tensor& tensor, const Fill& fill, std::uint64_t seed) override;
  void poison(const Tensor& tensor) override;
  void copy_to_host(const void* from, std::span<std::byte> to) override;
  void copy_to_device(std::span<const std::byte> from, void* to) override;
  std::uint64_t digest(const Tensor& tensor) override;
  void synchronize() override;
  ReferenceMath& reference_math() override { return reference_; }

  // How fast generated code is depends on where it lies: with one copy a process, times of the same
  // kernel lay up to 1.75 apart (docs/protocol.md). What was freed would be generated again at the
  // same address. So primitives stay, and another place in memory has code in another.
  const dnnl::primitive& keep(dnnl::primitive primitive) {
    return kept_.emplace_back(std::move(primitive));
  }

  dnnl::engine& engine() { return engine_; }
  dnnl::stream& stream() { return stream_; }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  HostReference reference_;
  std::vector<dnnl::primitive> kept_;
};

}  // namespace fusegate::kernels
