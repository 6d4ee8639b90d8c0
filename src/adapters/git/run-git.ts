// Runs one git command: without a shell, in the closed environment, with a time limit and an output limit.
// A credential reaches git through an inherited pipe that the credential helper below reads: it is never in an
// argument, an address, an environment variable or a file. (`http.extraHeader` would need the environment, which
// every child and every process of the same user can read for as long as the command runs.) So does a proxy's password.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates } from 'node:tls'
import { GitError, classifyGitError } from './git-error.ts'
import {
  sanitizeGitOutput,
  redactCredentials,
  readGitCredential,
  type GitCredential,
  type GitRemote,
} from './remote.ts'
import { runProcessViaLauncher } from './launcher.ts'
import type { ProcessSpec } from './run-process.ts'

/** Settings of every call, as GIT_CONFIG_* variables for git's children, too. Older versions ignore unknown ones. */
const enforcedGitConfig: readonly (readonly [string, string])[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.attributesFile', '/dev/null'],
  ['core.excludesFile', '/dev/null'],
  ['core.askPass', ''],
  ['core.fsmonitor', 'false'],
  ['core.quotePath', 'false'],
  // A power cut must leave no half-written objects: merge commits are written loose.
  ['core.fsync', 'committed'],
  // mirror-folder.ts does this at a time we choose, never during a fetch.
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  // Keep packs: one file instead of thousands.
  ['fetch.unpackLimit', '1'],
  ['fetch.recurseSubmodules', 'false'],
  ['fetch.writeCommitGraph', 'false'],
  ['submodule.recurse', 'false'],
  ['push.recurseSubmodules', 'no'],
  ['push.followTags', 'false'],
  ['push.gpgSign', 'false'],
  ['transfer.bundleURI', 'false'],
  ['transfer.credentialsInUrl', 'die'],
  // A redirect means a renamed or another repository: ask GitHub again.
  ['http.followRedirects', 'false'],
  // Under 1 kB/s for a minute, the connection counts as dead.
  ['http.lowSpeedLimit', '1000'],
  ['http.lowSpeedTime', '60'],
  ['http.userAgent', 'catalog-bot'],
  // Merges don't follow renames (see merge.ts). Git before 2.50 still follows exact ones; the limit stops it from
  // searching for others.
  ['merge.renames', 'false'],
  ['merge.directoryRenames', 'false'],
  ['merge.renameLimit', '1'],
  ['merge.renormalize', 'false'],
  ['diff.renames', 'false'],
  // Checks arriving objects. What could confuse catalog-bot stays an error: entries named `..` or `.git` or with a slash,
  // unsorted or duplicate entries, malicious .gitmodules. The rest is harmless in a bare mirror, and old repositories
  // contain it.
  ['fetch.fsckObjects', 'true'],
  ...[
    'badDateOverflow',
    'badEmail',
    'badFilemode',
    'badName',
    'badTimezone',
    'largePathname',
    'missingEmail',
    'missingNameBeforeEmail',
    'missingSpaceBeforeDate',
    'missingSpaceBeforeEmail',
    'missingTaggerEntry',
    'multipleAuthors',
    'nulInCommit',
    'zeroPaddedDate',
    'zeroPaddedFilemode',
  ].map((name) => [`fetch.fsck.${name}`, 'ignore'] as const),
]

const minGitVersion = [2, 38] as const

export type GitRunner = (
  args: readonly string[],
  more?: Partial<Pick<GitCommandOptions, 'input' | 'answers' | 'environment' | 'records' | 'limit'>>,
) => Promise<GitOutput>

type GitConfigSetting = readonly [string, string]

const getProxyHost = ({ url }: NonNullable<GitRemote['proxy']>): string => url.slice(url.indexOf('//') + 2)

let trustedCertificatesFilePath: string | undefined

export interface GitCommandOptions {
  /** The command and its arguments: fixed words, checked ids and checked refs. */
  readonly args: readonly string[]
  /** The mirror's folder; given as GIT_DIR, so that git looks for no other. */
  readonly directory?: string
  readonly input?: string | Uint8Array
  /** Milliseconds. */
  readonly timeout: number
  /** Maximum bytes of standard output. */
  readonly limit: number
  /** Maximum records of standard output, each ended by NUL. Absent: as many as fit into the bytes. */
  readonly records?: number | undefined
  /** Whether it belongs to this process's group, and ends with it. Not for commands that contact a server. */
  readonly staysInGroup?: boolean | undefined
  /** Exit codes that are answers; all others are errors. Default: 0. */
  readonly answers?: readonly number[]
  readonly environment?: Readonly<Record<string, string>>
  /** Given for the commands that talk to the server, and only for those. */
  readonly remote?: GitRemote
  readonly signal?: AbortSignal
}

