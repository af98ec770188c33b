// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// ALSA for Swift: its macros, and the timer.

#ifndef CALSA_SHIM_H
#define CALSA_SHIM_H

#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <sys/timerfd.h>

static const unsigned int ex_ioplug_version = SND_PCM_IOPLUG_VERSION;
static const char *const ex_card_name = "a timer of the kernel";

#endif
