// Judges the catalogs that a release would produce, like any pull request. Ignores problems that existed before.
import type { CatalogChange } from '../../change/change.ts'
import type { Config } from '../../config/config.ts'
import { compareFindings, type Finding } from '../../findings/finding.ts'
import { finding } from '../../findings/rule.ts'
import { opmReleaseUnknown } from '../validation/opm-release-unknown.ts'
import { applyRuleSettings } from '../validation/rule-settings.ts'
import { fixedRules } from '../validation/validate-fully.ts'
import { ruleSetOf } from '../validation/validation.ts'
import { judgeBecoming } from './judge-becoming.ts'

/** Errors only: with any of them the bot would refuse its own pull request. */
export function releaseProblems(
  changes: readonly CatalogChange[],
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
