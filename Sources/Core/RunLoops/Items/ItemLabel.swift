// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A location in a program: `#fileID` and `#line`, made a text only on demand.
///
/// Twelve bytes, because every item, block and delayed closure has one.
// Unchecked: the pointer is to a literal, which is never released or changed.
package struct CodeLocation: @unchecked Sendable {
    package let file: UnsafePointer<UInt8>
    package let line: UInt32

    package init(file: UnsafePointer<UInt8>, line: UInt32) {
        self.file = file
        self.line = line
    }

    @inline(__always)
    package init(_ fileID: StaticString, _ line: UInt) {
        self.init(file: fileID.utf8Start, line: UInt32(truncatingIfNeeded: line))
    }

    /// As `Module/File.swift:12`.
    package var text: String { "\(String(cString: file)):\(line)" }
}

/// The name of an item in descriptions and tools: a text, or the location where it was made.
///
/// Thirteen bytes.
package enum ItemLabel: Sendable {
    case location(CodeLocation)
    case text(Text)

    /// A label given by the caller, and the location where it was given, if that is known.
    package final class Text: Sendable, Hashable {
        fileprivate let string: String
        fileprivate let location: CodeLocation?

        fileprivate init(_ string: String, _ location: CodeLocation? = nil) {
            self.string = string
            self.location = location
        }

        /// Whether both have the same text and location.
        package static func == (left: Text, right: Text) -> Bool {
            left.location?.file == right.location?.file && left.location?.line == right.location?.line
                && left.string == right.string
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(string)
            hasher.combine(location?.line)
        }
    }

    @inline(__always)
    package init(_ text: String?, _ fileID: StaticString, _ line: UInt) {
        let location = CodeLocation(fileID, line)
        self = text.map { .text(Text($0, location)) } ?? .location(location)
    }

    package init(_ text: String) { self = .text(Text(text)) }

    package var text: String {
        switch self {
        case .location(let location): location.text
        case .text(let text): text.string
        }
    }

    /// Where it was made; `nil` for a label of the library itself.
    package var location: String? {
        switch self {
        case .location(let location): location.text
        case .text(let text): text.location?.text
        }
    }
}
