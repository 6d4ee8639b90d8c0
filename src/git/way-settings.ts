// How git gets to a server: who answers its questions for credentials, through which proxy, and whose certificates it trusts.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates } from 'node:tls'
import type { Remote } from './remote.ts'

type Setting = readonly [string, string]

/** Settings of one command. A secret is in none of them: the helpers read it from pipes, 3 for the server and 4 for the proxy. */
export function waySettings(
  remote: Remote | undefined,
  hasCredential: boolean,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): readonly Setting[] {
  if (remote === undefined) return []
  const { proxy } = remote
  const certificates = remote.protocol === 'https' ? trustedCertificates(environment) : undefined
  return [
    ...(hasCredential || proxy?.credential ? helper(hasCredential, proxy) : []),
    ...(proxy ? [['http.proxy', proxyAddress(proxy)] as const] : []),
    // The one way that GitHub and registries are asked, too; and without a first request that is refused.
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
function helper(hasCredential: boolean, proxy: Remote['proxy']): readonly Setting[] {
  const forServer = hasCredential ? 'cat <&3' : ':'
  // The host has no character that a shell reads: see proxyFor().
  const answer = proxy?.credential
    ? `to=; while read -r line; do case "$line" in "host=${hostOf(proxy)}") to=proxy;; esac; done; if test "$to" = proxy; then cat <&4; else ${forServer}; fi`
    : forServer
  return [
    ['credential.helper', ''],
    ['credential.helper', `!f() { test "$1" != get || { ${answer}; }; }; f`],
  ]
}

const hostOf = ({ address }: NonNullable<Remote['proxy']>): string => address.slice(address.indexOf('//') + 2)

/** With a user in it git asks for the password, before it speaks to the proxy. */
function proxyAddress(proxy: NonNullable<Remote['proxy']>): string {
  if (proxy.credential === undefined) return proxy.address
  return proxy.address.replace('//', `//${encodeURIComponent(proxy.credential.username)}@`)
}

let written: string | undefined

/**
 * All that this process trusts, as one file: git takes one instead of the system's. Undefined where the operator adds none, and
 * the system's own is right. Node reads NODE_EXTRA_CA_CERTS at its start alone, and so do we.
 */
function trustedCertificates(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  if ((environment['NODE_EXTRA_CA_CERTS'] ?? '') === '') return undefined
  if (written !== undefined) return written
  const folder = mkdtempSync(join(tmpdir(), 'catalog-bot-trust-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const all = new Set([...getCACertificates('default'), ...getCACertificates('system')])
  written = join(folder, 'certificates.pem')
  writeFileSync(written, `${[...all].map((one) => one.trim()).join('\n')}\n`, { mode: 0o600 })
  return written
}