export interface GitOutput {
  readonly code: number
  readonly stdout: Buffer
  /** Redacted. */
  readonly stderr: string
}

/**
 * Resolves with the output when git ends with an exit code that is an answer. Rejects with a GitError otherwise:
 * `timeout`, `too-large`, `aborted`, `unsupported` (no git), or what git-error.ts derives from its output.
 */
export async function runGit(call: GitCommandOptions): Promise<GitOutput> {
  const command = `git ${call.args[0] ?? ''}`
  if (call.signal?.aborted) throw new GitError('aborted', `${command}: the mirror is closed`)
  const credential = call.remote && (await readGitCredential(call.remote))
  const { code, signal, stdout, stderr, stopped } = await runProcessViaLauncher(
    toGitProcessSpec(call, credential),
    call.signal,
  ).catch((cause: NodeJS.ErrnoException) => {
    const why = cause.code === 'ENOENT' || cause.code === 'EACCES' ? 'unsupported' : 'failed'
    const message = `Git could not be started: ${cause.code ?? cause.message}`
    throw new GitError(why, message, { cause })
  })
  const message = redactCredentials(stderr, credential, call.remote?.proxy?.credential)
  switch (stopped) {
    case 'timeout':
      throw new GitError('timeout', `${command}: timed out after ${call.timeout} ms`)
    case 'too-large':
      throw new GitError('too-large', `${command}: the output exceeds ${call.limit} bytes`)
    case 'too-many':
      throw new GitError('too-large', `${command}: the output exceeds ${call.records} records`)
    case 'aborted':
      throw new GitError('aborted', `${command}: the mirror was closed`)
    case undefined:
      break
  }
  if (code !== null && (call.answers ?? [0]).includes(code)) return { code, stdout, stderr: message }
  const ending = code === null ? `terminated by ${signal ?? 'a signal'}` : `exit ${code}`
  throw new GitError(classifyGitError(message), `${command}: ${ending}: ${sanitizeGitOutput(message)}`)
}

function toGitProcessSpec(call: GitCommandOptions, credential: GitCredential | undefined): ProcessSpec {
  const { args, input = '', timeout, limit, records, staysInGroup = false, remote, directory = '/' } = call
  const secret = (one: GitCredential | undefined) =>
    one && `username=${one.username}\npassword=${one.password}\n`
  return {
    program: 'git',
    args,
    directory,
    environment: {
      ...buildGitEnvironment(
        remote?.protocol ?? 'none',
        buildGitTransportConfig(remote, credential !== undefined),
      ),
      ...(call.directory === undefined ? {} : { GIT_DIR: call.directory }),
      ...call.environment,
    },
    input,
    pipes: [secret(credential), secret(remote?.proxy?.credential)],
    timeout,
    limit,
    records,
    // A separate process group, so that stopping git stops its transport helpers too.
    hasGroup: !staysInGroup,
  }
}

/** Settings of one command. None of them contains a secret: the helpers read secrets from pipes, 3 for the server and 4 for the proxy. */
export function buildGitTransportConfig(
  remote: GitRemote | undefined,
  hasCredential: boolean,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): readonly GitConfigSetting[] {
  if (remote === undefined) return []
  const { proxy } = remote
  const certificates = remote.protocol === 'https' ? writeTrustedCertificates(environment) : undefined
  return [
    ...(hasCredential || proxy?.credential ? buildCredentialHelperConfig(hasCredential, proxy) : []),
    ...(proxy ? [['http.proxy', toProxyUrl(proxy)] as const] : []),
    // The method that GitHub and registries use, too, and it avoids a first request that is rejected.
    ...(proxy?.credential ? [['http.proxyAuthMethod', 'basic'] as const] : []),
    ...(certificates === undefined ? [] : [['http.sslCAInfo', certificates] as const]),
    ...(certificates === undefined || proxy?.isTls !== true
      ? []
      : [['http.proxySSLCAInfo', certificates] as const]),
  ]
}

