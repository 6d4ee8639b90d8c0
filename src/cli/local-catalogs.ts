// Finds catalogs in the current repository in the same way as catalog-bot. Does not follow symbolic links.
import { execFile } from 'node:child_process'
import { createReadStream, existsSync, lstatSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { readRepositoryLayout } from '../catalogs/find-layout.ts'
import type { BlobSha } from '../pull-request/ids.ts'
import { maxConfigBytes } from '../config/config-file.ts'
import { configPath } from '../config/config-path.ts'
import { parseConfig, type Config } from '../config/config.ts'
import { formatSystemError } from './output.ts'

const execFileAsync = promisify(execFile)
/** Enough for half a million paths of typical length. */
const maxGitLsFilesOutputBytes = 64 * 1024 * 1024

/**
 * Returns at least one directory, relative to the current one, in version order. `config` is a configuration file that lists them,
 * or false for none. Throws an Error outside of a Git repository, or if no catalog is found.
 */
export async function listLocalCatalogDirectories(config?: string | false): Promise<string[]> {
  const { top, roots } = await findLocalCatalogRoots(config)
  if (roots.length > 0) return roots
  throw new Error(
    `no catalog found in ${top}: specify its directory, or list it under "catalogs" in ${configPath}`,
  )
}

/** Like `listLocalCatalogDirectories`, but also returns the root of the repository, and accepts that no catalog is found. */
export async function findLocalCatalogRoots(
  config?: string | false,
): Promise<{ readonly top: string; readonly roots: string[] }> {
  const [top = '', listed = ''] = await listGitFiles()
  const paths = listed.split('\0').filter((path) => path !== '')
  const layout = await readRepositoryLayout(
    { read: (path, limit = Infinity) => Promise.resolve(readRegularFileOrEmpty(join(top, path), limit)) },
    paths.map((path) => ({ path, mode: '100644', oid: path as BlobSha })),
    await readConfiguredCatalogs(config === undefined ? join(top, configPath) : config, config !== undefined),
  )
  return { top, roots: layout.catalogs.map(({ root }) => relative('', join(top, root)) || '.') }
}

/** The root of the repository, and its files that are tracked or could be added, each terminated by NUL. */
async function listGitFiles(): Promise<string[]> {
  try {
    const { stdout } = await execFileAsync('git', ['rev-parse', '--show-toplevel'])
    const top = stdout.replace(/\n$/, '')
    const files = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
    return [
      top,
      (await execFileAsync('git', ['-C', top, ...files], { maxBuffer: maxGitLsFilesOutputBytes })).stdout,
    ]
  } catch (cause) {
    if (formatSystemError(cause) !== undefined) throw cause
    const advice = 'change to your catalog repository, or name a catalog directory if the command accepts one'
    throw new Error(`the current directory is not in a Git repository; ${advice}`, { cause })
  }
}

function readRegularFileOrEmpty(path: string, limit: number): Uint8Array {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isFile() === true && found.size <= limit ? readFileSync(path) : new Uint8Array()
}

async function readConfiguredCatalogs(file: string | false, isNamed: boolean): Promise<Config['catalogs']> {
  if (file === false || (!isNamed && !existsSync(file))) return []
  const parsed = parseConfig(await text(createReadStream(resolve(file), { end: maxConfigBytes })))
  if (parsed.kind === 'config') return parsed.config.catalogs
  throw new Error(
    parsed.findings.map(({ at, what }) => `${file}:${at?.line ?? 1}:${at?.column ?? 1}: ${what}`).join('\n'),
  )
}
