// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The styles of controls, by their purpose.
///
/// The standard theme uses the terminal's own colours, so that it suits light and dark terminals. Whatever a colour
/// says is also said by an attribute or a sign, so that a theme without colours loses nothing.
public struct Theme: Hashable, Sendable {
    /// The style of usual text.
    public var text = Style.plain
    /// The style of secondary text, such as placeholders and hints.
    public var secondary = Style(.default, .dim)
    /// The style of emphasised parts: values, the filled part of a bar.
    public var accent: Style
    /// The style of selected parts.
    public var selection = Style(.default, .inverse)
    /// The style of the control that has the focus.
    public var focus: Style
    /// The style of a control that is being touched.
    public var highlight = Style(.default, [.inverse, .dim])
    /// The style of actions that cannot be undone.
    public var destructive: Style
    /// The style of parts that cannot be used.
    public var disabled = Style(.default, .dim)
    /// The style of borders and dividers.
    public var border = Style(.default, .dim)
    /// The style of fields whose text can be changed.
    public var field = Style(.default, .underline)
    /// The style of status bars and navigation bars.
    public var bar = Style(.default, .inverse)
    /// The background colour of sheets, alerts and menus.
    public var background = Color.default
    /// Whether signs and lines beyond ASCII are used.
    public var usesUnicode = true

    /// Makes a theme with colours for emphasised parts and for actions that cannot be undone.
    ///
    /// - Parameters:
    ///   - accent: The colour of emphasised parts and of the focus.
    ///   - destructive: The colour of actions that cannot be undone.
    public init(accent: Color, destructive: Color) {
        self.accent = Style(accent, .bold)
        self.destructive = Style(destructive, .bold)
        focus = Style(accent, [.inverse, .bold])
    }

    // Of the eight colours that every terminal has, only these two can be read on black and on white.
    /// The theme with the terminal's own colours.
    public static let standard = Theme(accent: .magenta, destructive: .red)

    /// The theme without colours, which uses bold and inverse letters instead.
    public static let monochrome = Theme(accent: .default, destructive: .default)

    /// Makes the theme that suits a display.
    public init(for abilities: DisplayAbilities) {
        self = abilities.colors == .none ? .monochrome : .standard
        usesUnicode = abilities.hasUnicode
    }

    /// The sign at the end of text that was cut.
    var ellipsis: String { usesUnicode ? "…" : "..." }
    /// The lines around sheets, alerts and menus.
    var box: Canvas.Border { usesUnicode ? .rounded : .plain }
}

extension Style {
    /// Makes the style of a foreground and attributes, on a clear background.
    init(_ foreground: Color, _ attributes: Attributes) { self.init(foreground, on: .clear, attributes) }
}

/// A theme as an object, so that it is stored as a reference.
final class ThemeBox {
    let theme: Theme

    init(_ theme: Theme) { self.theme = theme }
}
