import type { Config } from '../config/config.ts'
import { getRequiredBotChecks } from '../policy/required-own-checks.ts'
import type { MergePlanInput } from '../policy/merge-requirements.ts'
import { toPrefixedCheckNames, botCheckNames } from '../report/report.ts'

export function toMergePlanInput(
  config: Pick<Config, 'install' | 'merge'>,
  branch: Pick<MergePlanInput, 'rules' | 'permissions' | 'app'>,
): MergePlanInput & { readonly checksToRequire: readonly string[] } {
  return {
    ...branch,
    wanted: config.merge.method,
    ownChecks: botCheckNames,
    checksToRequire: toPrefixedCheckNames(getRequiredBotChecks(config)),
  }
}
