/// What an item is called in descriptions and tools: a text, or the place where it was made.
///
/// Thirteen bytes, because every item has one.
// Unchecked: the pointer is that of a literal, which nobody writes.
package enum ItemLabel: @unchecked Sendable {
    /// `#fileID`, of which the literal lives for ever, and `#line`; made a string only when somebody looks.
    case place(UnsafePointer<UInt8>, UInt32)
    case text(Text)

    /// A text that somebody chose, and the place where it was given, if that is known.
    // Unchecked: nothing in it changes, and the pointer is to a literal.
    package final class Text: @unchecked Sendable {
        fileprivate let string: String
        fileprivate let file: UnsafePointer<UInt8>?
        fileprivate let line: UInt32

        fileprivate init(_ string: String, _ file: UnsafePointer<UInt8>? = nil, _ line: UInt32 = 0) {
            self.string = string
            self.file = file
            self.line = line
        }
    }

    @inline(__always)
    package init(_ text: String?, _ fileID: StaticString, _ line: UInt) {
        let line = UInt32(truncatingIfNeeded: line)
        self = text.map { .text(Text($0, fileID.utf8Start, line)) } ?? .place(fileID.utf8Start, line)
    }

    package init(_ text: String) { self = .text(Text(text)) }

    package var text: String {
        switch self {
        case .place(let file, let line): "\(String(cString: file)):\(line)"
        case .text(let text): text.string
        }
    }

    /// Where it was made, as `Module/File.swift:12`; `nil` for what the library itself has named.
    package var place: String? {
        switch self {
        case .place(let file, let line): "\(String(cString: file)):\(line)"
        case .text(let text): text.file.map { "\(String(cString: $0)):\(text.line)" }
        }
    }
}
