/// What an item is called in descriptions and tools: a text, or the place where it was made.
///
/// Thirteen bytes, because every item has one.
// Unchecked: the pointer is that of a literal, which nobody writes.
package enum ItemLabel: @unchecked Sendable {
    /// `#fileID`, of which the literal lives for ever, and `#line`; made a string only when somebody looks.
    case place(UnsafePointer<UInt8>, UInt32)
    case text(Text)

    /// A text that somebody chose.
    package final class Text: Sendable {
        fileprivate let string: String
        fileprivate init(_ string: String) { self.string = string }
    }

    @inline(__always)
    package init(_ text: String?, _ fileID: StaticString, _ line: UInt) {
        self = text.map { .text(Text($0)) } ?? .place(fileID.utf8Start, UInt32(truncatingIfNeeded: line))
    }

    package init(_ text: String) { self = .text(Text(text)) }

    package var text: String {
        switch self {
        case .place(let file, let line): "\(String(cString: file)):\(line)"
        case .text(let text): text.string
        }
    }
}
