// Which of the bot's checks keep a pull request from being merged: all of the list but those that the configuration, at the
// base tip, does not require.
import type { Config } from '../config/config.ts'
import { checks, type CheckId } from '../findings/checks.ts'

/** In the order of the list. */
export function demandedChecks({ install }: Pick<Config, 'install'>): readonly CheckId[] {
  return checks.filter(({ demand }) => demand === 'required' || install.required).map(({ id }) => id)
}
