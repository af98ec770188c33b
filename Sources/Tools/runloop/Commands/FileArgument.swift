// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RunLoopsSystem

/// A file, given by its path on the command line.
struct FileArgument: ExpressibleByArgument, ExpressibleByStringLiteral, Equatable, CustomStringConvertible {
    let path: SystemText

    /// The path for people; bytes that are not UTF-8 become U+FFFD.
    var description: String { path.decoded }

    init(_ path: SystemText) { self.path = path }

    init?(argument: String) {
        guard let path = CommandWords.bytes(of: argument) else { return nil }
        self.path = path
    }

    init(stringLiteral path: String) { self.path = SystemText(prefixOf: path.utf8) }
}

/// The words of the command line as bytes.
///
/// Swift and swift-argument-parser pass strings on, in which U+FFFD stands for bytes that are not UTF-8. Names of files
/// are bytes.
enum CommandWords {
    /// Returns the bytes of the word that was decoded to `text`, or of which a value was, as in `--output=FILE`.
    ///
    /// - Returns: `nil` if a character of `text` is U+0000, or if several words are decoded to `text`.
    static func bytes(of text: String) -> SystemText? {
        guard text.unicodeScalars.contains("\u{FFFD}") else { return SystemText(text) }
        var found: Set<SystemText> = []
        for word in all {
            let value = word.bytes.drop { $0 != UInt8(ascii: "=") }.dropFirst()
            for bytes in [word.bytes[...], value] where String(decoding: bytes, as: UTF8.self) == text {
                found.insert(SystemText(prefixOf: bytes))
            }
        }
        return found.count > 1 ? nil : found.first ?? SystemText(text)
    }

    /// Returns the bytes of the last words, which were decoded to `texts`.
    static func last(_ texts: [String]) -> [SystemText] {
        let last = Array(all.suffix(texts.count))
        // In a test the texts are not from the command line.
        return last.map(\.decoded) == texts ? last : texts.map { SystemText(prefixOf: $0.utf8) }
    }

    private static var all: [SystemText] {
        (0..<Int(CommandLine.argc)).compactMap { CommandLine.unsafeArgv[$0].map { SystemText(cString: $0) } }
    }
}
