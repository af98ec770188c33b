// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Host names, looked up by the system's resolver.

#ifndef CLINUXKERNEL_LOOKUPS_H
#define CLINUXKERNEL_LOOKUPS_H

#include "LinuxOnly.h"

#include <stdbool.h>

typedef enum {
    RL_LOOKUP_FOUND,
    RL_LOOKUP_UNKNOWN_HOST,
    RL_LOOKUP_UNKNOWN_SERVICE,
    // `code` is one of <netdb.h>.
    RL_LOOKUP_FAILED,
    // `code` is an errno.
    RL_LOOKUP_SYSTEM,
} rl_lookup_result;

typedef struct {
    int code;
    // The next address of the list, and the list.
    const void *next;
    void *list;
} rl_lookup;

// Looks up the addresses of stream sockets of a host and a service, which is a number or a name of /etc/services. Waits, as long as the
// resolver does. Only a lookup that has found addresses has to be ended.
rl_lookup_result rl_lookup_host(rl_lookup *lookup, const char *host, const char *service, bool service_is_number);
// Writes the next address into RL_ADDRESS_ROOM bytes, and returns its length; 0 behind the last one.
int rl_lookup_next(rl_lookup *lookup, void *address);
void rl_lookup_end(rl_lookup *lookup);
// The system's words for a code of <netdb.h>; never NULL.
const char *rl_lookup_message(int code);

#endif
