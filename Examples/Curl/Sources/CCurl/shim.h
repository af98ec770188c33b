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

// For an address that somebody else has chosen: http and https alone, some redirects, and the proxy of the environment, except for
// some hosts. A thread beside others leaves signals alone.
static inline void ex_follow(CURL *transfer, long redirects, const char *hosts_without_proxy) {
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(transfer, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(transfer, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
    curl_easy_setopt(transfer, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
    curl_easy_setopt(transfer, CURLOPT_REDIR_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
    curl_easy_setopt(transfer, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(transfer, CURLOPT_MAXREDIRS, redirects);
    curl_easy_setopt(transfer, CURLOPT_NOPROXY, hosts_without_proxy);
    curl_easy_setopt(transfer, CURLOPT_NOSIGNAL, 1L);
}

static inline long ex_status(CURL *transfer) {
    long status = 0;
    curl_easy_getinfo(transfer, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

static inline long ex_redirect_count(CURL *transfer) {
    long count = 0;
    curl_easy_getinfo(transfer, CURLINFO_REDIRECT_COUNT, &count);
    return count;
}

static inline const char *ex_url(CURL *transfer) {
    char *url = NULL;
    curl_easy_getinfo(transfer, CURLINFO_EFFECTIVE_URL, &url);
    return url;
}

static inline const char *ex_content_type(CURL *transfer) {
    char *type = NULL;
    curl_easy_getinfo(transfer, CURLINFO_CONTENT_TYPE, &type);
    return type;
}

#endif
