// The rules about opening and reading the files of a catalog. Made by `npm run rule-pages`: edit the rules, not this list.
import type { FindingRuleWithoutFormatter } from '@catalog-bot/findings/rule'
import { fileUnreadable, linkLeadsOut } from './file-rules.ts'
import {
  badBundleObject,
  documentSeparator,
  duplicateField,
  fieldNotText,
  jsonSyntax,
  missingSchema,
  moreProblems,
  notAnObject,
  unreadableFile,
  wrongFieldType,
  yamlSyntax,
} from './load-rules.ts'

/** The rules of ./file-rules.ts, as they stand there. */
export const catalogFileRules: readonly FindingRuleWithoutFormatter[] = [fileUnreadable, linkLeadsOut]

/** The rules of ./load-rules.ts, as they stand there. */
export const catalogLoadRules: readonly FindingRuleWithoutFormatter[] = [
  unreadableFile,
  yamlSyntax,
  jsonSyntax,
  documentSeparator,
  notAnObject,
  duplicateField,
  fieldNotText,
  missingSchema,
  wrongFieldType,
  badBundleObject,
  moreProblems,
]
