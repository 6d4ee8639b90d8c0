// Which of the bot's checks must pass before a merge: all except those that the configuration makes optional.
import type { Config } from '../config/config.ts'
import { checks, type CheckId } from '../findings/checks.ts'

/** A configured check reads the setting with its id; a check without one does not type-check. */
export function getRequiredOwnChecks(config: Pick<Config, 'install'>): readonly CheckId[] {
  return checks
    .filter((check) => check.demand === 'required' || config[check.id].required)
    .map(({ id }) => id)
}
