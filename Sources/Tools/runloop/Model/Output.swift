// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsDiagnostics
import RunLoopsLibC

/// Standard output: everything that the tool prints goes through here.
///
/// Labels, names and messages come from other processes and from files, and a terminal obeys some characters: ESC moves the
/// cursor and writes the clipboard, others change the direction of the text. These characters are printed by number.
enum Output {
    /// Prints a line; a line break inside it is printed by number.
    static func line(_ text: String) { Swift.print(visible(text)) }

    static func lines(_ lines: [String]) {
        for one in lines { line(one) }
    }

    /// Prints a text of several lines.
    static func text(_ text: String) {
        lines(text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
    }

    /// Prints a document, with the escapes of JSON.
    static func document(_ document: JSON) {
        Swift.print(
            escape(document.text) { scalar in
                UTF16.encode(scalar).map { unit in unit.map(jsonEscape).joined() } ?? ""
            })
    }

    /// Prints the reason of a failure on standard error, as the parser prints the errors of commands.
    static func error(_ text: String) {
        let bytes = Array("Error: \(visible(text))\n".utf8)
        // A reader that has gone is not an error of the command.
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }

    /// Clears the terminal.
    static func clear() { Swift.print("\u{1B}[H\u{1B}[2J\u{1B}[3J", terminator: "") }

    /// Prints lines on standard error.
    static func errors(_ lines: [String]) {
        let bytes = Array(lines.map { visible($0) + "\n" }.joined().utf8)
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress! + done, bytes.count - done) }
            if count <= 0 { return }
            done += count
        }
    }

    /// Prints everything at once, also into a pipe.
    static func flush() { fflush(nil) }

    /// Returns a text without the characters that a terminal obeys or hides: `\u{1b}` stands for ESC.
    static func visible(_ text: String) -> String { escape(text) { "\\u{" + String($0.value, radix: 16) + "}" } }

    private static func escape(_ text: String, _ write: (Unicode.Scalar) -> String) -> String {
        if text.unicodeScalars.allSatisfy(isHarmless) { return text }
        return text.unicodeScalars.map { isHarmless($0) ? String($0) : write($0) }.joined()
    }

    private static func jsonEscape(_ unit: UInt16) -> String {
        "\\u" + String(UInt32(unit) | 0x10000, radix: 16).dropFirst()
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "\t" || 0x20...0x7E ~= scalar.value { return true }
        // Controls; the direction of text and invisible characters; breaks; characters without a meaning.
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}

/// Keeps the tool's own files from printing what is not escaped.
@available(*, unavailable, message: "Use Output.line(_:), which escapes the characters that a terminal obeys.")
func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {}
