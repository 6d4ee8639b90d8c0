// Which of the bot's checks keep a pull request from being merged: all of the list but those that the configuration, at the
// base tip, does not require.
import type { Config } from '../config/config.ts'
import { checks, type CheckId } from '../findings/checks.ts'

/** In the order of the list. A configured check reads the setting of its own name: one without it does not type-check. */
export function demandedChecks(config: Pick<Config, 'install'>): readonly CheckId[] {
  return checks
    .filter((check) => check.demand === 'required' || config[check.id].required)
    .map(({ id }) => id)
}
