// Reads docker's and podman's credential files and mounted Kubernetes pull secrets. Rereads changed files because
// tokens rotate.
import { readdir, readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import {
  createCachedHelperQuery,
  type CredentialHelperQuery,
  type CredentialHelperOptions,
} from './credential-helper.ts'
import type { CredentialSource } from './credentials.ts'
import { createDockerConfigCredentials, parseDockerConfig } from './docker-config.ts'
import { RegistryError } from '../registry-error.ts'

// Milliseconds between checks for a changed file.
const credentialFileRecheckIntervalMs = 10_000

/**
 * Credentials from `PULL_SECRETS`, then from docker's and podman's files, in that order. Skips missing files. Rejects
 * if one can't be read. `environment` is the process's environment.
 */
export async function loadSystemCredentials(
  environment: Readonly<Record<string, string | undefined>>,
  options: CredentialHelperOptions = {},
): Promise<readonly CredentialSource[]> {
  const home = environment['HOME'] ?? homedir()
  const configHome = environment['XDG_CONFIG_HOME'] ?? join(home, '.config')
  const runtime = environment['XDG_RUNTIME_DIR']
  const queryHelper = createCachedHelperQuery(options)
  const secrets = environment['PULL_SECRETS']
  const sources = secrets ? [...(await loadMountedPullSecrets(secrets, options))] : []
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
    const source = path ? await openCredentialFile(path, queryHelper, options.now) : undefined
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
  const queryHelper = createCachedHelperQuery(options)
  const folders = [
    directory,
    ...(await listVisibleDirectoryNames(directory)).map((folder) => join(directory, folder)),
  ]
  const sources: CredentialSource[] = []
  for (const folder of folders)
    for (const name of ['.dockerconfigjson', '.dockercfg']) {
      const source = await openCredentialFile(join(folder, name), queryHelper, options.now)
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
export async function loadCredentialFile(
  path: string,
  options: CredentialHelperOptions = {},
): Promise<CredentialSource> {
  const source = await openCredentialFile(path, createCachedHelperQuery(options), options.now)
  if (source === undefined) throw new RegistryError('credentials', `${path} does not exist`)
  return source
}

/** Undefined if the file does not exist. Rejects if it cannot be used. */
async function openCredentialFile(
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

async function listVisibleDirectoryNames(directory: string): Promise<readonly string[]> {
  try {
    // Kubernetes keeps the real files in folders that start with ".." and links to them.
    return (await readdir(directory)).filter((name) => !name.startsWith('.')).sort()
  } catch (cause) {
    throw new RegistryError('credentials', `cannot read ${directory}`, { cause })
  }
}
