// What options of several commands have in common, and the one place where their values are validated. An option takes one
// value and is repeated for more: one that took all words behind it would swallow the argument.
import { InvalidArgumentError, Option } from 'commander'

export function repeatableOption(flags: string, description: string): Option {
  return new Option(flags, `${description}; repeat it for more`).argParser(
    (value: string, before: readonly string[] | undefined) => [...(before ?? []), value],
  )
}

/** The same, where values have no commas: several may be given at once, with commas between them. */
export function listOption(flags: string, description: string, choices?: readonly string[]): Option {
  return new Option(flags, `${description}; repeat it, or put commas between them`).argParser(
    (text: string, before: readonly string[] | undefined) => {
      const values = text.split(',').map((value) => value.trim())
      for (const value of values)
        if (value === '') throw new InvalidArgumentError('A name is missing.')
        else if (choices?.includes(value) === false)
          throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`)
      return [...(before ?? []), ...values]
    },
  )
}

export function integerOption(flags: string, description: string, min: number, max: number): Option {
  return new Option(flags, description).argParser((text: string) => {
    const number = Number(text)
    if (/^\d{1,15}$/.test(text) && number >= min && number <= max) return number
    throw new InvalidArgumentError(
      max === Number.MAX_SAFE_INTEGER
        ? `It must be a whole number of at least ${min}.`
        : `It must be a whole number from ${min} to ${max}.`,
    )
  })
}

export function portOption(flags: string, description: string): Option {
  return integerOption(flags, `${description}; 0 takes any that is free`, 0, 65_535)
}

/** A time in ISO 8601. */
export function timeOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text: string) => {
    if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(Date.parse(text)))
      throw new InvalidArgumentError('It must be a time such as 2026-01-31T12:00:00Z.')
    return text
  })
}

export function repositoryOption(): Option {
  return new Option('--repository <owner/name>', 'the repository').argParser((text: string) => {
    if (!/^[A-Za-z0-9._-]+\/[A-Za-z0-9._-]+$/.test(text))
      throw new InvalidArgumentError('It must be OWNER/NAME.')
    return text
  })
}

export function outputOption(...choices: readonly string[]): Option {
  return new Option('-o, --output <format>', 'what to print').choices(choices).default(choices[0])
}

export function insecureRegistryOption(): Option {
  return listOption('--insecure-registry <host>', 'a registry to contact over plain HTTP')
}

export function migrateLevelOption(): Option {
  return new Option(
    '--migrate-level <level>',
    'none, or one olm.csv.metadata instead of the manifests, as for opm',
  )
    .choices(['none', 'bundle-object-to-csv-metadata'])
    .default('none')
}

export function roleOption(): Option {
  return new Option('--role <role>', "the author's role on the repository")
    .choices(['none', 'read', 'triage', 'write', 'maintain', 'admin'])
    .default('read')
}
