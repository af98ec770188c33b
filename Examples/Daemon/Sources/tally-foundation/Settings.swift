// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What the file `settings` says, a name and a value a line; without the file, the values here.
struct Settings {
    struct Malformed: Error { let line: String }

    var workers = 2
    var limit = 60
    var keep = 86_400
    var housekeeping = [3, 0, 0]
    var converter = ["awk", "{ sum += $2 } END { print NR, sum }"]

    init(file: String) throws {
        guard FileManager.default.fileExists(atPath: file) else { return }
        for line in try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ").map { String($0) }
            let number = words.count == 2 ? Int(words[1]).flatMap { $0 > 0 ? $0 : nil } : nil
            switch (words[0], number) {
            case ("workers", let number?): workers = number
            case ("limit", let number?): limit = number
            case ("keep", let number?): keep = number
            case ("housekeeping", _) where words.count == 2:
                housekeeping = words[1].split(separator: ":").compactMap { Int($0) }
                guard housekeeping.count == 3 else { throw Malformed(line: String(line)) }
            case ("converter", _) where words.count > 1: converter = Array(words.dropFirst())
            default: throw Malformed(line: String(line))
            }
        }
    }
}
