/// What an item is called in descriptions and tools: a text, or the place where it was made.
package enum ItemLabel: Sendable {
    /// `#fileID` and `#line`; kept as they are and made a string only when somebody looks.
    case place(StaticString, UInt32)
    case text(String)

    package init(_ text: String?, _ fileID: StaticString, _ line: UInt) {
        self = text.map { .text($0) } ?? .place(fileID, UInt32(clamping: line))
    }

    package var text: String {
        switch self {
        case .place(let fileID, let line): "\(fileID):\(line)"
        case .text(let text): text
        }
    }
}