/**
 * The helper that git asks for a credential. It answers `get` once, with the content of a pipe. The empty value before it disables
 * every other helper. Git asks for a proxy's credential under the proxy's host, so no other server gets its password.
 */
function buildCredentialHelperConfig(
  hasCredential: boolean,
  proxy: GitRemote['proxy'],
): readonly GitConfigSetting[] {
  const forServer = hasCredential ? 'cat <&3' : ':'
  // The host contains no shell metacharacters: see findProxyForUrl().
  const answer = proxy?.credential
    ? `to=; while read -r line; do case "$line" in "host=${getProxyHost(proxy)}") to=proxy;; esac; done; if test "$to" = proxy; then cat <&4; else ${forServer}; fi`
    : forServer
  return [
    ['credential.helper', ''],
    ['credential.helper', `!f() { test "$1" != get || { ${answer}; }; }; f`],
  ]
}

/** If the URL contains a user, git asks for the password before it contacts the proxy. */
function toProxyUrl(proxy: NonNullable<GitRemote['proxy']>): string {
  if (proxy.credential === undefined) return proxy.url
  return proxy.url.replace('//', `//${encodeURIComponent(proxy.credential.username)}@`)
}

/**
 * All certificates that this process trusts, in one file, because git uses one file instead of the system's. Undefined if the
 * administrator adds none and the system's file suffices. Node reads NODE_EXTRA_CA_CERTS only at startup, and so does this.
 */
function writeTrustedCertificates(
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if ((environment['NODE_EXTRA_CA_CERTS'] ?? '') === '') return undefined
  if (trustedCertificatesFilePath !== undefined) return trustedCertificatesFilePath
  const folder = mkdtempSync(join(tmpdir(), 'catalog-bot-trust-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const all = new Set([...getCACertificates('default'), ...getCACertificates('system')])
  trustedCertificatesFilePath = join(folder, 'certificates.pem')
  writeFileSync(trustedCertificatesFilePath, `${[...all].map((one) => one.trim()).join('\n')}\n`, {
    mode: 0o600,
  })
  return trustedCertificatesFilePath
}

export function createGitRunner(options: {
  directory: string
  timeout: number
  signal: AbortSignal
  staysInGroup?: boolean | undefined
}): GitRunner {
  // A listing of a million paths has about 150 MB; this is twice that.
  return (args, more = {}) => runGit({ args, limit: 300 * 1024 * 1024, ...options, ...more })
}

/** Such as '2.39.5'. Rejects with GitError `unsupported` when git is missing or older than 2.38. */
export async function readGitVersion(): Promise<string> {
  const { stdout } = await runGit({ args: ['version'], timeout: 10_000, limit: 1000 })
  return parseGitVersion(stdout.toString('utf8'))
}

/** Parses the output of `git version`. Throws GitError `unsupported` when it is too old or unreadable. */
export function parseGitVersion(printed: string): string {
  const match = /^git version (\d+)\.(\d+)(\.\d+)?/.exec(printed)
  if (!match)
    throw new GitError('unsupported', `the Git version cannot be parsed: ${JSON.stringify(printed)}`)
  const [major, minor] = [Number(match[1]), Number(match[2])]
  const version = `${major}.${minor}${match[3] ?? ''}`
  if (major < minGitVersion[0] || (major === minGitVersion[0] && minor < minGitVersion[1]))
    throw new GitError(
      'unsupported',
      `Git ${version} is too old; version ${minGitVersion.join('.')} or later is required`,
    )
  return version
}

/**
 * The closed environment of every Git process, which inherits only PATH, and no configuration of the user or the
 * repository. `protocol`: the only transport allowed. Local commands get none.
 */
export function buildGitEnvironment(
  protocol: 'https' | 'http' | 'file' | 'none',
  more: readonly (readonly [string, string])[] = [],
): Record<string, string> {
  const config = [...enforcedGitConfig, ...more]
  const environment: Record<string, string> = {
    PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: '/nonexistent',
    LC_ALL: 'C',
    TZ: 'UTC',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    // Empty disables it, including the fallbacks SSH_ASKPASS and core.askPass.
    GIT_ASKPASS: '',
    GIT_ALLOW_PROTOCOL: protocol,
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_CONFIG_COUNT: String(config.length),
  }
  for (const [index, [key, value]] of config.entries()) {
    environment[`GIT_CONFIG_KEY_${index}`] = key
    environment[`GIT_CONFIG_VALUE_${index}`] = value
  }
  return environment
}
