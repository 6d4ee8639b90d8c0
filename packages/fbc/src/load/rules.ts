// The rules about opening and reading the files of a catalog. Made by `npm run rule-pages`: edit the rules, not this list.
import type { FindingRuleWithoutFormatter } from '@catalog-bot/findings/rule'
import { fileUnreadableRule, linkLeadsOutRule } from './file-rules.ts'
import {
  badBundleObjectRule,
  documentSeparatorRule,
  duplicateFieldRule,
  fieldNotTextRule,
  jsonSyntaxRule,
  missingSchemaRule,
  moreProblemsRule,
  notAnObjectRule,
  unreadableFileRule,
  wrongFieldTypeRule,
  yamlSyntaxRule,
} from './load-rules.ts'

/** The rules of ./file-rules.ts, as they stand there. */
export const catalogFileRules: readonly FindingRuleWithoutFormatter[] = [fileUnreadableRule, linkLeadsOutRule]

/** The rules of ./load-rules.ts, as they stand there. */
export const catalogLoadRules: readonly FindingRuleWithoutFormatter[] = [
  unreadableFileRule,
  yamlSyntaxRule,
  jsonSyntaxRule,
  documentSeparatorRule,
  notAnObjectRule,
  duplicateFieldRule,
  fieldNotTextRule,
  missingSchemaRule,
  wrongFieldTypeRule,
  badBundleObjectRule,
  moreProblemsRule,
]
