// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// How a command ends other than by being done.
enum CommandEnd: Error {
    /// Help was asked for.
    case help(String)
    /// The arguments are wrong; the usage says what is right.
    case misuse(String, String)
    /// It could not be done.
    case failure(String)
    /// With a status of its own.
    case status(CInt)

    func leave() -> Never {
        switch self {
        case .help(let usage):
            print(usage, terminator: "")
            exit(EXIT_SUCCESS)
        case .misuse(let complaint, let usage):
            say("Error: \(complaint)\n\n\(usage)")
            // EX_USAGE of sysexits.h.
            exit(64)
        case .failure(let complaint):
            say("Error: \(complaint)\n")
            exit(EXIT_FAILURE)
        case .status(let status):
            exit(status)
        }
    }

    private func say(_ text: String) {
        var text = text
        text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

/// The words of the command line that have not been read yet.
struct Arguments {
    private var words: ArraySlice<String>

    init(_ words: ArraySlice<String>) { self.words = words }

    /// The next word; `--name=value` counts as two.
    mutating func next() -> String? {
        guard let word = words.popFirst() else { return nil }
        guard word.hasPrefix("--"), let equals = word.firstIndex(of: "=") else { return word }
        words = [String(word[word.index(after: equals)...])] + words
        return String(word[..<equals])
    }

    /// All remaining arguments, unchanged.
    mutating func rest() -> [String] {
        defer { words = [] }
        return Array(words)
    }

    /// The value that belongs to the option read last.
    mutating func duration(of option: String, usage: String) throws -> Duration {
        guard let word = words.popFirst() else {
            throw CommandEnd.misuse("\(option) needs a duration, such as 3s", usage)
        }
        guard let duration = DurationArgument.parse(word) else {
            throw CommandEnd.misuse("'\(word)' is not a duration, such as 3s, 500ms, 1.5s or 2m", usage)
        }
        return duration
    }
}
