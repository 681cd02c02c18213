// The GPUs of this host, by nvidia-smi: whole ones, and the slices of those that MIG has cut.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fusegate::ci {

// Of a program: the cards that it sees.
inline constexpr const char* kVisibleCards = "CUDA_VISIBLE_DEVICES";

struct Card {
  std::string label{};   // its number, "0", or a slice's, "0:1"
  std::string uuid{};    // as CUDA_VISIBLE_DEVICES takes it
  std::string model{};   // "NVIDIA H200"; of a slice with its profile
  std::string bus_id{};  // on PCI, "00000000:4e:00.0"

  std::string name() const { return "GPU " + label; }
};

// list: what `nvidia-smi -L` prints. buses: "UUID, BUS ID" a line, by --query-gpu. Lines of any
// other form are passed over.
std::vector<Card> parse_cards(std::string_view list, std::string_view buses);

// Empty where there is no nvidia-smi, or it finds none.
std::vector<Card> cards_of_host();

// asked: "all", or numbers and UUIDs or their beginnings, "0,GPU-4e1b"; the number of a GPU that is
// cut takes all of its slices. visible: $CUDA_VISIBLE_DEVICES, to which "all" is limited; null
// where it is not set. Throws InputError naming what is no card, given twice or of another model.
std::vector<Card> chosen_cards(std::string_view asked, const std::vector<Card>& cards,
                               const char* visible);

}  // namespace fusegate::ci
