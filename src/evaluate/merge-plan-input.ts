import type { Config } from '../config/config.ts'
import { getRequiredOwnChecks } from '../policy/required-own-checks.ts'
import type { MergePlanInput } from '../policy/merge-requirements.ts'
import { toCheckNames, ownCheckNames } from '../report/report.ts'

export function toMergePlanInput(
  config: Pick<Config, 'install' | 'merge'>,
  branch: Pick<MergePlanInput, 'rules' | 'permissions' | 'app'>,
): MergePlanInput & { readonly checksToRequire: readonly string[] } {
  return {
    ...branch,
    wanted: config.merge.method,
    ownChecks: ownCheckNames,
    checksToRequire: toCheckNames(getRequiredOwnChecks(config)),
  }
}
