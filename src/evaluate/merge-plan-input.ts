import type { Config } from '../config/config.ts'
import { getRequiredOwnChecks } from '../gate/required-own-checks.ts'
import type { MergePlanInput } from '../gate/merge-requirements.ts'
import { toCheckNames, ownCheckNames } from '../messages/report.ts'

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
