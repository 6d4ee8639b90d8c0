import type { Config } from '../config/config.ts'
import { demandedChecks } from '../gate/demanded-checks.ts'
import type { LandingInput } from '../gate/landing-demands.ts'
import { namesOfChecks, ownChecks } from '../messages/report.ts'

export function landingInputOf(
  config: Pick<Config, 'install' | 'merge'>,
  branch: Pick<LandingInput, 'rules' | 'permissions' | 'app'>,
): LandingInput & { readonly checksToRequire: readonly string[] } {
  return {
    ...branch,
    wanted: config.merge.method,
    ownChecks,
    checksToRequire: namesOfChecks(demandedChecks(config)),
  }
}
