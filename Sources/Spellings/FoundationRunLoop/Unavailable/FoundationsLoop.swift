// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
public import Foundation

// What of Foundation takes Foundation's own run loop, or its modes. A file that is ported passes this module's, and the
// compiler says what to use.

extension Stream {
    /// Foundation's `schedule(in:forMode:)`, which cannot take a loop of this package.
    @available(
        *, unavailable,
        message:
            "Streams know Foundation's own loop alone. Link RunLoopsFoundation and give Foundation.RunLoop.main and Foundation.RunLoop.Mode.default, or use native.add(RunLoop.DescriptorSource(descriptor)) or RunLoopsEvents' SocketStream."
    )
    public func schedule(in aRunLoop: FoundationRunLoop.RunLoop, forMode mode: FoundationRunLoop.RunLoop.Mode) {
        isNotCalled()
    }

    /// Foundation's `remove(from:forMode:)`, which cannot take a loop of this package.
    @available(*, unavailable, message: "Streams know Foundation's own loop alone, and are in no other.")
    public func remove(from aRunLoop: FoundationRunLoop.RunLoop, forMode mode: FoundationRunLoop.RunLoop.Mode) {
        isNotCalled()
    }
}

extension FileHandle {
    /// Foundation's `readInBackgroundAndNotify(forModes:)`, which cannot take a mode of this package.
    @available(
        *, unavailable,
        message: "FileHandle posts in Foundation's own loop alone. Use readabilityHandler, which needs no loop."
    )
    public func readInBackgroundAndNotify(forModes modes: [FoundationRunLoop.RunLoop.Mode]?) { isNotCalled() }

    /// Foundation's `readToEndOfFileInBackgroundAndNotify(forModes:)`, which cannot take a mode of this package.
    @available(
        *, unavailable,
        message: "FileHandle posts in Foundation's own loop alone. Use readabilityHandler, which needs no loop."
    )
    public func readToEndOfFileInBackgroundAndNotify(forModes modes: [FoundationRunLoop.RunLoop.Mode]?) {
        isNotCalled()
    }

    /// Foundation's `acceptConnectionInBackgroundAndNotify(forModes:)`, which cannot take a mode of this package.
    @available(
        *, unavailable,
        message: "FileHandle posts in Foundation's own loop alone. Use RunLoopsEvents' SocketListener, or SocketPort."
    )
    public func acceptConnectionInBackgroundAndNotify(forModes modes: [FoundationRunLoop.RunLoop.Mode]?) {
        isNotCalled()
    }

    /// Foundation's `waitForDataInBackgroundAndNotify(forModes:)`, which cannot take a mode of this package.
    @available(
        *, unavailable,
        message:
            "FileHandle posts in Foundation's own loop alone. Use native.add(RunLoop.DescriptorSource(descriptor))."
    )
    public func waitForDataInBackgroundAndNotify(forModes modes: [FoundationRunLoop.RunLoop.Mode]?) { isNotCalled() }
}

private func isNotCalled() -> Never { fatalError("The compiler refuses each call of this.") }
#endif
