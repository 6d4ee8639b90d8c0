// Reads docker's and podman's credential files and mounted Kubernetes pull secrets. Rereads changed files because
// tokens rotate.
import { readdir, readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import {
  type CredentialSource,
  createCachedCredentialHelperQuery,
  type CredentialHelperQuery,
  type CredentialHelperOptions,
  type RegistryCredential,
} from './credentials.ts'
import { RegistryError } from '../registry-error.ts'

interface DockerAuthEntry {
  readonly auth?: unknown
  readonly username?: unknown
  readonly password?: unknown
  readonly identitytoken?: unknown
  readonly registrytoken?: unknown
}

interface DockerConfig {
  readonly auths: ReadonlyMap<string, DockerAuthEntry>
  readonly credsStore?: string
  readonly credHelpers: ReadonlyMap<string, string>
}

// Milliseconds between checks for a changed file.
const credentialFileRecheckIntervalMs = 10_000

/**
 * Credentials from `PULL_SECRETS`, then from docker's and podman's files, in that order. Skips missing files. Rejects
 * if one can't be read. `environment` is the process's environment.
 */
export async function loadSystemCredentials(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<readonly CredentialSource[]> {
  const home = environment['HOME'] ?? homedir()
  const configHome = environment['XDG_CONFIG_HOME'] ?? join(home, '.config')
  const runtime = environment['XDG_RUNTIME_DIR']
  const queryHelper = createCachedCredentialHelperQuery()
  const secrets = environment['PULL_SECRETS']
  const sources = secrets ? [...(await loadMountedPullSecrets(secrets))] : []
  const inline = environment['DOCKER_AUTH_CONFIG']
  if (inline)
    sources.push(createDockerConfigCredentials(parseDockerConfig(inline, 'DOCKER_AUTH_CONFIG'), queryHelper))
  const paths = [
    environment['REGISTRY_AUTH_FILE'],
    runtime && join(runtime, 'containers', 'auth.json'),
    join(configHome, 'containers', 'auth.json'),
    join(environment['DOCKER_CONFIG'] ?? join(home, '.docker'), 'config.json'),
    join(home, '.dockercfg'),
  ]
  for (const path of paths) {
    const source = path ? await createReloadingCredentialSource(path, queryHelper) : undefined
    if (source) sources.push(source)
  }
  return sources
}

/**
 * The pull secrets mounted below a directory, sorted by name: `.dockerconfigjson` or `.dockercfg`, in the directory or
 * its folders. Rejects if no secret is found.
 */
export async function loadMountedPullSecrets(
  directory: string,
  options: CredentialHelperOptions = {},
): Promise<readonly CredentialSource[]> {
  // A helper named in a cluster secret runs as a local program like any other.
  const queryHelper = createCachedCredentialHelperQuery(options)
  const folders = [
    directory,
    ...(await listVisibleFileNames(directory)).map((folder) => join(directory, folder)),
  ]
  const sources: CredentialSource[] = []
  for (const folder of folders)
    for (const name of ['.dockerconfigjson', '.dockercfg']) {
      const source = await createReloadingCredentialSource(join(folder, name), queryHelper, options.now)
      if (source) sources.push(source)
    }
  if (sources.length === 0)
    throw new RegistryError(
      'credentials',
      `${directory} contains no pull secret; add a .dockerconfigjson or .dockercfg file to it or to an immediate subfolder`,
    )
  return sources
}

/** The credentials of one file only. Rejects if it is missing or cannot be used. */
export async function loadCredentialFile(path: string): Promise<CredentialSource> {
  const source = await createReloadingCredentialSource(path, createCachedCredentialHelperQuery())
  if (source === undefined) throw new RegistryError('credentials', `${path} does not exist`)
  return source
}

/** Undefined if the file does not exist. Rejects if it cannot be used. */
async function createReloadingCredentialSource(
  path: string,
  queryHelper: CredentialHelperQuery,
  now: () => number = () => performance.now(),
): Promise<CredentialSource | undefined> {
  let version = await readFileFingerprint(path)
  if (version === undefined) return undefined
  const load = async (): Promise<CredentialSource> =>
    createDockerConfigCredentials(parseDockerConfig(await readCredentialFile(path), path), queryHelper)
  let source = Promise.resolve(await load())
  let checkedAt = now()
  return {
    async find(host, repository) {
      if (now() - checkedAt >= credentialFileRecheckIntervalMs) {
        checkedAt = now()
        const found = await readFileFingerprint(path)
        // A missing file keeps its last content: it is being replaced, or the registry will soon reject the
        // credentials.
        if (found !== undefined && found !== version) {
          version = found
          source = load()
          // The caller handles the rejection; this avoids an unhandled one.
          source.catch(() => undefined)
        }
      }
      return (await source).find(host, repository)
    },
  }
}

async function readFileFingerprint(path: string): Promise<string | undefined> {
  try {
    const { mtimeMs, size, ino } = await stat(path)
    return `${mtimeMs} ${size} ${ino}`
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes((cause as NodeJS.ErrnoException).code ?? '')) return undefined
    throw new RegistryError('credentials', `cannot read ${path}`, { cause })
  }
}

async function readCredentialFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new RegistryError('credentials', `cannot read ${path}`, { cause })
  }
}

async function listVisibleFileNames(directory: string): Promise<readonly string[]> {
  try {
    // Kubernetes keeps the real files in folders that start with ".." and links to them.
    return (await readdir(directory)).filter((name) => !name.startsWith('.')).sort()
  } catch (cause) {
    throw new RegistryError('credentials', `PULL_SECRETS: cannot read ${directory}`, { cause })
  }
}

/**
 * Parses docker's and podman's credential files and Kubernetes pull secrets, which share one format. Parses
 * `config.json`, `auth.json`, `.dockerconfigjson` or `.dockercfg` (only the `auths` map). Throws a RegistryError
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
  queryHelper: CredentialHelperQuery = createCachedCredentialHelperQuery(),
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
