// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

/// Returns the value of an environment variable, for the libraries above this one; `nil` if there is no such variable.
///
/// Safe beside a thread that changes variables: ``ProcessEnvironment``.
package func environmentValue(_ variable: String) -> String? { ProcessEnvironment.value(of: variable)?.decoded }

/// The variables with which a service manager starts a program.
enum ServiceEnvironment {
    static func value(_ variable: String) -> String? { bytes(variable)?.decoded }

    static func bytes(_ variable: String) -> SystemText? { ProcessEnvironment.value(of: variable) }

    /// So that the processes that the program starts do not take the variables for theirs.
    ///
    /// Safe beside this package's own reading of variables, and beside a `getenv` of the program only if no other thread calls it now.
    static func unset(_ variables: String...) { for variable in variables { unsetenv(variable) } }

    /// The number in a variable; `nil` if there is no such variable.
    static func number<Number: FixedWidthInteger>(
        _ variable: String, _ allowed: some RangeExpression<Number>
    ) throws(ServiceManagerError) -> Number? {
        guard let text = value(variable) else { return nil }
        guard let number = Number(text), allowed.contains(number) else {
            throw .environment(variable: variable, value: text)
        }
        return number
    }

    /// Whether the variables that belong to `variable` are for this process, and not for the one that started it.
    ///
    /// - Parameter isMeant: The answer without the variable.
    static func isForThisProcess(_ variable: String, orElse isMeant: Bool) throws(ServiceManagerError) -> Bool {
        guard let process = try number(variable, pid_t(1)...) else { return isMeant }
        return process == getpid()
    }
}
