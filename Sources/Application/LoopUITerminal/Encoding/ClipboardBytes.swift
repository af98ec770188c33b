// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The bytes that put text on the clipboard of the terminal's user: xterm's control string 52.
enum ClipboardBytes {
    /// The longest text, in bytes: in base64 and with the control sequence around it, it takes 100,000 bytes, which is
    /// the smallest limit of terminals in use.
    static let longest = 74_991

    /// Returns the bytes for a text; `nil` for a text that is too long, since a part of it would be worse than an
    /// unchanged clipboard.
    static func bytes(for text: String) -> [UInt8]? {
        let utf8 = Array(text.utf8)
        if utf8.count > longest { return nil }
        return Array("\u{1B}]52;c;".utf8) + base64(utf8) + Array("\u{1B}\\".utf8)
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Returns bytes in base64, with four letters for each three bytes.
    ///
    /// - Complexity: O(bytes).
    private static func base64(_ bytes: [UInt8]) -> [UInt8] {
        var letters: [UInt8] = []
        letters.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for place in 0..<4 {
                let isThere = place <= group.count
                letters.append(isThere ? alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)] : UInt8(ascii: "="))
            }
        }
        return letters
    }
}
