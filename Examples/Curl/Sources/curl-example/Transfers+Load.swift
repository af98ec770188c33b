// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CCurl

extension Transfers {
    /// Loads what an address stands for; calls a closure in the loop with the number of bytes, or the error.
    func load(_ address: String, within limit: Duration = .seconds(600), then: @escaping (Result<Int, Failure>) -> Void)
    {
        let transfer = Transfer(then)
        let count: curl_write_callback = { _, size, number, me in
            // SAFETY: the transfer that is passed below, which is kept until curl has ended.
            Unmanaged<Transfer>.fromOpaque(me.unsafelyUnwrapped).takeUnretainedValue().bytes += size * number
            return size * number
        }
        let easy = ex_transfer(
            address, Int(limit / .milliseconds(1)), count, Unmanaged.passUnretained(transfer).toOpaque())
        guard let easy else { return then(.failure(Failure(code: CURLE_OUT_OF_MEMORY))) }
        transfers[easy] = transfer
        curl_multi_add_handle(multi, easy)
    }

    /// Why nothing was loaded.
    struct Failure: Error, CustomStringConvertible {
        let code: CURLcode
        var description: String { String(cString: curl_easy_strerror(code)) }
    }

    final class Transfer {
        fileprivate var bytes = 0
        fileprivate let then: (Result<Int, Failure>) -> Void
        fileprivate init(_ then: @escaping (Result<Int, Failure>) -> Void) { self.then = then }
    }

    func endTransfers() {
        var left: CInt = 0
        while let message = curl_multi_info_read(multi, &left) {
            let (code, easy) = (message.pointee.data.result, message.pointee.easy_handle.unsafelyUnwrapped)
            guard let transfer = remove(easy) else { continue }
            transfer.then(code == CURLE_OK ? .success(transfer.bytes) : .failure(Failure(code: code)))
        }
    }

    @discardableResult
    func remove(_ easy: UnsafeMutableRawPointer) -> Transfer? {
        curl_multi_remove_handle(multi, easy)
        curl_easy_cleanup(easy)
        return transfers.removeValue(forKey: easy)
    }
}
