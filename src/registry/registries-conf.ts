// Parses the operator's registries.conf as podman and skopeo do (containers-registries.conf(5), version 2).
import { readdir, readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parse, TomlError } from 'smol-toml'
import { z } from 'zod'
import type { EgressOptions } from './transport/egress-policy.ts'
import type { RegistryRule } from './endpoints.ts'
import { RegistryError } from './registry-error.ts'

export interface ConfiguredRegistry extends RegistryRule {
  /** Hosts to reach without TLS (`insecure = true`). */
  readonly plainHttp: readonly string[]
  /**
   * Hosts that the operator configures: mirrors, replaced locations and insecure hosts. Only these may have private
   * addresses.
   */
  readonly named: readonly string[]
}

const mirror = z.strictObject({
  location: z.string().min(1),
  insecure: z.boolean().default(false),
  'pull-from-mirror': z.enum(['all', 'digest-only', 'tag-only']).optional(),
})
const registry = z.strictObject({
  prefix: z.string().min(1).optional(),
  location: z.string().min(1).optional(),
  insecure: z.boolean().default(false),
  blocked: z.boolean().default(false),
  'mirror-by-digest-only': z.boolean().default(false),
  mirror: z.array(mirror).default([]),
})
const file = z.looseObject({ registry: z.array(registry).default([]) })

const usage = { all: 'all', 'digest-only': 'digests', 'tag-only': 'tags' } as const

/**
 * Throws a RegistryError `malformed` that names the file for invalid TOML, unknown keys and values, duplicate prefixes
 * and the old version 1.
 */
