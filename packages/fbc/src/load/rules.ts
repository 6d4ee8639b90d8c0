// The rules about opening and reading the files of a catalog.
import { collectRules, type FindingRuleWithoutFormatter } from '@catalog-bot/findings/rule'
import * as fileRules from './file-rules.ts'
import * as loadRules from './load-rules.ts'

export const catalogFileRules: readonly FindingRuleWithoutFormatter[] = collectRules([fileRules])
export const catalogLoadRules: readonly FindingRuleWithoutFormatter[] = collectRules([loadRules])
