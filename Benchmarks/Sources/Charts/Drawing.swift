// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// An SVG picture that follows the reader's light or dark scheme, with nothing in it that has to be loaded.
public struct Drawing {
    /// Colours by role, for both schemes. The hues keep their order of lightness, so that a reader can distinguish them
    /// without colour vision; the colour of this package is the only saturated one.
    private static let style = """
        text{font:12px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#3b4048}
        .title{font-size:15px;font-weight:600;fill:#15181d}
        .small{font-size:11px;fill:#6b7280}
        .end{text-anchor:end}.middle{text-anchor:middle}
        .ground{fill:#ffffff}
        .grid{stroke:#e5e7eb;stroke-width:1}
        .band{fill:#f6f7f9}
        .span{stroke:#d2d6dc;stroke-width:1.5}
        .limit{stroke:#15181d;stroke-width:2.5}
        .hollow{fill:#ffffff!important;stroke-width:1.5}
        .k0{fill:#d6336c;stroke:#d6336c}.k1{fill:#2b6cb0;stroke:#2b6cb0}.k2{fill:#2f9e8f;stroke:#2f9e8f}
        .k3{fill:#7cae3c;stroke:#7cae3c}.k4{fill:#8a63c9;stroke:#8a63c9}.k5{fill:#d98e1f;stroke:#d98e1f}
        .k6{fill:#7b8794;stroke:#7b8794}.k7{fill:#9c6b4e;stroke:#9c6b4e}.k8{fill:#4dabf7;stroke:#4dabf7}
        .line{fill:none!important;stroke-width:2}
        @media(prefers-color-scheme:dark){
        text{fill:#c3c9d2}.title{fill:#f3f4f6}.small{fill:#949ca8}
        .ground{fill:#12151a}.grid{stroke:#2a2f37}.band{fill:#171b21}.span{stroke:#3d444e}.limit{stroke:#f3f4f6}
        .hollow{fill:#12151a!important}
        .k0{fill:#ff5c93;stroke:#ff5c93}.k1{fill:#5b9bd5;stroke:#5b9bd5}.k2{fill:#45b8a8;stroke:#45b8a8}
        .k3{fill:#9acb5c;stroke:#9acb5c}.k4{fill:#a98be0;stroke:#a98be0}.k5{fill:#eba63b;stroke:#eba63b}
        .k6{fill:#9aa5b1;stroke:#9aa5b1}.k7{fill:#c08c6c;stroke:#c08c6c}.k8{fill:#74c0fc;stroke:#74c0fc}
        }
        """

    public let width: Double
    public let height: Double
    private var elements: [String] = []

    public init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    public mutating func text(_ text: String, _ x: Double, _ y: Double, _ classes: String = "") {
        elements.append("<text x=\"\(n(x))\" y=\"\(n(y))\"\(Self.classes(classes))>\(Self.escaped(text))</text>")
    }

    public mutating func line(
        _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ classes: String, hint: String = ""
    ) {
        elements.append(
            "<line x1=\"\(n(x1))\" y1=\"\(n(y1))\" x2=\"\(n(x2))\" y2=\"\(n(y2))\"\(Self.classes(classes))>\(Self.hint(hint))</line>"
        )
    }

    public mutating func dot(_ x: Double, _ y: Double, radius: Double, _ classes: String, hint: String = "") {
        elements.append(
            "<circle cx=\"\(n(x))\" cy=\"\(n(y))\" r=\"\(n(radius))\"\(Self.classes(classes))>\(Self.hint(hint))</circle>"
        )
    }

    public mutating func box(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ classes: String) {
        elements.append(
            "<rect x=\"\(n(x))\" y=\"\(n(y))\" width=\"\(n(width))\" height=\"\(n(height))\"\(Self.classes(classes))/>")
    }

    public mutating func path(_ points: [(x: Double, y: Double)], _ classes: String) {
        let steps = points.map { "\(n($0.x)),\(n($0.y))" }.joined(separator: " ")
        elements.append("<polyline points=\"\(steps)\"\(Self.classes(classes))/>")
    }

    /// The file.
    public func svg(title: String) -> String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(n(width)) \(n(height))" width="\(n(width))" height="\(n(height))" role="img">
        <title>\(Self.escaped(title))</title>
        <style>\(Self.style)</style>
        <rect class="ground" width="100%" height="100%" rx="6"/>
        \(elements.joined(separator: "\n"))
        </svg>

        """
    }

    private func n(_ value: Double) -> String {
        let tenths = (value * 10).rounded() / 10
        return tenths == tenths.rounded() ? String(Int(tenths)) : String(tenths)
    }

    private static func classes(_ classes: String) -> String { classes.isEmpty ? "" : " class=\"\(classes)\"" }

    /// What is shown when the pointer rests on it.
    private static func hint(_ text: String) -> String { text.isEmpty ? "" : "<title>\(escaped(text))</title>" }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
        return result
    }
}
