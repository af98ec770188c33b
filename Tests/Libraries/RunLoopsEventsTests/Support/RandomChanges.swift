// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport

/// Makes, renames, removes and exchanges files and directories of a tree with few names, so that the same names are used again and again;
/// and moves some out of the tree and into it.
struct RandomChanges: Sendable {
    private static let names: [[UInt8]] = [
        Array("a".utf8), Array("b".utf8), Array("c".utf8), FileNames.composed, FileNames.decomposed, FileNames.notUTF8,
    ]
    private let root, elsewhere: [UInt8]
    private var random: SeededRandom
    private var serial = 0
    /// What was changed since the last check, for a failure.
    private(set) var log: [String] = []

    init(_ root: String, elsewhere: String, seed: UInt64) {
        self.root = Array(root.utf8)
        self.elsewhere = Array(elsewhere.utf8)
        random = SeededRandom(seed)
    }

    /// Changes something; returns whether the system let it.
    mutating func change() -> Bool {
        let kind = Int.random(in: 0..<16, using: &random)
        let (path, other) = (place(), place())
        let isDone = change(kind, path, other)
        if isDone { log.append("\(kind) \(text(path)) \(text(other))") }
        return isDone
    }

    mutating func clearLog() { log = [] }

    private func text(_ path: [UInt8]) -> String {
        FileNames.text(path.dropFirst(root.count))
    }

    private mutating func change(_ kind: Int, _ path: [UInt8], _ other: [UInt8]) -> Bool {
        switch kind {
        case 0..<5: return mkdir(cText(path), 0o700) == 0
        case 5..<7:
            let file = open(cText(path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            if file >= 0 { close(file) }
            return file >= 0
        case 7..<11: return rename(cText(path), cText(other)) == 0
        case 11..<13: return remove(cText(path)) == 0
        case 13: return exchangeFiles(cText(path), cText(other))
        case 14:
            // Out of the tree.
            serial += 1
            return rename(cText(path), cText(elsewhere + Array("/\(serial)".utf8))) == 0
        default:
            let from = elsewhere + Array("/\(Int.random(in: 0...serial, using: &random))".utf8)
            return rename(cText(from), cText(path)) == 0
        }
    }

    mutating func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    private mutating func place() -> [UInt8] {
        var path = root
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            path += [UInt8(ascii: "/")] + Self.names[Int.random(in: 0..<Self.names.count, using: &random)]
        }
        return path
    }
}
