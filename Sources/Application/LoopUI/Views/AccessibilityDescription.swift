// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension View {
    /// A description of the view and of all views inside, one line per view, for users who do not see them.
    ///
    /// A line has the role, the label, the value and the state: "button Save, disabled". Views without words have no
    /// line. While a sheet, an alert or a menu is open, a window describes only the sheet, alert or menu.
    ///
    /// - Complexity: O(views inside).
    public var accessibilityDescription: [String] {
        guard isSeen else { return [] }
        let inside = (self as? Window)?.overlays.last.map { [$0] } ?? subviews
        return ownDescription + inside.flatMap(\.accessibilityDescription)
    }

    private var ownDescription: [String] {
        let name = [accessibilityRole, accessibilityLabel].compactMap(\.self).filter { !$0.isEmpty }
        var parts = name.isEmpty ? [] : [name.joined(separator: " ")]
        if let value = accessibilityValue, !value.isEmpty { parts.append(value) }
        if parts.isEmpty { return [] }
        if let control = self as? Control {
            if control.isSelected { parts.append("selected") }
            if !control.isEnabled { parts.append("disabled") }
        }
        if isFirstResponder { parts.append("focused") }
        return [parts.joined(separator: ", ")]
    }
}
