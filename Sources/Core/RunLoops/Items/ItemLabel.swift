// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A location in a program: `#fileID` and `#line`, made a text only on demand.
///
/// Twelve bytes, because every item, block and delayed closure has one.
// Unchecked: the pointer is to a literal, which is never released or changed.
struct CodeLocation: @unchecked Sendable {
    let file: UnsafePointer<UInt8>
    let line: UInt32

    init(file: UnsafePointer<UInt8>, line: UInt32) {
        self.file = file
        self.line = line
    }

    init(_ fileID: StaticString, _ line: UInt) {
        self.init(file: fileID.utf8Start, line: UInt32(truncatingIfNeeded: line))
    }

    /// The location as text, such as `Module/File.swift:12`.
    var text: String { "\(String(cString: file)):\(line)" }
}

/// The name of an item in descriptions and tools: a text, or the location where it was made.
///
/// Thirteen bytes.
// Unchecked: as the location.
package enum ItemLabel: @unchecked Sendable {
    /// The name of the file, as a literal of the program, and the line.
    case location(file: UnsafePointer<UInt8>, line: UInt32)
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

        /// Hashes the text and the line.
        package func hash(into hasher: inout Hasher) {
            hasher.combine(string)
            hasher.combine(location?.line)
        }
    }

    /// Makes a label of the caller's text, or of the caller's location if the text is `nil`.
    package init(_ text: String?, _ fileID: StaticString, _ line: UInt) {
        let location = CodeLocation(fileID, line)
        self = text.map { .text(Text($0, location)) } ?? ItemLabel(location)
    }

    init(_ location: CodeLocation) { self = .location(file: location.file, line: location.line) }

    /// Makes a label whose text comes from the library itself.
    package init(_ text: String) { self = .text(Text(text)) }

    /// The text, or `Module/File.swift:12`.
    package var text: String {
        switch self {
        case .location(let file, let line): CodeLocation(file: file, line: line).text
        case .text(let text): text.string
        }
    }

    /// The location where the label was given; `nil` for a label of the library itself.
    package var location: String? {
        switch self {
        case .location(let file, let line): CodeLocation(file: file, line: line).text
        case .text(let text): text.location?.text
        }
    }
}
