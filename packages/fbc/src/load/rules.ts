// The rules about opening and reading the files of a catalog.
import { collectRules, type AnyFindingRule } from '@catalog-bot/findings/rule'
import * as fileRules from './file-rules.ts'
import * as loadRules from './load-rules.ts'

export const catalogFileRules: readonly AnyFindingRule[] = collectRules([fileRules])
export const catalogLoadRules: readonly AnyFindingRule[] = collectRules([loadRules])
