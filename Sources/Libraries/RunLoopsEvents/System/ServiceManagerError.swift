// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

/// The reason why a message to the service manager, such as systemd, was not sent, or why its variables are malformed.
public enum ServiceManagerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A variable of the environment has a value that it must not have.
    case environment(variable: String, value: String)
    /// A state cannot be sent: an empty or malformed name, or a value with a line break, which would begin another state.
    case state(name: String, value: String)
    /// The system refused a call: `ENOENT` or `ECONNREFUSED` if the service manager's socket is gone, `EAGAIN` if its queue is
    /// full, `EBADF` if a descriptor is not open.
    case system(RunLoop.SystemCallError)

    /// One line that says what was wrong.
    public var description: String {
        switch self {
        case .environment(let variable, let value): "\(variable) must not be \"\(value)\""
        case .state(let name, let value): "not a state: \"\(name)=\(value)\""
        case .system(let error): "\(error)"
        }
    }
}

/// Returns what the call returned; throws the error of the system.
@discardableResult
func checkService(
    _ call: String, _ result: CInt, of subject: @autoclosure () -> String? = nil
) throws(ServiceManagerError) -> CInt {
    do throws(RunLoop.SystemCallError) {
        return try check(call, result, of: subject())
    } catch { throw .system(error) }
}
