// Parses the operator's registries.conf as podman and skopeo do (containers-registries.conf(5), version 2).
import { readdir, readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parse, TomlError } from 'smol-toml'
import { z } from 'zod'
import { describeSchemaProblem } from '../../config/text-problems.ts'
import type { ImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import type { EgressOptions } from './transport/egress-policy.ts'
import { RegistryError } from './registry-error.ts'

interface RegistryMirror {
  /** The mirror's host and path, which replace the prefix: `mirror.example`, `mirror.example/quay`. */
  readonly location: string
  /** Default: all. A digest-only mirror cannot serve an outdated tag. */
  readonly for?: 'all' | 'digests' | 'tags'
}

/** One `[[registry]]` of registries.conf. */
export interface RegistriesConfRule {
  /** A host, optionally with a path (`quay.io`, `quay.io/operatorhubio`), or `*.example.com` for subdomains. */
  readonly prefix: string
  /** Replaces the prefix if no mirror has the image. Default: the prefix. */
  readonly location?: string
  /** True blocks all requests for the prefix. */
  readonly blocked?: boolean
  readonly mirrors?: readonly RegistryMirror[]
}

export interface RegistryEndpoint {
  /** The name in credentials and messages: `docker.io`. */
  readonly name: string
  /** Where connections go: `registry-1.docker.io`. */
  readonly host: string
  readonly repository: string
  readonly isMirror: boolean
}

export interface ConfiguredRegistry extends RegistriesConfRule {
  /** Hosts to reach without TLS (`insecure = true`). */
  readonly plainHttp: readonly string[]
  /** Configured hosts: mirrors, replaced locations and insecure hosts. Only these may have private addresses. */
  readonly named: readonly string[]
}

const registryMirrorSchema = z.strictObject({
  location: z.string().min(1),
  insecure: z.boolean().default(false),
  'pull-from-mirror': z.enum(['all', 'digest-only', 'tag-only']).optional(),
})
const registrySchema = z.strictObject({
  prefix: z.string().min(1).optional(),
  location: z.string().min(1).optional(),
  insecure: z.boolean().default(false),
  blocked: z.boolean().default(false),
  'mirror-by-digest-only': z.boolean().default(false),
  mirror: z.array(registryMirrorSchema).default([]),
})
const registriesConfSchema = z.looseObject({ registry: z.array(registrySchema).default([]) })

const mirrorUsageByPullFromMirrorOption = {
  all: 'all',
  'digest-only': 'digests',
  'tag-only': 'tags',
} as const

/**
 * Throws a RegistryError `malformed` that names the file for invalid TOML, unknown keys and values, duplicate prefixes
 * and the old version 1.
 */
export function parseRegistriesConf(text: string, name: string): readonly ConfiguredRegistry[] {
  const data = parseToml(text, name)
  if ('registries' in data)
    throw createRegistriesConfError(
      name,
      'the file uses version 1 ([registries.search]); use [[registry]] tables instead',
    )
  const result = registriesConfSchema.safeParse(data, { error: describeSchemaProblem })
  if (!result.success) {
    const issue = result.error.issues[0]
    throw createRegistriesConfError(name, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`)
  }
  const rules: ConfiguredRegistry[] = []
  for (const entry of result.data.registry) {
    const plainHttp: string[] = []
    const named: string[] = []
    const written = entry.prefix ?? entry.location
    if (written === undefined)
      throw createRegistriesConfError(name, 'a [[registry]] table has neither a prefix nor a location')
    const prefix = normalizeRegistryName(written, name)
    const location = entry.location === undefined ? undefined : normalizeRegistryName(entry.location, name)
    if (location?.startsWith('*.'))
      throw createRegistriesConfError(name, `the location of ${prefix} must not contain a wildcard`)
    if (prefix.startsWith('*.') && entry.insecure && location === undefined)
      throw createRegistriesConfError(
        name,
        `${prefix} cannot be insecure; list each insecure host separately`,
      )
    if (rules.some((rule) => rule.prefix === prefix))
      throw createRegistriesConfError(name, `${prefix} is defined twice`)
    const itself = getLocationHost(location ?? prefix)
    if (entry.insecure || itself !== getLocationHost(prefix)) named.push(itself)
    if (entry.insecure) plainHttp.push(itself)
    const mirrors = entry.mirror.map((one) => {
      if (entry['mirror-by-digest-only'] && one['pull-from-mirror'] !== undefined)
        throw createRegistriesConfError(
          name,
          `${prefix} sets both mirror-by-digest-only and pull-from-mirror, which conflict`,
        )
      const mirrorLocation = normalizeRegistryName(one.location, name)
      if (mirrorLocation.startsWith('*.'))
        throw createRegistriesConfError(name, `a mirror of ${prefix} must not contain a wildcard`)
      named.push(getLocationHost(mirrorLocation))
      if (one.insecure) plainHttp.push(getLocationHost(mirrorLocation))
      const all = entry['mirror-by-digest-only'] ? 'digest-only' : 'all'
      return {
        location: mirrorLocation,
        for: mirrorUsageByPullFromMirrorOption[one['pull-from-mirror'] ?? all],
      }
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
 * Reads the file in `REGISTRIES_CONF`, or the user's or else the machine's file, each with its `registries.conf.d`.
 * Later files win. Rejects with a RegistryError if a configured file is missing or invalid.
 */
export async function readRegistriesConf(
  environment: Readonly<Record<string, string | undefined>>,
  machineFolder = '/etc/containers',
): Promise<readonly ConfiguredRegistry[]> {
  const configuredPath = environment['REGISTRIES_CONF'] ?? environment['CONTAINERS_REGISTRIES_CONF']
  const home = environment['HOME'] ?? homedir()
  const userFolder = join(environment['XDG_CONFIG_HOME'] ?? join(home, '.config'), 'containers')
  const rules = new Map<string, ConfiguredRegistry>()
  const addFile = async (path: string): Promise<boolean> => {
    const text = await readFileIfPresent(path)
    for (const rule of text === undefined ? [] : parseRegistriesConf(text, path)) rules.set(rule.prefix, rule)
    return text !== undefined
  }
  if (configuredPath) {
    if (!(await addFile(configuredPath)))
      throw createRegistriesConfError(configuredPath, 'the file does not exist')
    if (hasNonDockerHubSearchRegistry(parseToml(await readFile(configuredPath, 'utf8'), configuredPath)))
      throw createRegistriesConfError(
        configuredPath,
        'unqualified-search-registries is not supported; image names without a registry always mean docker.io',
      )
    for (const path of await listDropInFiles(`${configuredPath}.d`)) await addFile(path)
  } else {
    if (!(await addFile(join(userFolder, 'registries.conf'))))
      await addFile(join(machineFolder, 'registries.conf'))
    for (const folder of [machineFolder, userFolder])
      for (const path of await listDropInFiles(join(folder, 'registries.conf.d'))) await addFile(path)
  }
  return [...rules.values()]
}

// Private ranges for internal registries. Excludes link-local addresses because cloud metadata services return keys.
const privateAddressRanges = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7']
const loopbackAddressRanges = ['127.0.0.0/8', '::1/128']

/** Allows only the hosts that the file names, at private addresses. */
export function toEgressOptions(
  rules: readonly ConfiguredRegistry[],
): Required<Pick<EgressOptions, 'plainHttp' | 'internal'>> {
  const named = rules.flatMap((rule) => rule.named)
  return {
    plainHttp: rules.flatMap((rule) => rule.plainHttp),
    internal: Object.fromEntries(
      named.map((host) => [
        host,
        /^(?:localhost|127\.\d+\.\d+\.\d+)(?::\d+)?$/.test(host)
          ? loopbackAddressRanges
          : privateAddressRanges,
      ]),
    ),
  }
}

function parseToml(text: string, name: string): Record<string, unknown> {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    throw new RegistryError('malformed', `${name}, line ${error.line}: invalid TOML`, { cause: error })
  }
}

function hasNonDockerHubSearchRegistry(data: Record<string, unknown>): boolean {
  const search = data['unqualified-search-registries']
  return Array.isArray(search) && search.some((host) => host !== 'docker.io')
}

function normalizeRegistryName(text: string, name: string): string {
  const clean = text.replace(/\/+$/, '')
  const [host = '', ...path] = clean.split('/')
  const lower = host.toLowerCase()
  const isName =
    /^(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?$/.test(lower) &&
    path.every((part) => /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/.test(part))
  if (!isName)
    throw createRegistriesConfError(
      name,
      `${JSON.stringify(text.slice(0, 100))} is not a registry and path (without a scheme, tag, or digest)`,
    )
  const canonical = lower === 'index.docker.io' ? 'docker.io' : lower
  return [canonical, ...path].join('/')
}

const getLocationHost = (location: string): string => location.split('/')[0] ?? ''

async function listDropInFiles(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder))
      .filter((entry) => entry.endsWith('.conf'))
      .sort()
      .map((entry) => join(folder, entry))
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw createRegistriesConfError(folder, 'the file or folder cannot be read', error)
  }
}

async function readFileIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw createRegistriesConfError(path, 'the file or folder cannot be read', error)
  }
}

function createRegistriesConfError(name: string, reason: string, cause?: unknown): RegistryError {
  return new RegistryError('malformed', `${name}: ${reason}`, { cause })
}

/**
 * Maps a reference to the mirrors in the operator's rules, in order, followed by its own registry. The registry itself
 * is last. Only the rule with the longest match counts. Throws a RegistryError `blocked` if that rule says so.
 */
export function getRegistryEndpoints(
  reference: ImageReference,
  rules: readonly RegistriesConfRule[],
): readonly [...RegistryEndpoint[], RegistryEndpoint] {
  const full = `${reference.host}/${reference.repository}`
  let rule: RegistriesConfRule | undefined
  let matched = 0
  for (const candidate of rules) {
    const length = getRegistryPrefixMatchLength(full, candidate.prefix)
    if (length > matched) [rule, matched] = [candidate, length]
  }
  if (rule?.blocked)
    throw new RegistryError('blocked', `registries.conf on the catalog-bot host blocks ${rule.prefix}`)
  const kind = reference.digest === undefined ? 'tags' : 'digests'
  const below = full.slice(matched).replace(/^\//, '')
  const mirrors = (rule?.mirrors ?? []).filter((mirror) => ['all', kind].includes(mirror.for ?? 'all'))
  return [
    ...mirrors.map((mirror) => ({ ...splitEndpointLocation(mirror.location, below), isMirror: true })),
    {
      ...(rule?.location === undefined
        ? splitEndpointLocation(reference.host, reference.repository)
        : splitEndpointLocation(rule.location, below)),
      isMirror: false,
    },
  ]
}

function getRegistryPrefixMatchLength(name: string, prefix: string): number {
  if (!prefix.startsWith('*.')) return name === prefix || name.startsWith(`${prefix}/`) ? prefix.length : 0
  const suffix = prefix.slice(1)
  const [suffixHost = '', ...path] = suffix.split('/')
  const host = name.slice(0, name.indexOf('/'))
  if (!host.endsWith(suffixHost) || host.length === suffixHost.length) return 0
  const whole = [host, ...path].join('/')
  return name === whole || name.startsWith(`${whole}/`) ? whole.length : 0
}

function splitEndpointLocation(
  location: string,
  below: string,
): Pick<RegistryEndpoint, 'name' | 'host' | 'repository'> {
  const [host = '', ...path] = location.split('/')
  return {
    name: host,
    host: getRegistryApiHost(host),
    repository: [...path, below].filter((part) => part !== '').join('/'),
  }
}

// docker.io itself is a website, not a registry.
const getRegistryApiHost = (host: string): string => (host === 'docker.io' ? 'registry-1.docker.io' : host)
