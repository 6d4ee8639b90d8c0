// The rules about templates. Made by `npm run rule-pages`: edit the rules, not this list.
import type { FindingRuleWithoutFormatter } from '@catalog-bot/findings/rule'
import { catalogDiffersFromTemplateRule, unrenderableTemplateRule } from './template-rules.ts'

/** The rules of ./, sorted by id. */
export const templateRules: readonly FindingRuleWithoutFormatter[] = [
  catalogDiffersFromTemplateRule,
  unrenderableTemplateRule,
]
