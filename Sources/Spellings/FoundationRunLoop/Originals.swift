// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// On Apple's systems this module is another name of Foundation, so that one import serves a Mac and Linux. The manifest's switch
// RUNLOOPS_EXPORTS_ORIGINALS builds the same here.
#if !os(Linux) || EXPORTS_ORIGINALS
// Foundation has Core Foundation's names with it there, and not on Linux.
@_exported public import CoreFoundation
@_exported public import Foundation
#endif
