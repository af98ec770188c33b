// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// On Apple's systems this module is another name of Core Foundation; see the file of this name in FoundationRunLoop.
#if !os(Linux) || EXPORTS_ORIGINALS
@_exported public import CoreFoundation
#endif
