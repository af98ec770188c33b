// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// curl for Swift: the calls with a variable number of arguments.

#ifndef CCURL_SHIM_H
#define CCURL_SHIM_H

#include <curl/curl.h>

// Has `multi` say which sockets it waits for.
static inline void ex_watch_sockets(CURLM *multi, curl_socket_callback callback, void *data) {
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, callback);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, data);
}

static inline CURL *ex_transfer(const char *url, long milliseconds, curl_write_callback callback, void *data) {
    CURL *transfer = curl_easy_init();
    curl_easy_setopt(transfer, CURLOPT_URL, url);
    curl_easy_setopt(transfer, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(transfer, CURLOPT_TIMEOUT_MS, milliseconds);
    curl_easy_setopt(transfer, CURLOPT_WRITEFUNCTION, callback);
    curl_easy_setopt(transfer, CURLOPT_WRITEDATA, data);
    return transfer;
}

#endif
