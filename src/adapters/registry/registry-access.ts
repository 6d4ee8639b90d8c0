// Reads the operator's registry settings (credentials, mirrors, egress) from the environment, for the App and the CLI.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { loadSystemCredentials } from './auth/credential-files.ts'
import { findProxyForUrl } from '../../ports/proxy.ts'
import { allowLoopbackRegistries, type EgressOptions } from './transport/egress-policy.ts'
import type { RegistryClientOptions } from './open-registry.ts'
import { toEgressOptions, readRegistriesConf } from './registries-conf.ts'
import { RegistryError } from './registry-error.ts'

export type RegistryAccess = Required<
  Pick<RegistryClientOptions, 'credentials' | 'egress' | 'rules' | 'closedHosts' | 'shown'>
>

/**
 * Reads `PULL_SECRETS` and the credential files, `REGISTRIES_CONF`, `INTERNAL_REGISTRIES`, `ONLY_REGISTRIES`,
 * `SHOWN_REGISTRIES`, `REGISTRY_CERTIFICATES`, `HTTPS_PROXY`, `NO_PROXY` and `REGISTRY_PROXY`. `insecure` lists local
 * hosts to reach by plain HTTP. Rejects with an error that names the unusable variable or file. Continuing would blame
 * authors for the problem.
 */
export async function readRegistryAccess(
  environment: Readonly<Record<string, string | undefined>>,
  insecure: readonly string[] = [],
): Promise<RegistryAccess> {
  return {
    ...(await readRegistryTransportOptions(environment, insecure)),
    credentials: await loadSystemCredentials(environment),
  }
}

/** Like readRegistryAccess(), without credentials. */
export async function readRegistryTransportOptions(
  environment: Readonly<Record<string, string | undefined>>,
  insecure: readonly string[] = [],
): Promise<Omit<RegistryAccess, 'credentials'>> {
  const rules = await readRegistriesConf(environment)
  const mirrors = toEgressOptions(rules)
  const inside = parseInternalRegistries(environment['INTERNAL_REGISTRIES'] ?? '')
  const opened = [mirrors, allowLoopbackRegistries(...insecure), { internal: inside }]
  const internal: Record<string, readonly string[]> = {}
  for (const [host, ranges] of opened.flatMap((one) => Object.entries(one.internal ?? {})))
    internal[host] = [...(internal[host] ?? []), ...ranges]
  const only = splitCommaSeparatedList(environment['ONLY_REGISTRIES'])
  const certificates = environment['REGISTRY_CERTIFICATES']
  const egress: EgressOptions = {
    plainHttp: opened.flatMap((one) => ('plainHttp' in one ? (one.plainHttp ?? []) : [])),
    internal,
    ...(only.length > 0 && { onlyHosts: only }),
    ...(certificates && { certificates: await readCaCertificatesByHost(certificates) }),
    ...parseProxyOptions(environment),
  }
  return {
    egress,
    rules,
    closedHosts: [...Object.keys(mirrors.internal), ...Object.keys(inside)].map((host) => host.toLowerCase()),
    shown: splitCommaSeparatedList(environment['SHOWN_REGISTRIES']),
  }
}

const registryProxyModes = ['address', 'name', 'off'] as const

/** `HTTPS_PROXY` and `NO_PROXY` select the proxy, `REGISTRY_PROXY` how registries use it. */
function parseProxyOptions(
  environment: Readonly<Record<string, string | undefined>>,
): Pick<EgressOptions, 'proxy'> {
  const mode = environment['REGISTRY_PROXY'] || 'address'
  const by = registryProxyModes.find((candidate) => candidate === mode)
  if (by === undefined)
    throw new RegistryError('malformed', `REGISTRY_PROXY must be one of: ${registryProxyModes.join(', ')}`)
  if (by === 'off') return {}
  try {
    // Fails at startup if the proxy cannot be used, not at the first request.
    findProxyForUrl(new URL('https://registry.example'), environment)
  } catch (cause) {
    throw new RegistryError(
      'malformed',
      cause instanceof Error ? cause.message : 'the proxy settings are invalid',
      { cause },
    )
  }
  return { proxy: { by, to: (url) => findProxyForUrl(url, environment) } }
}

/** `registry.internal=10.0.0.5/32`, comma-separated; a host may repeat. */
function parseInternalRegistries(text: string): Record<string, readonly string[]> {
  const found: Record<string, readonly string[]> = {}
  for (const entry of splitCommaSeparatedList(text)) {
    const [host = '', range = '', ...more] = entry.split('=')
    if (host === '' || range === '' || more.length > 0)
      throw new RegistryError(
        'malformed',
        `INTERNAL_REGISTRIES: "${entry}" does not have the form HOST=ADDRESS/BITS`,
      )
    found[host.trim()] = [...(found[host.trim()] ?? []), range.trim()]
  }
  return found
}

/**
 * PEM certificates by host, from a directory laid out as docker's and podman's certs.d: `HOST[:PORT]/*.crt`. Unlike there,
 * `HOST` applies to all ports.
 */
async function readCaCertificatesByHost(directory: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  try {
    for (const folder of await readdir(directory)) {
      const host = folder.toLowerCase()
      for (const name of await readdir(join(directory, folder)))
        if (name.endsWith('.crt'))
          found[host] = `${found[host] ?? ''}${await readFile(join(directory, folder, name), 'utf8')}\n`
    }
  } catch (cause) {
    throw new RegistryError('malformed', `REGISTRY_CERTIFICATES: cannot read ${directory}`, { cause })
  }
  return found
}

function splitCommaSeparatedList(text: string | undefined): readonly string[] {
  return (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}
