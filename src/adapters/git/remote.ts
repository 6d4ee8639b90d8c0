// Where a mirror fetches from and pushes to: the URL, checked once, and the credential, requested each time.
// The URL never contains a credential.
import { selectProxy, type ProxyServer } from '../../ports/proxy.ts'
import { GitError } from './git-error.ts'

export interface GitCredential {
  readonly username: string
  readonly password: string
}

export interface GitRemote {
  readonly url: string
  /** The only protocol that git may use with this remote. */
  readonly protocol: 'https' | 'http' | 'file'
  readonly credential: () => Promise<GitCredential | undefined>
  /** The administrator's proxy for this remote. */
  readonly proxy?: ProxyServer | undefined
}

/**
 * Checks an address: `https://host/path`; `http://` only to this machine itself and `file:///path` only as configured
 * (sandbox and tests). Throws GitError `refused` for every other protocol (ssh, git, ext, scp-like), for a user or
 * password in it, for a query, and for characters that do not belong in a URL.
 */
export function createGitRemote(
  url: string,
  credential: () => Promise<GitCredential | undefined>,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): GitRemote {
  // Printable ASCII only, because git, curl and URL parse other characters differently.
  if (!/^[a-z]+:\/\/[\x21-\x7e]+$/.test(url) || /["'\\<>^`{|}]/.test(url))
    throw new GitError('refused', 'the repository URL is malformed')
  let parsed: URL
  try {
    parsed = new URL(url)
  } catch (cause) {
    throw new GitError('refused', 'the repository URL is malformed', { cause })
  }
  if (parsed.username !== '' || parsed.password !== '' || /^[a-z]+:\/\/[^/]*@/.test(url))
    throw new GitError('refused', 'the repository URL must not contain a user name or password')
  if (parsed.search !== '' || parsed.hash !== '')
    throw new GitError('refused', 'the repository URL must not contain a query or fragment')
  switch (parsed.protocol) {
    case 'https:':
      return { url, protocol: 'https', credential, proxy: selectRemoteProxy(parsed, environment) }
    case 'http:':
      if (isLoopback(parsed.hostname)) return { url, protocol: 'http', credential }
      throw new GitError('refused', 'unencrypted HTTP is allowed only for the local machine')
    case 'file:':
      if (parsed.host === '') return { url, protocol: 'file', credential }
      throw new GitError('refused', 'a file URL must not have a host')
    default:
      throw new GitError('refused', `the protocol ${parsed.protocol} is not supported`)
  }
}

function selectRemoteProxy(
  url: URL,
  environment: Parameters<typeof selectProxy>[1],
): ProxyServer | undefined {
  try {
    return selectProxy(url, environment)
  } catch (cause) {
    throw new GitError('refused', cause instanceof Error ? cause.message : 'the proxy URL is malformed', {
      cause,
    })
  }
}

/**
 * The remote's current credential, or undefined for anonymous access. Throws GitError `unauthorized` when it cannot
 * be had, or does not fit git's line-based credential protocol.
 */
export async function readCredential(remote: GitRemote): Promise<GitCredential | undefined> {
  let credential: GitCredential | undefined
  try {
    credential = await remote.credential()
  } catch (cause) {
    throw new GitError('unauthorized', 'the credential could not be obtained', { cause, retryable: true })
  }
  if (credential && /[\n\r\0]/.test(credential.username + credential.password))
    throw new GitError('unauthorized', 'the credential contains a line break or NUL')
  return credential
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)
}
