// Reads the entry at the configuration's path before it is parsed as YAML. It can be a text file, or something that cannot
// contain a configuration, which is reported with a fix.
import { decodeUtf8Strictly } from '@catalog-bot/fbc/go/utf8'
import type { Finding, Location } from '@catalog-bot/findings/finding'
import { createFinding } from '@catalog-bot/findings/rule'
import { configPath, configUnreadableRule } from './config-path.ts'
import { findUnknownRuleIdsInConfig, parseConfig, type Config } from './config.ts'

/**
 * Four times the size of the list of all package owners in the largest public repository. Limited because the file is also read
 * when webhook deliveries are answered, which must not take long.
 */
export const maxConfigBytes = 128 * 1024

/** Why the entry is not read. */
export type ConfigFileProblem = 'link' | 'submodule' | 'directory' | 'below-link' | 'too-large'

const nonRegularConfigFileFix = `Ask a maintainer to replace ${configPath} on the base branch with a regular file.`

const messagesByConfigFileProblem: Readonly<
  Record<ConfigFileProblem, { readonly problem: string; readonly fix: string }>
> = {
  link: {
    problem: 'the file is a symbolic link, and catalog-bot does not follow symbolic links',
    fix: nonRegularConfigFileFix,
  },
  submodule: {
    problem: 'the path is a submodule, and catalog-bot does not read submodules',
    fix: nonRegularConfigFileFix,
  },
  directory: { problem: 'the path is a directory, but must be a file', fix: nonRegularConfigFileFix },
  'below-link': {
    problem:
      'the entry `.github` is a symbolic link, a submodule, or a file, so catalog-bot cannot read the configuration',
    fix: `Ask a maintainer to make .github a regular directory on the base branch.`,
  },
  'too-large': {
    problem: `the file is larger than ${maxConfigBytes / 1024} KB`,
    fix: `Ask a maintainer to shorten ${configPath} on the base branch, for example by moving lists of owners to files next to the packages.`,
  },
}

export interface ConfigFileResult {
  /** Absent if the configuration cannot be read. */
  readonly config?: Config
  readonly findings: readonly Finding[]
}

/** Parses the file, which must be UTF-8 and at most `maxConfigBytes` long. `rules`: the IDs of all rules. */
export function parseConfigFile(file: Uint8Array | ConfigFileProblem, rules: ReadonlySet<string>) {
  if (typeof file === 'string' || file.length > maxConfigBytes)
    return createUnreadableConfigResult(
      createConfigFileLocation(1, 1),
      messagesByConfigFileProblem[typeof file === 'string' ? file : 'too-large'],
    )
  const text = decodeUtf8Strictly(file)
  if (text === undefined) {
    const [valid = ''] = new TextDecoder('utf-8', { ignoreBOM: true }).decode(file).split('\ufffd')
    const before = valid.split('\n')
    return createUnreadableConfigResult(
      createConfigFileLocation(before.length, (before.at(-1)?.length ?? 0) + 1),
      {
        problem: 'the file is not UTF-8 text',
        fix: `Ask a maintainer to save ${configPath} on the base branch as UTF-8.`,
      },
    )
  }
  const parsed = parseConfig(text)
  return parsed.kind === 'config'
    ? { config: parsed.config, findings: findUnknownRuleIdsInConfig(text, rules) }
    : { findings: parsed.findings }
}

function createUnreadableConfigResult(
  location: Location,
  explanation: { readonly problem: string; readonly fix: string },
): ConfigFileResult {
  return { findings: [createFinding(configUnreadableRule, location, explanation)] }
}

function createConfigFileLocation(line: number, column: number): Location {
  return { file: configPath, line, column }
}
