// How git gets to a server: who answers its questions for credentials, through which proxy, and whose certificates it trusts.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates } from 'node:tls'
import type { GitRemote } from './remote.ts'

type GitSetting = readonly [string, string]

/** Settings of one command. A secret is in none of them: the helpers read it from pipes, 3 for the server and 4 for the proxy. */
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
    // The one way that MockGitHub and registries are asked, too; and without a first request that is refused.
    ...(proxy?.credential ? [['http.proxyAuthMethod', 'basic'] as const] : []),
    ...(certificates === undefined ? [] : [['http.sslCAInfo', certificates] as const]),
    ...(certificates === undefined || proxy?.isTls !== true
      ? []
      : [['http.proxySSLCAInfo', certificates] as const]),
  ]
}

/**
 * The helper git asks for a credential: answers `get` with what lies in a pipe, once. The empty value before it switches off
 * every other helper. A proxy is asked about under its own host; its password goes to nobody else.
 */
function buildCredentialHelper(hasCredential: boolean, proxy: GitRemote['proxy']): readonly GitSetting[] {
  const forServer = hasCredential ? 'cat <&3' : ':'
  // The host has no character that a shell reads: see selectProxy().
  const answer = proxy?.credential
    ? `to=; while read -r line; do case "$line" in "host=${getProxyHost(proxy)}") to=proxy;; esac; done; if test "$to" = proxy; then cat <&4; else ${forServer}; fi`
    : forServer
  return [
    ['credential.helper', ''],
    ['credential.helper', `!f() { test "$1" != get || { ${answer}; }; }; f`],
  ]
}

const getProxyHost = ({ url }: NonNullable<GitRemote['proxy']>): string => url.slice(url.indexOf('//') + 2)

/** With a user in it git asks for the password, before it speaks to the proxy. */
function toProxyUrl(proxy: NonNullable<GitRemote['proxy']>): string {
  if (proxy.credential === undefined) return proxy.url
  return proxy.url.replace('//', `//${encodeURIComponent(proxy.credential.username)}@`)
}

let certificateFile: string | undefined

/**
 * All that this process trusts, as one file: git takes one instead of the system's. Undefined where the operator adds none, and
 * the system's own is right. Node reads NODE_EXTRA_CA_CERTS at its start alone, and so do we.
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
