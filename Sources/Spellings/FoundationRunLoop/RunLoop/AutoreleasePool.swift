// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
/// Calls `body` and returns its result: on Linux an object is released with its last reference, and no object waits for the
/// end of a pool.
///
/// Corresponds to Apple's `autoreleasepool(invoking:)`, which Foundation on Linux does not have. In a module with a function
/// of this name, the module's own function is called.
public func autoreleasepool<Result, Failure: Error>(invoking body: () throws(Failure) -> Result)
    throws(Failure) -> Result
{
    try body()
}
#endif
