// The rule switches for validating a local directory. Reads the working copy; the bot reads the base branch.
import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { RuleSettings } from '../checks/validation/rule-settings.ts'
import { configPath } from '../config/config-path.ts'

export interface LocalConfig {
  readonly settings: RuleSettings
  /** Allowed image registries; an empty list allows all. */
  readonly registries: readonly string[]
  /** The directory's path in its repository, by which the switches name files. */
  readonly root: string
}

/**
 * The configuration for a directory: from `file`, or from `.github/catalog-bot.yml` at the top of its repository, or
 * the default. Throws an Error with every problem's place for a file that is no configuration or cannot be read.
 */
export async function loadLocalConfig(directory: string, file: string | undefined): Promise<LocalConfig> {
  const there = realpathSync(directory)
  const top = findRepositoryRoot(there)
  const path = file === undefined ? join(top, configPath) : resolve(file)
  const root = relative(top, there).split(sep).join('/')
  if (file === undefined && !existsSync(path)) return { settings: {}, registries: [], root }
  const content = readPlainFile(path, file === undefined)
  // Loaded on demand, because schema and rules take longer to load than most catalogs to judge.
  const { parseConfigFile: readConfigFile } = await import('../config/config-file.ts')
  const { allRules } = await import('../checks/all-rules.ts')
  const { config, findings } = readConfigFile(content, new Set(allRules.map(({ id }) => id)))
  if (config !== undefined && findings.length === 0)
    return { settings: config.rules, registries: config.images.registries, root }
  throw new Error(
    findings.map(({ at, what }) => `${path}:${at?.line ?? 1}:${at?.column ?? 1}: ${what}`).join('\n'),
  )
}

/** Follows a link that the user named, but rejects one in the bot's place as the bot does. */
function readPlainFile(path: string, isBots: boolean): Uint8Array | 'link' | 'directory' {
  if (isBots && lstatSync(path).isSymbolicLink()) return 'link'
  return statSync(path).isDirectory() ? 'directory' : readFileSync(path)
}

/** The nearest directory upwards that has a configuration or is a repository; the directory itself where none is. */
function findRepositoryRoot(directory: string): string {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, configPath)) || existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return directory
  }
}
