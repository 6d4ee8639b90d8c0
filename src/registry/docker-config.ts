// Reads Docker's and podman's credential files and Kubernetes pull secrets: one format in four places.
// Reads what the operator gave; never looks at a repository's content, never writes.
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { askCredentialHelper, type HelperOptions } from './credential-helper.ts'
import type { Credential, CredentialSource } from './credentials.ts'
import { RegistryError } from './registry-error.ts'

interface AuthEntry {
  readonly auth?: unknown
  readonly username?: unknown
  readonly password?: unknown
  readonly identitytoken?: unknown
  readonly registrytoken?: unknown
}

export interface DockerConfig {
  readonly auths: ReadonlyMap<string, AuthEntry>
  readonly credsStore?: string
  readonly credHelpers: ReadonlyMap<string, string>
}

/**
 * Takes the text of a `config.json`, `auth.json`, `.dockerconfigjson` or the older `.dockercfg` (which is the
 * `auths` map alone). Throws a RegistryError `credentials` when it is not such a file; `name` says which in the text.
 */
export function parseDockerConfig(text: string, name: string): DockerConfig {
  let data: unknown
  try {
    data = JSON.parse(text)
  } catch {
    // The parser's own words quote the file, so they are dropped: the file holds passwords.
    throw new RegistryError('credentials', `${name} is not JSON`)
  }
  const top = asObject(data, name)
  const isOld = !['auths', 'credsStore', 'credHelpers'].some((key) => key in top) && looksLikeAuths(top)
  const auths = isOld ? top : top['auths'] === undefined ? {} : asObject(top['auths'], `${name}, auths`)
  const helpers = top['credHelpers'] === undefined ? {} : asObject(top['credHelpers'], `${name}, credHelpers`)
  const store = top['credsStore']
  return {
    auths: new Map(
      Object.entries(auths).map(([key, entry]) => [
        canonicalKey(key),
        asObject(entry ?? {}, `${name}, auths, ${key}`),
      ]),
    ),
    ...(typeof store === 'string' && store !== '' && { credsStore: store }),
    credHelpers: new Map(
      Object.entries(helpers).map(([key, helper]) => [
        canonicalKey(key),
        typeof helper === 'string' ? helper : '',
      ]),
    ),
  }
}

/** A source over one parsed file: `credHelpers`, then the most specific key of `auths`, then `credsStore`. */
export function dockerConfigCredentials(config: DockerConfig, options: HelperOptions = {}): CredentialSource {
  return {
    async find(host, repository) {
      const helper = config.credHelpers.get(host)
      if (helper !== undefined) return askCredentialHelper(helper, serverUrl(host), options)
      // podman's files may name repositories; the longest prefix on a slash wins. Only whole keys are compared.
      const parts = [host, ...repository.split('/')]
      for (let length = parts.length; length > 0; length -= 1) {
        const entry = config.auths.get(parts.slice(0, length).join('/'))
        const credential = entry && readEntry(entry, parts.slice(0, length).join('/'))
        if (credential) return credential
      }
      return config.credsStore === undefined
        ? undefined
        : askCredentialHelper(config.credsStore, serverUrl(host), options)
    },
  }
}

/** A Kubernetes secret of type `kubernetes.io/dockerconfigjson` or `kubernetes.io/dockercfg`, as its data map (base64). */
export function pullSecretCredentials(
  data: Readonly<Record<string, string>>,
  name: string,
): CredentialSource {
  const encoded = data['.dockerconfigjson'] ?? data['.dockercfg']
  if (encoded === undefined) throw new RegistryError('credentials', `the secret ${name} is not a pull secret`)
  return dockerConfigCredentials(
    parseDockerConfig(Buffer.from(encoded, 'base64').toString('utf8'), `the secret ${name}`),
  )
}

/**
 * The files that docker and podman read, in the order in which they win. Files that do not exist are left out;
 * one that exists and cannot be read throws. `environment` is the process's environment.
 */
export async function systemCredentials(
  environment: Readonly<Record<string, string | undefined>>,
  options: HelperOptions = {},
): Promise<readonly CredentialSource[]> {
  const home = environment['HOME'] ?? homedir()
  const configHome = environment['XDG_CONFIG_HOME'] ?? join(home, '.config')
  const runtime = environment['XDG_RUNTIME_DIR']
  const sources: CredentialSource[] = []
  const inline = environment['DOCKER_AUTH_CONFIG']
  if (inline) sources.push(dockerConfigCredentials(parseDockerConfig(inline, 'DOCKER_AUTH_CONFIG'), options))
  const dockerFolder = environment['DOCKER_CONFIG'] ?? join(home, '.docker')
  const paths = [
    environment['REGISTRY_AUTH_FILE'],
    runtime && join(runtime, 'containers', 'auth.json'),
    join(configHome, 'containers', 'auth.json'),
    join(dockerFolder, 'config.json'),
  ].filter((path) => path !== undefined && path !== '')
  for (const path of paths) {
    const text = await readIfPresent(path as string)
    if (text !== undefined)
      sources.push(dockerConfigCredentials(parseDockerConfig(text, path as string), options))
  }
  return sources
}

async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new RegistryError('credentials', `${path} cannot be read`, { cause })
  }
}

function readEntry(entry: AuthEntry, key: string): Credential | undefined {
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
  const registryToken = text(entry.registrytoken)
  if (registryToken !== undefined) return { kind: 'bearer', token: registryToken }
  const identityToken = text(entry.identitytoken)
  if (identityToken !== undefined) return { kind: 'identity', token: identityToken }
  const auth = text(entry.auth)
  if (auth !== undefined) {
    if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(auth))
      throw new RegistryError('credentials', `the "auth" of ${key} is not base64`)
    const decoded = Buffer.from(auth, 'base64').toString('utf8')
    const colon = decoded.indexOf(':')
    if (colon < 1) throw new RegistryError('credentials', `the "auth" of ${key} is not user:password`)
    // Some writers pad the password with NULs.
    const password = decoded.slice(colon + 1).replace(/\0+$/, '')
    return { kind: 'basic', username: decoded.slice(0, colon), password }
  }
  const username = text(entry.username)
  const password = text(entry.password)
  if (username !== undefined && password !== undefined) return { kind: 'basic', username, password }
  if (username !== undefined || password !== undefined)
    throw new RegistryError('credentials', `the entry of ${key} has a user without a password`)
  return undefined
}

// Keys may be URLs of long-gone API versions. Host names are compared whole: a key that merely contains a host
// must never match it.
function canonicalKey(key: string): string {
  const bare = key.replace(/^https?:\/\//i, '').replace(/\/(?:v[12])?\/?$/i, '')
  const slash = bare.indexOf('/')
  const host = (slash < 0 ? bare : bare.slice(0, slash)).toLowerCase()
  const path = slash < 0 ? '' : bare.slice(slash)
  return `${host === 'index.docker.io' || host === 'registry-1.docker.io' ? 'docker.io' : host}${path}`
}

/** What a helper is asked for: Docker Hub's entry has kept the name of its first API. */
function serverUrl(host: string): string {
  return host === 'docker.io' ? 'https://index.docker.io/v1/' : host
}

function asObject(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RegistryError('credentials', `${name} is not an object`)
  return value as Record<string, unknown>
}

function looksLikeAuths(top: Record<string, unknown>): boolean {
  const entries = Object.values(top)
  return (
    entries.length > 0 &&
    entries.every(
      (entry) => typeof entry === 'object' && entry !== null && ('auth' in entry || 'username' in entry),
    )
  )
}
