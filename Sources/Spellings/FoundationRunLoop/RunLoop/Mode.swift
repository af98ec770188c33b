// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
public import RunLoops

extension RunLoop {
    /// The name of a mode of a run loop.
    ///
    /// Thread safety: a value; any thread.
    public struct Mode: RawRepresentable, Hashable, Sendable {
        /// The mode as the `RunLoops` library names it.
        public let native: RunLoops.RunLoop.Mode

        /// Makes the mode with this name.
        public init(_ rawValue: String) { native = RunLoops.RunLoop.Mode(rawValue) }
        /// Makes the mode with this name.
        public init(rawValue: String) { native = RunLoops.RunLoop.Mode(rawValue) }
        /// Makes Foundation's mode from a mode of the `RunLoops` library.
        public init(_ native: RunLoops.RunLoop.Mode) { self.native = native }

        /// The name.
        public var rawValue: String { native.rawValue }

        /// The default mode, for most runs.
        public static var `default`: Mode { Mode(RunLoops.RunLoop.Mode.default) }
        /// All modes that are marked as common.
        public static var common: Mode { Mode(RunLoops.RunLoop.Mode.common) }
        /// The mode while the user drags, as in UIKit.
        public static var tracking: Mode { Mode(RunLoops.RunLoop.Mode.tracking) }
        /// The mode while the user drags, as in AppKit; ``tracking`` has another name.
        public static var eventTracking: Mode { Mode("NSEventTrackingRunLoopMode") }
        /// The mode of a modal panel, as in AppKit.
        public static var modalPanel: Mode { Mode(RunLoops.RunLoop.Mode.modalPanel) }
    }
}
#endif
