// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#ifndef C_CORE_FOUNDATION_RUN_LOOP_REPLIES_H
#define C_CORE_FOUNDATION_RUN_LOOP_REPLIES_H

#include <stddef.h>

/// Writes all bytes to a descriptor; returns 0, or the errno of a refusal.
///
/// Waits while the descriptor takes no more, and gives up with ETIMEDOUT after five seconds without progress.
///
/// Never raises SIGPIPE for a socket.
int rl_send_reply(int descriptor, const void *_Nullable bytes, size_t count);

#endif
