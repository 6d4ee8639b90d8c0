// Options that several commands share, with the validation of their values. Each option accepts one value and is repeated for
// more, because an option that accepts all following words would swallow the command's arguments.
import { InvalidArgumentError, Option, type Command, type Help } from 'commander'
import type { RepositoryName } from '../pull-request/snapshot.ts'

const helpByCommand = new WeakMap<Command, { readonly examples: readonly string[]; readonly text: string }>()

export function createRepeatableOption(flags: string, description: string): Option {
  return new Option(flags, `${description}; can be repeated`).argParser(
    (value: string, before: readonly string[] | undefined) => [...(before ?? []), value],
  )
}

/** Like `createRepeatableOption`, for values without commas: one use can list several, separated by commas. */
export function createCommaSeparatedOption(
  flags: string,
  description: string,
  findProblem: (value: string) => string | undefined = () => undefined,
): Option {
  return new Option(flags, `${description}; can be repeated or comma-separated`).argParser(
    (text: string, before: readonly string[] | undefined) => {
      const values = text.split(',').map((value) => value.trim())
      for (const value of values) {
        const problem = value === '' ? 'The list contains an empty value.' : findProblem(value)
        if (problem !== undefined) throw new InvalidArgumentError(problem)
      }
      return [...(before ?? []), ...values]
    },
  )
}

export function createIntegerOption(flags: string, description: string, min: number, max: number): Option {
  return new Option(flags, description).argParser((text: string) => {
    const number = Number(text)
    if (/^\d{1,15}$/.test(text) && number >= min && number <= max) return number
    throw new InvalidArgumentError(
      max === Number.MAX_SAFE_INTEGER
        ? `The value must be an integer greater than or equal to ${min}.`
        : `The value must be an integer from ${min} to ${max}.`,
    )
  })
}

export function createPortOption(flags: string, description: string): Option {
  return createIntegerOption(flags, `${description}; use 0 for any free port`, 0, 65_535)
}

export function createCreationTimeOption(): Option {
  const description = 'creation time of the image (default: SOURCE_DATE_EPOCH, or 1970)'
  return new Option('--created <time>', description).argParser((text: string) => {
    if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text))) return text
    throw new InvalidArgumentError(
      'The value must be a time in ISO 8601 format, such as 2026-01-31T12:00:00Z.',
    )
  })
}

export function createRepositoryOption(): Option {
  return new Option('--repository <owner/name>', 'GitHub repository').argParser((text: string) => {
    if (!/^[A-Za-z0-9._-]+\/[A-Za-z0-9._-]+$/.test(text))
      throw new InvalidArgumentError('The value must have the form OWNER/NAME.')
    return text
  })
}

export function createOutputOption(...choices: readonly string[]): Option {
  return new Option('-o, --output <format>', 'output format').choices(choices).default(choices[0])
}

export function createInsecureRegistryOption(): Option {
  return createCommaSeparatedOption(
    '--insecure-registry <host>',
    'registry to contact over unencrypted HTTP (at a private address, also set INTERNAL_REGISTRIES)',
    (host) => (host.includes('/') ? 'Write HOST or HOST:PORT, without a scheme or a path.' : undefined),
  )
}

export function createMigrateLevelOption(): Option {
  return new Option(
    '--migrate-level <level>',
    'migrations to apply, as in opm; bundle-object-to-csv-metadata replaces manifests with olm.csv.metadata',
  )
    .choices(['none', 'bundle-object-to-csv-metadata'])
    .default('none')
}

export function createRepositoryRoleOption(): Option {
  return new Option('--role <role>', "the author's role in the repository")
    .choices(['none', 'read', 'triage', 'write', 'maintain', 'admin'])
    .default('read')
}

export function addExamplesToHelp(command: Command, examples: readonly string[], text = ''): Command {
  helpByCommand.set(command, { examples, text })
  const shown = examples.map((example) => `  catalog-bot ${example}`).join('\n')
  return command.addHelpText(
    'after',
    () => `\nExamples:\n${shown}${text === '' ? '' : `\n\n${wrapParagraphs(text, command.createHelp())}`}`,
  )
}

/** Indented lines remain as they are, because they are code or a list. */
function wrapParagraphs(text: string, help: Help): string {
  const lines = text.replaceAll(/(\S)\n(?=\S)/g, '$1 ').split('\n')
  const width = process.stdout.columns ?? 80
  return lines.map((line) => (line.startsWith(' ') ? line : help.boxWrap(line, width))).join('\n')
}

export const getCommandHelp = (command: Command) => helpByCommand.get(command) ?? { examples: [], text: '' }

export function listCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(listCommands)]
}

/** The action of a command: loads its code when it runs, and passes the command's arguments and options. */
export function runImported(load: () => Promise<(...given: never[]) => unknown>) {
  return async (...given: readonly unknown[]): Promise<void> => {
    const run = await load()
    // The last one is the command itself.
    await run(...(given.slice(0, -1) as never[]))
  }
}

/** `catalog-bot bundle validate`. */
export function getFullCommandName(command: Command): string {
  return command.parent ? `${getFullCommandName(command.parent)} ${command.name()}` : command.name()
}

export function addUsageHintOnError(program: Command): void {
  for (const command of listCommands(program))
    command.showHelpAfterError(`Run '${getFullCommandName(command)} --help' for usage.`)
}

/**
 * Each text is `k=v` or several such pairs, separated by commas. As in opm, the last value of a key applies. Throws if a
 * key is missing.
 */
export function parseCommaSeparatedKeyValues(
  pairs: readonly string[],
  optionName: string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs
      .flatMap((text) => text.split(/,(?=[^,=]+=)/))
      .map((text) => {
        const equals = text.indexOf('=')
        if (equals < 1) throw new Error(`invalid ${optionName} "${text}": it must have the form KEY=VALUE`)
        return [text.slice(0, equals), text.slice(equals + 1)]
      }),
  )
}

/** Throws if the text isn't `OWNER/NAME`. */
export function parseRepository(text: string): RepositoryName {
  const [, owner, name] = /^([A-Za-z0-9._-]+)\/([A-Za-z0-9._-]+)$/.exec(text) ?? []
  if (owner === undefined || name === undefined)
    throw new Error(`the repository must have the form OWNER/NAME, but is ${JSON.stringify(text)}`)
  return { owner, name }
}
