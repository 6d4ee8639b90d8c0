// What lies at the configuration's place, before it is YAML: a file of text, or something that holds no configuration.
// Each says in its own words what it is, and what to do.
import type { Finding, Location } from '../findings/finding.ts'
import { createFinding } from '../findings/rule.ts'
import { configPath } from './config-path.ts'
import { findUnknownRules, parseConfig, type Config } from './config.ts'
import { configUnreadable } from './config-unreadable.ts'

/**
 * The owners of all packages of the largest public repository are a quarter of this. It is also read where deliveries are
 * answered, so that it must not take long.
 */
export const maxConfigBytes = 128 * 1024

/** What is no file, or none that is read. */
export type ConfigFileProblem = 'link' | 'submodule' | 'directory' | 'below-link' | 'too-large'

const regularFileFix = `A maintainer puts a regular file with the configuration at ${configPath} on the base branch.`

const configFileProblemTexts: Readonly<
  Record<ConfigFileProblem, { readonly problem: string; readonly fix: string }>
> = {
  link: { problem: 'it is a symbolic link, and the bot follows none', fix: regularFileFix },
  submodule: { problem: 'it is a submodule, and the bot reads none', fix: regularFileFix },
  directory: { problem: 'it is a directory, and must be a file', fix: regularFileFix },
  'below-link': {
    problem:
      'its directory is a link, a submodule or a file: a checkout may have a configuration there, the bot sees none',
    fix: `A maintainer makes .github a plain directory on the base branch.`,
  },
  'too-large': {
    problem: `it is larger than ${maxConfigBytes / 1024} KB`,
    fix: `A maintainer makes ${configPath} on the base branch smaller: lists of owners may stand in files beside the packages.`,
  },
}

export interface ConfigFileResult {
  /** Absent where it cannot be read. */
  readonly config?: Config
  readonly findings: readonly Finding[]
}

/** The configuration in a file's bytes, which must be UTF-8 and not too many. `rules`: the ids of all there are. */
export function parseConfigFile(
  file: Uint8Array | ConfigFileProblem,
  rules: ReadonlySet<string>,
): ConfigFileResult {
  if (typeof file === 'string') return toUnreadableResult(locationAt(1, 1), configFileProblemTexts[file])
  if (file.length > maxConfigBytes)
    return toUnreadableResult(locationAt(1, 1), configFileProblemTexts['too-large'])
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(file)
  if (!isValidUtf8(file)) {
    const before = text.slice(0, text.indexOf('\ufffd')).split('\n')
    return toUnreadableResult(locationAt(before.length, (before.at(-1)?.length ?? 0) + 1), {
      problem: 'it is not UTF-8 text',
      fix: `A maintainer saves ${configPath} on the base branch as UTF-8.`,
    })
  }
  const parsed = parseConfig(text)
  return parsed.kind === 'config'
    ? { config: parsed.config, findings: findUnknownRules(text, rules) }
    : { findings: parsed.findings }
}

function toUnreadableResult(
  location: Location,
  explanation: { readonly problem: string; readonly fix: string },
): ConfigFileResult {
  return { findings: [createFinding(configUnreadable, location, explanation)] }
}

function locationAt(line: number, column: number): Location {
  return { file: configPath, line, column }
}

function isValidUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
