// Parses docker's and podman's credential files and Kubernetes pull secrets, which share one format.
import { createCachedHelperQuery, type CredentialHelperQuery } from './credential-helper.ts'
import type { RegistryCredential, CredentialSource } from './credentials.ts'
import { RegistryError } from '../registry-error.ts'

interface DockerAuthEntry {
  readonly auth?: unknown
  readonly username?: unknown
  readonly password?: unknown
  readonly identitytoken?: unknown
  readonly registrytoken?: unknown
}

export interface DockerConfig {
  readonly auths: ReadonlyMap<string, DockerAuthEntry>
  readonly credsStore?: string
  readonly credHelpers: ReadonlyMap<string, string>
}

/**
 * Parses `config.json`, `auth.json`, `.dockerconfigjson` or `.dockercfg` (only the `auths` map). Throws a RegistryError
 * `credentials` that names the file as `name`.
 */
export function parseDockerConfig(text: string, name: string): DockerConfig {
  let data: unknown
  try {
    data = JSON.parse(text)
  } catch {
    // The parser's message quotes the file, which holds passwords.
    throw new RegistryError('credentials', `${name} is not valid JSON`)
  }
  const top = requireJsonObject(data, name)
  const isOld = !['auths', 'credsStore', 'credHelpers'].some((key) => key in top) && isDockercfgAuthMap(top)
  const auths = isOld
    ? top
    : top['auths'] === undefined
      ? {}
      : requireJsonObject(top['auths'], `${name}, auths`)
  const helpers =
    top['credHelpers'] === undefined ? {} : requireJsonObject(top['credHelpers'], `${name}, credHelpers`)
  const store = top['credsStore']
  return {
    auths: new Map(
      Object.entries(auths).map(([key, entry]) => [
        normalizeDockerAuthKey(key),
        requireJsonObject(entry ?? {}, `${name}, auths, ${key}`),
      ]),
    ),
    ...(typeof store === 'string' && store !== '' && { credsStore: store }),
    credHelpers: new Map(
      Object.entries(helpers).map(([key, helper]) => [
        normalizeDockerAuthKey(key),
        typeof helper === 'string' ? helper : '',
      ]),
    ),
  }
}

/** Looks in `credHelpers`, then `credsStore`, then at the most specific key of `auths`. */
export function createDockerConfigCredentials(
  config: DockerConfig,
  queryHelper: CredentialHelperQuery = createCachedHelperQuery(),
): CredentialSource {
  return {
    async find(host, repository) {
      const helper = config.credHelpers.get(host)
      if (helper !== undefined) return queryHelper(helper, getCredentialHelperServerUrl(host))
      const stored =
        config.credsStore && (await queryHelper(config.credsStore, getCredentialHelperServerUrl(host)))
      if (stored && stored.kind !== 'anonymous') return stored
      // podman's keys may name repositories; the longest prefix of whole path components wins.
      const parts = [host, ...repository.split('/')]
      for (let length = parts.length; length > 0; length -= 1) {
        const entry = config.auths.get(parts.slice(0, length).join('/'))
        const credential = entry && parseAuthEntry(entry, parts.slice(0, length).join('/'))
        if (credential) return credential
      }
      return undefined
    },
  }
}

function parseAuthEntry(entry: DockerAuthEntry, key: string): RegistryCredential | undefined {
  const nonEmptyString = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
  const registryToken = nonEmptyString(entry.registrytoken)
  if (registryToken !== undefined) return { kind: 'bearer', token: registryToken }
  const identityToken = nonEmptyString(entry.identitytoken)
  if (identityToken !== undefined) return { kind: 'identity', token: identityToken }
  const auth = nonEmptyString(entry.auth)
  if (auth !== undefined) {
    if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(auth))
      throw new RegistryError('credentials', `the "auth" value for ${key} is not valid base64`)
    const decoded = Buffer.from(auth, 'base64').toString('utf8')
    const colon = decoded.indexOf(':')
    if (colon < 1)
      throw new RegistryError('credentials', `the "auth" value for ${key} does not contain USER:PASSWORD`)
    // Some writers pad the password with NULs.
    const password = decoded.slice(colon + 1).replace(/\0+$/, '')
    return { kind: 'basic', username: decoded.slice(0, colon), password }
  }
  const username = nonEmptyString(entry.username)
  const password = nonEmptyString(entry.password)
  if (username !== undefined && password !== undefined) return { kind: 'basic', username, password }
  if (username !== undefined || password !== undefined)
    throw new RegistryError('credentials', `the entry for ${key} must have both a user name and a password`)
  return undefined
}

// Keys may be URLs of old API versions. Host names must match exactly, not as substrings.
function normalizeDockerAuthKey(key: string): string {
  const bare = key.replace(/^https?:\/\//i, '').replace(/\/(?:v[12])?\/?$/i, '')
  const slash = bare.indexOf('/')
  const host = (slash < 0 ? bare : bare.slice(0, slash)).toLowerCase()
  const path = slash < 0 ? '' : bare.slice(slash)
  return `${host === 'index.docker.io' || host === 'registry-1.docker.io' ? 'docker.io' : host}${path}`
}

/** The server URL to query a helper for. Docker Hub's entry still has the name of its first API. */
function getCredentialHelperServerUrl(host: string): string {
  return host === 'docker.io' ? 'https://index.docker.io/v1/' : host
}

function requireJsonObject(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RegistryError('credentials', `${name} is not a JSON object`)
  return value as Record<string, unknown>
}

function isDockercfgAuthMap(top: Record<string, unknown>): boolean {
  const entries = Object.values(top)
  return (
    entries.length > 0 &&
    entries.every(
      (entry) => typeof entry === 'object' && entry !== null && ('auth' in entry || 'username' in entry),
    )
  )
}
