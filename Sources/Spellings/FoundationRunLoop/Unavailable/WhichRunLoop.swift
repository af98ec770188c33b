// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
public import Foundation

/// Nobody's loop: makes `.current` and `.main` an error where Foundation would take its own loop for them.
///
/// In `stream.schedule(in: .current, forMode: .default)` the compiler would silently choose Foundation's loop, which
/// nobody runs. With these overloads the call is ambiguous. Write `Foundation.RunLoop.current` if you mean that loop;
/// `RunLoop.current` is unavailable there, and the compiler says what to use.
public enum WhichRunLoop {
    /// Stands beside Foundation's, so that the compiler asks which is meant.
    public static var current: WhichRunLoop { isNotCalled() }
    /// Stands beside Foundation's, so that the compiler asks which is meant.
    public static var main: WhichRunLoop { isNotCalled() }

    /// A mode of nobody's loop.
    public enum Mode {
        /// Stands beside Foundation's, so that the compiler asks which is meant.
        public static var `default`: Mode { isNotCalled() }
        /// Stands beside Foundation's, so that the compiler asks which is meant.
        public static var common: Mode { isNotCalled() }
    }
}

extension Stream {
    /// Cannot be called: see ``WhichRunLoop``.
    public func schedule(in aRunLoop: WhichRunLoop, forMode mode: WhichRunLoop.Mode) {}
    /// Cannot be called: see ``WhichRunLoop``.
    public func remove(from aRunLoop: WhichRunLoop, forMode mode: WhichRunLoop.Mode) {}
}

extension FileHandle {
    /// Cannot be called with a mode: see ``WhichRunLoop``.
    public func readInBackgroundAndNotify(forModes modes: [WhichRunLoop.Mode]?) {}
    /// Cannot be called with a mode: see ``WhichRunLoop``.
    public func readToEndOfFileInBackgroundAndNotify(forModes modes: [WhichRunLoop.Mode]?) {}
    /// Cannot be called with a mode: see ``WhichRunLoop``.
    public func acceptConnectionInBackgroundAndNotify(forModes modes: [WhichRunLoop.Mode]?) {}
    /// Cannot be called with a mode: see ``WhichRunLoop``.
    public func waitForDataInBackgroundAndNotify(forModes modes: [WhichRunLoop.Mode]?) {}
}

private func isNotCalled() -> Never { fatalError("The compiler refuses each call that would need this.") }
#endif
