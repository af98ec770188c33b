// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport

/// Names of files that a text cannot tell from each other, or cannot have.
enum FileNames {
    /// An é in one scalar, and in two: equal as texts.
    static let composed: [UInt8] = [0xC3, 0xA9]
    static let decomposed: [UInt8] = [0x65, 0xCC, 0x81]
    /// An é in Latin 1.
    static let notUTF8: [UInt8] = [0xE9]

    /// Every name by other letters.
    static func text(_ path: some Sequence<UInt8>) -> String {
        path.map { byte in
            (0x20..<0x7F).contains(byte) ? String(UnicodeScalar(byte)) : String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}

extension TemporaryDirectory {
    func path(_ name: [UInt8]) -> [UInt8] { Array(path.utf8) + [UInt8(ascii: "/")] + name }

    func makeDirectory(_ name: [UInt8]) {
        precondition(mkdir(cText(path(name)), 0o700) == 0, "mkdir: errno \(errno)")
    }

    func write(_ name: [UInt8], _ text: String = "") {
        precondition(write(to: cText(path(name)), text), "a file cannot be written")
    }

    func move(_ name: [UInt8], to other: [UInt8]) {
        precondition(rename(cText(path(name)), cText(path(other))) == 0, "rename: errno \(errno)")
    }

    func remove(_ name: [UInt8]) {
        precondition(Glibc.remove(cText(path(name))) == 0, "remove: errno \(errno)")
    }

    /// Gives each of two names what the other has.
    func exchange(_ name: String, _ other: String) {
        precondition(exchangeFiles(path(name), path(other)), "\(name) and \(other) were not exchanged")
    }
}

func cText(_ bytes: [UInt8]) -> [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }
