// Where a mirror fetches from and pushes to: the URL, checked once, and the credential, requested each time.
// The URL never contains a credential.
import { createHash } from 'node:crypto'
import { findProxyForUrl, type ProxyServer } from '../../ports/proxy.ts'
import { GitError } from './git-error.ts'
import type { PullNumber } from '../../pull-request/ids.ts'

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
      return { url, protocol: 'https', credential, proxy: selectProxyForRemoteUrl(parsed, environment) }
    case 'http:':
      if (isLoopbackHost(parsed.hostname)) return { url, protocol: 'http', credential }
      throw new GitError('refused', 'unencrypted HTTP is allowed only for the local machine')
    case 'file:':
      if (parsed.host === '') return { url, protocol: 'file', credential }
      throw new GitError('refused', 'a file URL must not have a host')
    default:
      throw new GitError('refused', `the protocol ${parsed.protocol} is not supported`)
  }
}

function selectProxyForRemoteUrl(
  url: URL,
  environment: Parameters<typeof findProxyForUrl>[1],
): ProxyServer | undefined {
  try {
    return findProxyForUrl(url, environment)
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
export async function readGitCredential(remote: GitRemote): Promise<GitCredential | undefined> {
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

function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

/**
 * Validates branch names before they are passed to git, and names the refs under which a mirror stores what it
 * fetched. The full ref of a branch. Throws GitError `refused` for a name that git-check-ref-format(1) forbids, or
 * that could be taken for an option, a pattern or a refspec.
 */
export function toBranchRef(branch: string): string {
  const bad =
    branch.length === 0 ||
    branch.length > 240 ||
    !branch.isWellFormed() ||
    // Control characters, space, and what has a meaning in revisions, refspecs and patterns.
    /[\u0000-\u0020\u007f~^:?*[\\]/.test(branch) ||
    branch.startsWith('-') ||
    branch === '@' ||
    branch.includes('..') ||
    branch.includes('@{') ||
    branch.endsWith('.') ||
    branch.split('/').some((part) => part === '' || part.startsWith('.') || part.endsWith('.lock'))
  if (bad) throw new GitError('refused', `not a valid branch name: ${JSON.stringify(branch)}`)
  return `refs/heads/${branch}`
}

export function toPullRef(pull: PullNumber): string {
  return `refs/pull/${requireValidPullNumber(pull)}/head`
}

/** GitHub's own merge of a pull request into its base, kept while it is open. */
export function toTestMergeRef(pull: PullNumber): string {
  return `refs/pull/${requireValidPullNumber(pull)}/merge`
}

export function toMirrorTestMergeRef(pull: PullNumber): string {
  return `refs/catalog-bot/test-merge/${requireValidPullNumber(pull)}`
}

/**
 * Where a fetched branch is stored. Uses a digest of its name, because `a` and `a/b`, or `A` and `a` on some
 * disks, cannot exist side by side as files, and branches come and go.
 */
export function toMirrorBranchRef(branch: string): string {
  return `refs/catalog-bot/heads/${createHash('sha256').update(toBranchRef(branch)).digest('hex')}`
}

export function toMirrorPullRef(pull: PullNumber): string {
  return `refs/catalog-bot/pull/${requireValidPullNumber(pull)}`
}

function requireValidPullNumber(pull: PullNumber): number {
  if (!Number.isSafeInteger(pull) || pull < 1)
    throw new GitError('refused', `not a valid pull request number: ${String(pull)}`)
  return pull
}

/** Replaces the credentials in every form they travel in, and the user part of any address. */
export function redactCredentials(
  text: string,
  ...credentials: readonly (GitCredential | undefined)[]
): string {
  let clean = text
  for (const credential of credentials) {
    if (credential === undefined) continue
    const { username, password } = credential
    const forms = [
      password,
      encodeURIComponent(password),
      toBase64(`${username}:${password}`),
      toBase64(password),
    ]
    // Longest first: a shorter form may be part of a longer one.
    for (const form of forms.sort((a, b) => b.length - a.length))
      if (form.length > 0) clean = clean.replaceAll(form, '***')
  }
  return clean
    .replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi, '$1***@')
    .replace(/(authorization:)[^\r\n]*/gi, '$1 ***')
}

/** Text from a server as one harmless paragraph: no control or direction characters, at most `length` characters. */
export function sanitizeGitOutput(text: string, length = 500): string {
  const line = text
    .replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/g, ' ')
    .replace(/ +/g, ' ')
    .trim()
  return line.length > length ? `${line.slice(0, length)}…` : line
}

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64')
}
