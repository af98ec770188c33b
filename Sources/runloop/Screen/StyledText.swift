// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// How a piece of text looks; what that takes on a terminal is the theme's business.
enum Style: Sendable {
    case plain
    case dim
    case bold
    /// A heading.
    case title
    /// A step that was reached since the last sleep.
    case lit
    /// The step that was reached last.
    case current
    case good
    case warning
    /// The bar at the top.
    case bar
}

/// One line of styled text.
///
/// Every character in it takes one column.
struct StyledLine: Equatable, Sendable {
    struct Span: Equatable, Sendable {
        var text: String
        var style: Style
    }

    private(set) var spans: [Span] = []
    private(set) var width = 0

    init() {}

    init(_ text: String, _ style: Style = .plain) { add(text, style) }

    mutating func add(_ text: String, _ style: Style = .plain) {
        guard !text.isEmpty else { return }
        spans.append(Span(text: text, style: style))
        width += text.count
    }

    /// Adds a line at the right of this one.
    mutating func add(_ line: StyledLine) {
        spans += line.spans
        width += line.width
    }

    /// The line in exactly so many columns: cut, or filled up with spaces.
    func fitted(to columns: Int, filling style: Style = .plain) -> StyledLine {
        var fitted = StyledLine()
        for span in spans where fitted.width < columns {
            fitted.add(String(span.text.prefix(columns - fitted.width)), span.style)
        }
        fitted.add(String(repeating: " ", count: max(0, columns - fitted.width)), style)
        return fitted
    }

    /// The text without its looks.
    var text: String { spans.map(\.text).joined() }
}

/// What the terminal can show: the signs for it, and the escape sequences for the styles.
struct Theme: Sendable {
    var hasColour = true
    var hasUnicode = true

    var rule: String { hasUnicode ? "─" : "-" }
    var junction: String { hasUnicode ? "┬" : "+" }
    var junctionUp: String { hasUnicode ? "┴" : "+" }
    var column: String { hasUnicode ? "│" : "|" }
    var litMark: String { hasUnicode ? "●" : "*" }
    var currentMark: String { hasUnicode ? "▶" : ">" }
    var darkMark: String { hasUnicode ? "·" : "." }
    /// From nothing to full.
    var heights: [Character] { Array(hasUnicode ? " ▁▂▃▄▅▆▇█" : " .:-=+*%@") }
    var ellipsis: String { hasUnicode ? "…" : "~" }

    /// The line as the terminal wants it; styles are reset at the end of each piece, so that no line colours the next.
    func render(_ line: StyledLine) -> String {
        line.spans.map { span in
            let code = code(span.style)
            return code.isEmpty ? span.text : "\u{1B}[\(code)m\(span.text)\u{1B}[0m"
        }.joined()
    }

    /// Select Graphic Rendition parameters.
    ///
    /// Without colour, weight and inversion still tell the styles apart.
    private func code(_ style: Style) -> String {
        switch style {
        case .plain: ""
        case .dim: "2"
        case .bold: "1"
        case .title: hasColour ? "1;36" : "1"
        case .lit: hasColour ? "1;32" : "1"
        case .current: hasColour ? "1;33" : "7"
        case .good: hasColour ? "32" : "1"
        case .warning: hasColour ? "1;33" : "7"
        case .bar: "7"
        }
    }
}
