// Validates the catalogs that a release would produce, like any pull request. Ignores existing problems.
import type { CatalogChange } from '../../pull-request/change.ts'
import type { Config } from '../../config/config.ts'
import { compareFindings, type Finding } from '@catalog-bot/findings/finding'
import { createFinding } from '@catalog-bot/findings/rule'
import { unknownOpmRelease } from '../validation/opm-release-unknown.ts'
import { applyRuleSettings } from '../validation/rule-settings.ts'
import { alwaysEnabledRuleIds } from '../validation/validate-fully.ts'
import { findConfiguredRuleSet } from '../validation/validation.ts'
import { validateProjectedCatalogs } from './validate-projected-catalogs.ts'

/** Errors only, because catalog-bot would reject its own pull request. */
export function findReleaseProblems(
  changes: readonly CatalogChange[],
  { directory, file }: { readonly directory: string; readonly file: string },
  config: Pick<Config, 'rules' | 'opm'>,
): readonly Finding[] {
  const ruleSet = findConfiguredRuleSet(config)
  if (!ruleSet) return [createFinding(unknownOpmRelease, undefined, { opm: config.opm })]
  const found = changes.flatMap((change) =>
    validateProjectedCatalogs(
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
  return applyRuleSettings(found, config.rules, alwaysEnabledRuleIds)
    .filter(({ severity }) => severity === 'error')
    .sort(compareFindings)
}
