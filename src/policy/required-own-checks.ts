// The checks of catalog-bot that must pass before a merge: all except those that the configuration makes optional.
import type { Config } from '../config/config.ts'
import { checkDefinitions, type CheckId } from '@catalog-bot/findings/checks'

/** A configurable check reads the setting with its id. A check without such a setting does not type-check. */
export function getRequiredBotChecks(config: Pick<Config, 'install'>): readonly CheckId[] {
  return checkDefinitions
    .filter((check) => check.requirement === 'required' || config[check.id].required)
    .map(({ id }) => id)
}
