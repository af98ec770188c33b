// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "Lookups.h"
#include "CLinuxEvents.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

rl_lookup_result rl_lookup_host(rl_lookup *lookup, const char *host, const char *service, bool service_is_number) {
    // Without AI_ADDRCONFIG, which looks at the machine's interfaces and leaves out a family that the loopback has: the race finds out in
    // one system call that a family leads nowhere.
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC,
        .ai_socktype = SOCK_STREAM,
        .ai_flags = service_is_number ? AI_NUMERICSERV : 0,
    };
    struct addrinfo *list = NULL;
    errno = 0;
    int code = getaddrinfo(host, service, &hints, &list);
    *lookup = (rl_lookup){.code = code == EAI_SYSTEM ? errno : code, .next = list, .list = list};
    switch (code) {
    case 0: return RL_LOOKUP_FOUND;
    case EAI_NONAME:
#ifdef EAI_NODATA
    case EAI_NODATA:
#endif
#ifdef EAI_ADDRFAMILY
    case EAI_ADDRFAMILY:
#endif
        return RL_LOOKUP_UNKNOWN_HOST;
    case EAI_SERVICE: return RL_LOOKUP_UNKNOWN_SERVICE;
    case EAI_SYSTEM: return RL_LOOKUP_SYSTEM;
    default: return RL_LOOKUP_FAILED;
    }
}

int rl_lookup_next(rl_lookup *lookup, void *address) {
    for (const struct addrinfo *info; (info = lookup->next) != NULL;) {
        lookup->next = info->ai_next;
        if (info->ai_family != AF_INET && info->ai_family != AF_INET6) continue;
        if (info->ai_addrlen == 0 || info->ai_addrlen > RL_ADDRESS_ROOM) continue;
        memcpy(address, info->ai_addr, info->ai_addrlen);
        return (int)info->ai_addrlen;
    }
    return 0;
}

void rl_lookup_end(rl_lookup *lookup) {
    freeaddrinfo(lookup->list);
    lookup->list = NULL;
    lookup->next = NULL;
}

const char *rl_lookup_message(int code) { return gai_strerror(code); }
