#include "chttpdns_nghttp2.h"

uint8_t chttpdns_frame_type(const nghttp2_frame *frame) { return frame->hd.type; }

uint8_t chttpdns_frame_flags(const nghttp2_frame *frame) { return frame->hd.flags; }

int32_t chttpdns_frame_stream(const nghttp2_frame *frame) { return frame->hd.stream_id; }
