// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if !Window
public import LoopUI

// With the members of the real one: without them type checking would fail first, with an error that does not name the
// trait.
/// A window of the X server as the display of an application; available only with the trait `Window`.
@available(
    *, unavailable,
    message: "Enable the trait Window of swift-run-loops: .package(url: …, traits: [\"Window\"])"
)
@MainActor public final class WindowDisplay {
    /// Exists only with the trait `Window`; the compiler refuses each call.
    public init(size: Size = Size(80, 24), font: String = "", server: String? = nil) { isNotCalled() }
}

/// A window of a Wayland compositor as the display of an application; available only with the trait `Window`.
@available(
    *, unavailable,
    message: "Enable the trait Window of swift-run-loops: .package(url: …, traits: [\"Window\"])"
)
@MainActor public final class WaylandDisplay {
    /// Exists only with the trait `Window`; the compiler refuses each call.
    public init(size: Size = Size(80, 24), font: String = "", compositor: String? = nil) { isNotCalled() }
}

extension Application {
    /// Runs a program in a window, from its launch to its end; available only with the trait `Window`.
    @available(
        *, unavailable,
        message: "Enable the trait Window of swift-run-loops: .package(url: …, traits: [\"Window\"])"
    )
    public static func runInWindow<Delegate: ApplicationDelegate>(_ delegate: Delegate.Type) throws { isNotCalled() }
}

private func isNotCalled() -> Never { fatalError("The compiler refuses each call of this.") }
#endif
