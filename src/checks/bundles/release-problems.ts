// What is wrong with catalogs as a release would leave them, judged as the same change would be in a pull request of
// anybody: opm's verdict, our own rules, the harm to those who have installed. What was wrong before is not its doing.
import type { CatalogChange } from '../../change/change.ts'
import type { Config } from '../../config/config.ts'
import { compareFindings, type Finding } from '../../findings/finding.ts'
import { finding } from '../../findings/rule.ts'
import { opmReleaseUnknown } from '../validation/opm-release-unknown.ts'
import { applyRuleSettings } from '../validation/rule-settings.ts'
import { fixedRules } from '../validation/validate-fully.ts'
import { ruleSetOf } from '../validation/validation.ts'
import { judgeBecoming } from './judge-becoming.ts'

/** The errors alone: with any of them the bot would refuse the pull request that it is about to open. */
export function releaseProblems(
  changes: readonly CatalogChange[],
  /** The package's directory, and the template of which the catalogs are rendered. */
  { directory, file }: { readonly directory: string; readonly file: string },
  config: Pick<Config, 'rules' | 'opm'>,
): readonly Finding[] {
  const ruleSet = ruleSetOf(config)
  if (!ruleSet) return [finding(opmReleaseUnknown, undefined, { opm: config.opm })]
  const found = changes.flatMap((change) =>
    judgeBecoming(
      [
        {
          directory,
          kind: 'template',
          catalogs: [change.version ?? change.root],
          changes: [change],
          at: { whole: { file, line: 1, column: 1 } },
          images: [],
        },
      ],
      ruleSet,
      config.rules,
    ),
  )
  return applyRuleSettings(found, config.rules, fixedRules)
    .filter(({ severity }) => severity === 'error')
    .sort(compareFindings)
}
