// Which of the bot's checks keep a pull request from being merged: all of the list but those that the configuration, at the
// base tip, does not require.
import type { Config } from '../config/config.ts'
import { checks, type CheckId } from '../findings/checks.ts'

type ConfiguredCheck = Extract<(typeof checks)[number], { readonly demand: 'configured' }>['id']

/** The setting of each check that is required by configuration: a check without one here does not type-check. */
const isRequired: Readonly<Record<ConfiguredCheck, (config: Pick<Config, 'install'>) => boolean>> = {
  install: ({ install }) => install.required,
}

/** In the order of the list. */
export function demandedChecks(config: Pick<Config, 'install'>): readonly CheckId[] {
  return checks
    .filter((check) => check.demand === 'required' || isRequired[check.id](config))
    .map(({ id }) => id)
}
