// Credentials in files of this machine: docker's, podman's, and Kubernetes pull secrets mounted into a directory.
// Files are read again when they change, because tokens in them are rotated. Never writes.
import { readdir, readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { rememberedHelpers, type AskHelper, type HelperOptions } from './credential-helper.ts'
import type { CredentialSource } from './credentials.ts'
import { dockerConfigCredentials, parseDockerConfig } from './docker-config.ts'
import { RegistryError } from '../registry-error.ts'

// Milliseconds for which a file is believed to be as it was.
const lookAgainAfter = 10_000

/**
 * `PULL_SECRETS`, then the files that docker and podman read, in the order in which they win. Files that do not exist
 * are left out; one that exists and cannot be used rejects. `environment` is the process's environment.
 */
export async function systemCredentials(
  environment: Readonly<Record<string, string | undefined>>,
  options: HelperOptions = {},
): Promise<readonly CredentialSource[]> {
  const home = environment['HOME'] ?? homedir()
  const configHome = environment['XDG_CONFIG_HOME'] ?? join(home, '.config')
  const runtime = environment['XDG_RUNTIME_DIR']
  const ask = rememberedHelpers(options)
  const secrets = environment['PULL_SECRETS']
  const sources = secrets ? [...(await mountedPullSecrets(secrets, options))] : []
  const inline = environment['DOCKER_AUTH_CONFIG']
  if (inline) sources.push(dockerConfigCredentials(parseDockerConfig(inline, 'DOCKER_AUTH_CONFIG'), ask))
  const paths = [
    environment['REGISTRY_AUTH_FILE'],
    runtime && join(runtime, 'containers', 'auth.json'),
    join(configHome, 'containers', 'auth.json'),
    join(environment['DOCKER_CONFIG'] ?? join(home, '.docker'), 'config.json'),
    join(home, '.dockercfg'),
  ]
  for (const path of paths) {
    const source = path ? await fileCredentials(path, ask, options.now) : undefined
    if (source) sources.push(source)
  }
  return sources
}

/**
 * The pull secrets mounted below a directory: each a folder (or the directory itself) with a `.dockerconfigjson` or the
 * older `.dockercfg`, as Kubernetes mounts them. In the order of their names. Rejects when there is none.
 */
export async function mountedPullSecrets(
  directory: string,
  options: HelperOptions = {},
): Promise<readonly CredentialSource[]> {
  // What a secret of the cluster names as a helper is a program of this machine all the same: it is run as any other.
  const ask = rememberedHelpers(options)
  const folders = [directory, ...(await foldersOf(directory)).map((folder) => join(directory, folder))]
  const sources: CredentialSource[] = []
  for (const folder of folders)
    for (const name of ['.dockerconfigjson', '.dockercfg']) {
      const source = await fileCredentials(join(folder, name), ask, options.now)
      if (source) sources.push(source)
    }
  if (sources.length === 0)
    throw new RegistryError(
      'credentials',
      `${directory} has no pull secret: neither a .dockerconfigjson nor a .dockercfg, in it or one folder down`,
    )
  return sources
}

/** The credentials of one file and of no other place. Rejects when there is none, or it cannot be used. */
export async function credentialsInFile(
  path: string,
  options: HelperOptions = {},
): Promise<CredentialSource> {
  const source = await fileCredentials(path, rememberedHelpers(options), options.now)
  if (source === undefined) throw new RegistryError('credentials', `${path} does not exist`)
  return source
}

/** A source over a file, or undefined when there is none now. Rejects when it cannot be used. */
async function fileCredentials(
  path: string,
  ask: AskHelper,
  now: () => number = () => performance.now(),
): Promise<CredentialSource | undefined> {
  let version = await versionOf(path)
  if (version === undefined) return undefined
  const load = async (): Promise<CredentialSource> =>
    dockerConfigCredentials(parseDockerConfig(await read(path), path), ask)
  let source = Promise.resolve(await load())
  let lookedAt = now()
  return {
    async find(host, repository) {
      if (now() - lookedAt >= lookAgainAfter) {
        lookedAt = now()
        const found = await versionOf(path)
        // A file that is gone keeps its last word: it is being replaced, or its credentials will be refused soon.
        if (found !== undefined && found !== version) {
          version = found
          source = load()
          // Whoever asks hears of it, for as long as the file is wrong.
          source.catch(() => undefined)
        }
      }
      return (await source).find(host, repository)
    },
  }
}

async function versionOf(path: string): Promise<string | undefined> {
  try {
    const { mtimeMs, size, ino } = await stat(path)
    return `${mtimeMs} ${size} ${ino}`
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes((cause as NodeJS.ErrnoException).code ?? '')) return undefined
    throw new RegistryError('credentials', `${path} cannot be read`, { cause })
  }
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new RegistryError('credentials', `${path} cannot be read`, { cause })
  }
}

async function foldersOf(directory: string): Promise<readonly string[]> {
  try {
    // Kubernetes keeps the real files in folders that begin with "..", and links to them.
    return (await readdir(directory)).filter((name) => !name.startsWith('.')).sort()
  } catch (cause) {
    throw new RegistryError('credentials', `${directory} cannot be read`, { cause })
  }
}
