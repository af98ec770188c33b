// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
/// Calls `body`: objects on Linux are released when the last reference goes, and none waits for the end of a pool.
///
/// Apple's `autoreleasepool(invoking:)`, which Foundation on Linux does not have. A program's own function of that name comes
/// first in its module.
public func autoreleasepool<Result, Failure: Error>(invoking body: () throws(Failure) -> Result)
    throws(Failure) -> Result
{
    try body()
}
#endif