export function parseRegistriesConf(text: string, name: string): readonly ConfiguredRegistry[] {
  const data = parseToml(text, name)
  if ('registries' in data)
    throw wrong(name, 'it is in version 1 ([registries.search]); write it as [[registry]] tables')
  const result = file.safeParse(data)
  if (!result.success) {
    const issue = result.error.issues[0]
    throw wrong(name, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`)
  }
  const rules: ConfiguredRegistry[] = []
  for (const entry of result.data.registry) {
    const plainHttp: string[] = []
    const named: string[] = []
    const written = entry.prefix ?? entry.location
    if (written === undefined) throw wrong(name, 'a [[registry]] has neither a prefix nor a location')
    const prefix = cleanName(written, name)
    const location = entry.location === undefined ? undefined : cleanName(entry.location, name)
    if (location?.startsWith('*.')) throw wrong(name, `the location of ${prefix} may not have a wildcard`)
    if (prefix.startsWith('*.') && entry.insecure && location === undefined)
      throw wrong(name, `${prefix} cannot be insecure: name the hosts one by one`)
    if (rules.some((rule) => rule.prefix === prefix)) throw wrong(name, `${prefix} is there twice`)
    const itself = hostOf(location ?? prefix)
    if (entry.insecure || itself !== hostOf(prefix)) named.push(itself)
    if (entry.insecure) plainHttp.push(itself)
    const mirrors = entry.mirror.map((one) => {
      if (entry['mirror-by-digest-only'] && one['pull-from-mirror'] !== undefined)
        throw wrong(
          name,
          `${prefix} has mirror-by-digest-only and pull-from-mirror, which say different things`,
        )
      const place = cleanName(one.location, name)
      if (place.startsWith('*.')) throw wrong(name, `a mirror of ${prefix} may not have a wildcard`)
      named.push(hostOf(place))
      if (one.insecure) plainHttp.push(hostOf(place))
      const all = entry['mirror-by-digest-only'] ? 'digest-only' : 'all'
      return { location: place, for: usage[one['pull-from-mirror'] ?? all] }
    })
    rules.push({
      prefix,
      ...(location !== undefined && location !== prefix && { location }),
      blocked: entry.blocked,
      mirrors,
      plainHttp,
      named,
    })
  }
  return rules
}

/**
 * Reads the file that `REGISTRIES_CONF` names, or the user's or else the machine's, with the `registries.conf.d` beside
 * each. Later files win. Rejects with a RegistryError for a named file that is missing, and for one that cannot be
 * used.
 */
export async function readRegistriesConf(
  environment: Readonly<Record<string, string | undefined>>,
  machineFolder = '/etc/containers',
): Promise<readonly ConfiguredRegistry[]> {
  const given = environment['REGISTRIES_CONF'] ?? environment['CONTAINERS_REGISTRIES_CONF']
  const home = environment['HOME'] ?? homedir()
  const userFolder = join(environment['XDG_CONFIG_HOME'] ?? join(home, '.config'), 'containers')
  const rules = new Map<string, ConfiguredRegistry>()
  const add = async (path: string): Promise<boolean> => {
    const text = await readIfPresent(path)
    for (const rule of text === undefined ? [] : parseRegistriesConf(text, path)) rules.set(rule.prefix, rule)
    return text !== undefined
  }
  if (given) {
    if (!(await add(given))) throw wrong(given, 'there is no such file')
    if (hasSearch(parseToml(await readFile(given, 'utf8'), given)))
      throw wrong(
        given,
        'unqualified-search-registries is not supported: a name without a registry is always docker.io',
      )
    for (const path of await dropIns(`${given}.d`)) await add(path)
  } else {
    if (!(await add(join(userFolder, 'registries.conf')))) await add(join(machineFolder, 'registries.conf'))
    for (const folder of [machineFolder, userFolder])
      for (const path of await dropIns(join(folder, 'registries.conf.d'))) await add(path)
  }
  return [...rules.values()]
}

// Private ranges for internal registries. Link-local is excluded because cloud metadata services there return keys.
const privateAddresses = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7']
const loopbackAddresses = ['127.0.0.0/8', '::1/128']

/** Allows only the hosts that the file names, at private addresses. */
export function egressOf(
  rules: readonly ConfiguredRegistry[],
): Required<Pick<EgressOptions, 'plainHttp' | 'internal'>> {
  const named = rules.flatMap((rule) => rule.named)
  return {
    plainHttp: rules.flatMap((rule) => rule.plainHttp),
    internal: Object.fromEntries(
      named.map((host) => [
        host,
        /^(?:localhost|127\.\d+\.\d+\.\d+)(?::\d+)?$/.test(host) ? loopbackAddresses : privateAddresses,
      ]),
    ),
  }
}

function parseToml(text: string, name: string): Record<string, unknown> {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    throw new RegistryError('malformed', `${name}, line ${error.line}: it is not valid TOML`, {
      cause: error,
    })
  }
}

function hasSearch(data: Record<string, unknown>): boolean {
  const search = data['unqualified-search-registries']
  return Array.isArray(search) && search.some((host) => host !== 'docker.io')
}

function cleanName(text: string, name: string): string {
  const clean = text.replace(/\/+$/, '')
  const [host = '', ...path] = clean.split('/')
  const lower = host.toLowerCase()
  const isName =
    /^(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?$/.test(lower) &&
    path.every((part) => /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/.test(part))
  if (!isName)
    throw wrong(
      name,
      `${JSON.stringify(text.slice(0, 100))} is no registry and path (without scheme, tag and digest)`,
    )
  const canonical = lower === 'index.docker.io' ? 'docker.io' : lower
  return [canonical, ...path].join('/')
}

function hostOf(place: string): string {
  return place.split('/')[0] ?? ''
}

async function dropIns(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder))
      .filter((entry) => entry.endsWith('.conf'))
      .sort()
      .map((entry) => join(folder, entry))
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw wrong(folder, 'it cannot be read', error)
  }
}

async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw wrong(path, 'it cannot be read', error)
  }
}

function wrong(name: string, reason: string, cause?: unknown): RegistryError {
  return new RegistryError('malformed', `${name}: ${reason}`, { cause })
}
