import type { Config } from '../config/config.ts'
import { getRequiredBotChecks } from '../policy/required-checks.ts'
import type { MergePlanInput } from '../policy/branch-rules.ts'
import { toPrefixedCheckNames, botCheckNames } from '../report/report-options.ts'

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
