// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LoopUITerminal

/// What is copied, on its way to the clipboard of the terminal's user.
@Suite struct ClipboardTests {
    private func text(_ text: String) -> String? {
        ClipboardBytes.bytes(for: text).map { String(decoding: $0, as: UTF8.self) }
    }

    // The examples of RFC 4648, section 10, and one of more bits.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"), ("ÿÿ\u{1B}", "w7/Dvxs="),
    ]) func `The clipboard sequence contains the text in base64`(plain: String, letters: String) {
        #expect(text(plain) == "\u{1B}]52;c;\(letters)\u{1B}\\")
    }

    @Test func `A text above the size limit has no clipboard sequence`() {
        let longest = String(repeating: "x", count: ClipboardBytes.longest)
        #expect(ClipboardBytes.bytes(for: longest)?.count == 99_997)
        #expect(ClipboardBytes.bytes(for: longest + "x") == nil)
        // Bytes count, not letters.
        #expect(ClipboardBytes.bytes(for: String(repeating: "é", count: ClipboardBytes.longest)) == nil)
    }
}
