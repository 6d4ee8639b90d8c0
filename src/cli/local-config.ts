// The rule settings for validating a local directory. Reads the working copy, whereas catalog-bot reads the base branch.
import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { RuleSettings } from '../checks/validation/rule-settings.ts'
import { configPath } from '../config/config-path.ts'

export interface LocalConfig {
  readonly settings: RuleSettings
  /** Allowed image registries. An empty list allows all. */
  readonly registries: readonly string[]
  /** Path of the directory in its repository, because the settings refer to files by such paths. */
  readonly root: string
}

/**
 * Loads the configuration for a directory: from `file`, from `.github/catalog-bot.yml` at the root of its repository, or the
 * default. If the file is invalid or unreadable, throws an Error with the location of each problem.
 */
export async function loadLocalConfig(directory: string, file: string | undefined): Promise<LocalConfig> {
  const there = realpathSync(directory)
  const top = findRepositoryRoot(there)
  const path = file === undefined ? join(top, configPath) : resolve(file)
  const root = relative(top, there).split(sep).join('/')
  if (file === undefined && !existsSync(path)) return { settings: {}, registries: [], root }
  const content = readRegularFile(path, file === undefined)
  // Loaded only if needed, because loading the schema and the rules takes longer than validating most catalogs.
  const { parseConfigFile: readConfigFile } = await import('../config/config-file.ts')
  const { allRules } = await import('../checks/all-rules.ts')
  const { config, findings } = readConfigFile(content, new Set(allRules.map(({ id }) => id)))
  if (config !== undefined && findings.length === 0)
    return { settings: config.rules, registries: config.images.registries, root }
  throw new Error(
    findings.map(({ at, what }) => `${path}:${at?.line ?? 1}:${at?.column ?? 1}: ${what}`).join('\n'),
  )
}

/** Follows a symbolic link that the user specified, but rejects one at the default path, as catalog-bot does. */
function readRegularFile(path: string, isBots: boolean): Uint8Array | 'link' | 'directory' {
  if (isBots && lstatSync(path).isSymbolicLink()) return 'link'
  return statSync(path).isDirectory() ? 'directory' : readFileSync(path)
}

/** The closest directory, upwards, that contains a configuration or is a repository. Default: the directory itself. */
function findRepositoryRoot(directory: string): string {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, configPath)) || existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return directory
  }
}
