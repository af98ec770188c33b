// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc

extension Transfers {
    /// One load, which curl knows by its handle and others by its identifier.
    final class Transfer {
        let id: ObjectIdentifier
        private let news: (LoadEvent) -> Void
        fileprivate var handle: UnsafeMutableRawPointer?
        private var hasResponse = false

        fileprivate init(_ id: ObjectIdentifier, _ news: @escaping (LoadEvent) -> Void) {
            (self.id, self.news) = (id, news)
        }

        fileprivate func receive(_ bytes: UnsafeRawBufferPointer) {
            reportResponse()
            news(.bytes(Array(bytes)))
        }

        fileprivate func end(_ code: CURLcode) {
            // Of an empty file.
            if code == CURLE_OK { reportResponse() }
            news(code == CURLE_OK ? .finished : .failed(LoadError(code)))
        }

        private func reportResponse() {
            guard !hasResponse, let handle else { return }
            hasResponse = true
            news(
                .response(
                    LoadResponse(
                        status: ex_status(handle), url: ex_url(handle).map { String(cString: $0) } ?? "",
                        contentType: ex_content_type(handle).map { String(cString: $0) },
                        redirectCount: ex_redirect_count(handle))))
        }
    }

    func load(_ id: ObjectIdentifier, _ url: String, _ news: @escaping (LoadEvent) -> Void) {
        let transfer = Transfer(id, news)
        let receive: curl_write_callback = { bytes, size, number, me in
            // SAFETY: the transfer that is passed below, which is kept until curl has ended.
            Unmanaged<Transfer>.fromOpaque(me.unsafelyUnwrapped).takeUnretainedValue()
                .receive(UnsafeRawBufferPointer(start: bytes, count: size * number))
            return size * number
        }
        // A file that grows has no end: nothing limits the time.
        let handle = ex_transfer(url, 0, receive, Unmanaged.passUnretained(transfer).toOpaque())
        guard let handle else { return news(.failed(LoadError(CURLE_OUT_OF_MEMORY))) }
        ex_follow(handle, LoadResponse.maxRedirects, Self.hostsWithoutProxy)
        transfer.handle = handle
        transfers[handle] = transfer
        curl_multi_add_handle(multi, handle)
    }

    /// The hosts that no proxy serves: this machine, and what the environment names.
    private static var hostsWithoutProxy: String {
        let named = (getenv("no_proxy") ?? getenv("NO_PROXY")).map { String(cString: $0) } ?? ""
        return named == "*" ? named : "localhost,127.0.0.1,::1,\(named)"
    }

    func cancel(_ id: ObjectIdentifier) {
        if let handle = transfers.first(where: { $0.value.id == id })?.key { remove(handle) }
    }

    func endTransfers() {
        var left: CInt = 0
        while let message = curl_multi_info_read(multi, &left) {
            // The message is gone when its transfer is removed; what curl knows of the transfer, too.
            let (code, handle) = (message.pointee.data.result, message.pointee.easy_handle.unsafelyUnwrapped)
            transfers[handle]?.end(code)
            remove(handle)
        }
    }

    func remove(_ handle: UnsafeMutableRawPointer) {
        curl_multi_remove_handle(multi, handle)
        curl_easy_cleanup(handle)
        transfers[handle] = nil
    }
}
