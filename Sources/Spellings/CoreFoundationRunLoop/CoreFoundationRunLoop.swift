// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
// A file that imports this module has all of Core Foundation, and this library's run loop under Core Foundation's names.
// The names of this module stand before those of a module that it exports again, if their types are the same.
@_exported public import CCoreFoundationRunLoop
@_exported public import CoreFoundation
@_exported public import CoreFoundationRunLoopModeNames
#endif
