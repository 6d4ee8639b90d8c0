// How git connects to a server: where it gets credentials, which proxy it uses, and which certificates it trusts.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates } from 'node:tls'
import type { GitRemote } from './remote.ts'

type GitSetting = readonly [string, string]

/** Settings of one command. None of them contains a secret: the helpers read secrets from pipes, 3 for the server and 4 for the proxy. */
export function buildTransportSettings(
  remote: GitRemote | undefined,
  hasCredential: boolean,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): readonly GitSetting[] {
  if (remote === undefined) return []
  const { proxy } = remote
  const certificates = remote.protocol === 'https' ? writeTrustedCertificates(environment) : undefined
  return [
    ...(hasCredential || proxy?.credential ? buildCredentialHelper(hasCredential, proxy) : []),
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
function buildCredentialHelper(hasCredential: boolean, proxy: GitRemote['proxy']): readonly GitSetting[] {
  const forServer = hasCredential ? 'cat <&3' : ':'
  // The host contains no shell metacharacters: see selectProxy().
  const answer = proxy?.credential
    ? `to=; while read -r line; do case "$line" in "host=${getProxyHost(proxy)}") to=proxy;; esac; done; if test "$to" = proxy; then cat <&4; else ${forServer}; fi`
    : forServer
  return [
    ['credential.helper', ''],
    ['credential.helper', `!f() { test "$1" != get || { ${answer}; }; }; f`],
  ]
}

const getProxyHost = ({ url }: NonNullable<GitRemote['proxy']>): string => url.slice(url.indexOf('//') + 2)

/** If the URL contains a user, git asks for the password before it contacts the proxy. */
function toProxyUrl(proxy: NonNullable<GitRemote['proxy']>): string {
  if (proxy.credential === undefined) return proxy.url
  return proxy.url.replace('//', `//${encodeURIComponent(proxy.credential.username)}@`)
}

let certificateFile: string | undefined

/**
 * All certificates that this process trusts, in one file, because git uses one file instead of the system's. Undefined if the
 * administrator adds none and the system's file suffices. Node reads NODE_EXTRA_CA_CERTS only at startup, and so does this.
 */
function writeTrustedCertificates(
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if ((environment['NODE_EXTRA_CA_CERTS'] ?? '') === '') return undefined
  if (certificateFile !== undefined) return certificateFile
  const folder = mkdtempSync(join(tmpdir(), 'catalog-bot-trust-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const all = new Set([...getCACertificates('default'), ...getCACertificates('system')])
  certificateFile = join(folder, 'certificates.pem')
  writeFileSync(certificateFile, `${[...all].map((one) => one.trim()).join('\n')}\n`, { mode: 0o600 })
  return certificateFile
}
