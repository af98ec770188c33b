// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
public import Foundation

/// A run loop of no thread, which makes `.current` and `.main` a compiler error where Foundation's own loop would be used.
///
/// In `stream.schedule(in: .current, forMode: .default)` the compiler would silently choose Foundation's loop, whose items
/// wait until that loop runs. Instead, the compiler chooses the overload for this class, whose type is more specific, and
/// its error says what to use. The error is that the call can throw, because the compiler would not choose an unavailable
/// overload. Write `Foundation.RunLoop.current` if you mean that loop.
public final class WhichRunLoop: Foundation.RunLoop {
    /// Chosen by the compiler for `.current` where Foundation's own loop would be used; each use is an error.
    public override class var current: WhichRunLoop { isNotCalled() }
    /// Chosen by the compiler for `.main` where Foundation's own loop would be used; each use is an error.
    public override class var main: WhichRunLoop { isNotCalled() }

    /// A mode of ``WhichRunLoop``.
    public enum Mode {
        /// The mode that the compiler chooses for `.default`.
        public static var `default`: Mode { isNotCalled() }
        /// The mode that the compiler chooses for `.common`.
        public static var common: Mode { isNotCalled() }
    }

    /// The error of the overloads with ``WhichRunLoop``, which is never thrown.
    public struct IsMeant: Error {}
}

extension Stream {
    /// Foundation's `schedule(in:forMode:)` with `.current` or `.main`: see ``WhichRunLoop``.
    @available(
        *, deprecated,
        message:
            "Streams know Foundation's own loop alone. Link RunLoopsFoundation and give Foundation.RunLoop.main, or use native.add(RunLoop.DescriptorSource(descriptor)) or RunLoopsEvents' SocketStream."
    )
    public func schedule(
        in aRunLoop: WhichRunLoop, forMode mode: Foundation.RunLoop.Mode
    ) throws(WhichRunLoop.IsMeant) { isNotCalled() }

    /// Foundation's `remove(from:forMode:)` with `.current` or `.main`: see ``WhichRunLoop``.
    @available(
        *, deprecated,
        message: "Streams know Foundation's own loop alone: give Foundation.RunLoop.main if the stream is in that one."
    )
    public func remove(
        from aRunLoop: WhichRunLoop, forMode mode: Foundation.RunLoop.Mode
    ) throws(WhichRunLoop.IsMeant) { isNotCalled() }
}

extension FileHandle {
    /// Foundation's `readInBackgroundAndNotify(forModes:)` with `.default`: see ``WhichRunLoop``.
    @available(
        *, deprecated,
        message: "FileHandle posts in Foundation's own loop alone. Use readabilityHandler, which needs no loop."
    )
    public func readInBackgroundAndNotify(forModes modes: [WhichRunLoop.Mode]) throws(WhichRunLoop.IsMeant) {
        isNotCalled()
    }

    /// Foundation's `readToEndOfFileInBackgroundAndNotify(forModes:)` with `.default`: see ``WhichRunLoop``.
    @available(
        *, deprecated,
        message: "FileHandle posts in Foundation's own loop alone. Use readabilityHandler, which needs no loop."
    )
    public func readToEndOfFileInBackgroundAndNotify(
        forModes modes: [WhichRunLoop.Mode]
    ) throws(WhichRunLoop.IsMeant) { isNotCalled() }

    /// Foundation's `acceptConnectionInBackgroundAndNotify(forModes:)` with `.default`: see ``WhichRunLoop``.
    @available(
        *, deprecated,
        message: "FileHandle posts in Foundation's own loop alone. Use RunLoopsEvents' SocketListener, or SocketPort."
    )
    public func acceptConnectionInBackgroundAndNotify(
        forModes modes: [WhichRunLoop.Mode]
    ) throws(WhichRunLoop.IsMeant) { isNotCalled() }

    /// Foundation's `waitForDataInBackgroundAndNotify(forModes:)` with `.default`: see ``WhichRunLoop``.
    @available(
        *, deprecated,
        message:
            "FileHandle posts in Foundation's own loop alone. Use native.add(RunLoop.DescriptorSource(descriptor))."
    )
    public func waitForDataInBackgroundAndNotify(forModes modes: [WhichRunLoop.Mode]) throws(WhichRunLoop.IsMeant) {
        isNotCalled()
    }
}

private func isNotCalled() -> Never { fatalError("The compiler refuses each call of this.") }
#endif
