// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
public import RunLoops

extension RunLoop {
    /// The name of a mode of a run loop.
    ///
    /// Thread safety: a value; any thread.
    public struct Mode: RawRepresentable, Hashable, Sendable {
        /// The same mode for the loop that does the work.
        public let native: RunLoops.RunLoop.Mode

        /// The mode of that name.
        public init(_ rawValue: String) { native = RunLoops.RunLoop.Mode(rawValue) }
        /// The mode of that name.
        public init(rawValue: String) { native = RunLoops.RunLoop.Mode(rawValue) }
        /// The same mode under Foundation's name.
        public init(_ native: RunLoops.RunLoop.Mode) { self.native = native }

        /// The name.
        public var rawValue: String { native.rawValue }

        /// The mode of most of the time.
        public static var `default`: Mode { Mode(RunLoops.RunLoop.Mode.default) }
        /// All modes that are marked as common.
        public static var common: Mode { Mode(RunLoops.RunLoop.Mode.common) }
        /// The mode while the user drags, as in UIKit.
        public static var tracking: Mode { Mode(RunLoops.RunLoop.Mode.tracking) }
        /// The mode while the user drags, as in AppKit: another name than ``tracking``.
        public static var eventTracking: Mode { Mode("NSEventTrackingRunLoopMode") }
        /// The mode of a modal panel, as in AppKit.
        public static var modalPanel: Mode { Mode(RunLoops.RunLoop.Mode.modalPanel) }
    }
}
#endif
