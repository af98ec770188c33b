// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension FileWatch {
    /// The names of entries that a watch leaves out: directories that it does not watch, and files that it does not report.
    ///
    /// ```swift
    /// let watch = try FileWatch(["."], recursive: true, excluding: [".git", ".build", "*.o"]) { _, events in print(events) }
    /// ```
    ///
    /// An excluded directory has no kernel watch, and neither has a directory below it: what happens in there wakes no loop. What happens to
    /// an excluded entry itself, such as a write to an excluded file in a watched directory, is dropped without a callout; the kernel
    /// wakes the loop for it.
    ///
    /// An entry is excluded by its name alone, in whatever directory it is. An entry that gets an excluded name is reported as removed, and an
    /// excluded entry that gets another name as created, with all that is in it. The watch's own paths are never excluded.
    ///
    /// Thread safety: a value; any thread.
    public struct Exclusion: Sendable, ExpressibleByArrayLiteral {
        private enum Rule: Sendable {
            case none
            case patterns(names: Set<[UInt8]>, others: [[UInt8]])
            case closure(@Sendable ([UInt8]) -> Bool)
        }

        private let rule: Rule

        /// Excludes nothing.
        public static var none: Exclusion { Exclusion(rule: .none) }

        private init(rule: Rule) { self.rule = rule }

        /// Excludes the entries whose whole names match one of some patterns.
        ///
        /// - Parameter patterns: Names, in which `*` stands for any number of bytes. Other characters stand for their UTF-8 bytes, and upper and
        ///   lower case differ: `".git"`, `"*.o"`, `"#*#"`.
        public init(names patterns: [String]) {
            let patterns = patterns.map { Array($0.utf8) }
            let isOther = { (pattern: [UInt8]) in pattern.contains(UInt8(ascii: "*")) }
            rule = .patterns(names: Set(patterns.filter { !isOther($0) }), others: patterns.filter(isOther))
        }

        /// Excludes the entries whose whole names match one of some patterns, as ``init(names:)`` does.
        public init(arrayLiteral patterns: String...) { self.init(names: patterns) }

        /// Excludes the entries for whose names a closure returns `true`.
        ///
        /// - Parameter isExcluded: Called with the bytes of a name, which need not be UTF-8, on any thread and with locks held: it returns at once,
        ///   calls nothing of the watch, and always gives a name the same answer.
        public init(where isExcluded: @escaping @Sendable (_ name: [UInt8]) -> Bool) { rule = .closure(isExcluded) }

        /// - Complexity: O(n) in the bytes of the name for names and patterns with one `*`, for each pattern.
        func contains(_ name: [UInt8]) -> Bool {
            switch rule {
            case .none: false
            case .patterns(let names, let others): names.contains(name) || others.contains { Self.matches(name, $0) }
            case .closure(let isExcluded): isExcluded(name)
            }
        }

        private static func matches(_ name: [UInt8], _ pattern: [UInt8]) -> Bool {
            var (place, next) = (0, 0)
            // The last `*`, and the place in the name up to which it has taken bytes.
            var star: (pattern: Int, name: Int)?
            while place < name.count {
                if next < pattern.count, pattern[next] == UInt8(ascii: "*") {
                    star = (next, place)
                    next += 1
                } else if next < pattern.count, pattern[next] == name[place] {
                    place += 1
                    next += 1
                } else if let last = star {
                    // It takes one byte more.
                    star = (last.pattern, last.name + 1)
                    (place, next) = (last.name + 1, last.pattern + 1)
                } else {
                    return false
                }
            }
            return pattern[next...].allSatisfy { $0 == UInt8(ascii: "*") }
        }
    }
}
