// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <linux/if.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/eventfd.h>

/// A socket that gets what the kernel tells these groups; -1 and `errno` if the system refuses.
int netlink_open(int protocol, unsigned groups);
