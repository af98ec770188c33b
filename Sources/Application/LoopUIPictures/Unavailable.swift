// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if !Pictures
public import LoopUI
public import LoopUITerminal

// With the members of the real one: without them type checking would fail first, with an error that does not name the
// trait.
/// Shows pictures with their own pixels on terminals that can do so; available only with the trait `Pictures`.
@available(
    *, unavailable,
    message: "Enable the trait Pictures of swift-run-loops: .package(url: …, traits: [\"Pictures\"])"
)
public final class ChafaPictures: PictureWriter {
    /// Exists only with the trait `Pictures`; the compiler refuses each call.
    public init() { isNotCalled() }

    /// Exists only with the trait `Pictures`; the compiler refuses each call.
    public func bytes(for frame: Frame, since old: CellGrid?, by ability: PictureAbility) -> [UInt8] { isNotCalled() }
}

private func isNotCalled() -> Never { fatalError("The compiler refuses each call of this.") }
#endif
