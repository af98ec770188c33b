// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Lines from portions of bytes.
///
/// Empty bytes are the end, which ends a last line too.
@MainActor final class LineSplitter {
    private var rest = Data()

    func split(_ bytes: Data) -> [String] {
        rest += bytes
        var parts = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let last = parts.removeLast()
        if bytes.isEmpty {
            rest = Data()
            if !last.isEmpty { parts.append(last) }
        } else {
            rest = Data(last)
        }
        return parts.map { String(decoding: $0, as: UTF8.self) }
    }
}
