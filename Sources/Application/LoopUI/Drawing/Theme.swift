// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The styles of controls, by what they are for.
///
/// The standard theme uses the terminal's own colours, so that it suits light and dark terminals. Whatever a colour
/// says, an attribute or a sign says too: a theme without colours loses nothing.
public struct Theme: Hashable, Sendable {
    /// Text to be read.
    public var text = Style.plain
    /// Text beside it: placeholders, hints.
    public var secondary = Style(.default, .dim)
    /// The style of emphasised parts: values, the filled part of a bar.
    public var accent: Style
    /// The style of selected parts.
    public var selection = Style(.default, .inverse)
    /// The control that gets the keys.
    public var focus: Style
    /// The control that is being touched.
    public var highlight = Style(.default, [.inverse, .dim])
    /// The style of actions that cannot be undone.
    public var destructive: Style
    /// The style of parts that cannot be used.
    public var disabled = Style(.default, .dim)
    /// Borders and dividers.
    public var border = Style(.default, .dim)
    /// The place of text that can be changed.
    public var field = Style(.default, .underline)
    /// The line with the program's state.
    public var bar = Style(.default, .inverse)
    /// The background colour of sheets, alerts and menus.
    public var background = Color.default
    /// Whether signs and lines beyond ASCII are used.
    public var usesUnicode = true

    /// A theme whose accents have a colour.
    ///
    /// - Parameters:
    ///   - accent: The colour of what stands out and of the focus.
    ///   - destructive: The colour of what cannot be undone.
    public init(accent: Color, destructive: Color) {
        self.accent = Style(accent, .bold)
        self.destructive = Style(destructive, .bold)
        focus = Style(accent, [.inverse, .bold])
    }

    // Of the eight colours that every terminal has, only these two can be read on black and on white.
    /// The theme with the terminal's own colours.
    public static let standard = Theme(accent: .magenta, destructive: .red)

    /// The theme without colours: bold and inverse letters in their place.
    public static let monochrome = Theme(accent: .default, destructive: .default)

    /// The theme that suits a display.
    public init(for abilities: DisplayAbilities) {
        self = abilities.colors == .none ? .monochrome : .standard
        usesUnicode = abilities.hasUnicode
    }

    /// What shows that text goes on.
    var ellipsis: String { usesUnicode ? "…" : "..." }
    /// The lines around sheets, alerts and menus.
    var box: Canvas.Border { usesUnicode ? .rounded : .plain }
}

extension Style {
    /// Letters of a colour on whatever lies below, with attributes.
    init(_ foreground: Color, _ attributes: Attributes) { self.init(foreground, on: .clear, attributes) }
}

/// A theme in a place of its own.
final class ThemeBox {
    let theme: Theme

    init(_ theme: Theme) { self.theme = theme }
}
