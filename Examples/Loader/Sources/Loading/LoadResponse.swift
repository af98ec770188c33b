// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CCurl

/// The server's answer about an address, after all redirects.
public struct LoadResponse: Hashable, Sendable {
    /// The number of redirects that are followed.
    public static let maxRedirects = 10

    /// The status, such as 200 or 404: an error of the server is a response with bytes, as for `NSURLConnection`.
    public let status: Int
    /// The address that the last redirect leads to.
    public let url: String
    /// The type of the bytes, such as `text/html`; `nil` if the server does not say it.
    public let contentType: String?
    /// The number of redirects that were followed.
    public let redirectCount: Int
}

/// Why nothing, or not everything, was loaded.
public enum LoadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The threads had been stopped.
    case stopped
    /// The address, or the one that a redirect leads to, is none of `http` or `https`.
    case badAddress
    /// No name server knows the host, or the proxy.
    case unknownHost
    /// Nothing listens there, or nothing answers.
    case unreachable
    /// The server has not said who it is, or nobody who is trusted confirms it.
    case untrusted
    /// The server has ended the connection before the end of what it had announced.
    case interrupted
    /// A redirect leads on after ``LoadResponse/maxRedirects`` others.
    case tooManyRedirects
    /// Any other reason, by curl's number.
    case other(UInt32)

    init(_ code: CURLcode) {
        switch code {
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: self = .badAddress
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: self = .unknownHost
        case CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT: self = .unreachable
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR: self = .untrusted
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR: self = .interrupted
        case CURLE_TOO_MANY_REDIRECTS: self = .tooManyRedirects
        default: self = .other(code.rawValue)
        }
    }

    /// A sentence for the user.
    public var description: String {
        switch self {
        case .stopped: "The loader was stopped."
        case .badAddress: "The address is none of http or https."
        case .unknownHost: "The host is not known."
        case .unreachable: "No server answers at the address."
        case .untrusted: "The server is not trusted."
        case .interrupted: "The server has ended the connection too early."
        case .tooManyRedirects: "More than \(LoadResponse.maxRedirects) redirects follow each other."
        case .other(let number): "\(String(cString: curl_easy_strerror(CURLcode(number))))."
        }
    }
}
