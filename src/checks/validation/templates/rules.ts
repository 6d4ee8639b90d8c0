// The rules about templates. A plain array, sorted by id.
import type { AnyRule } from '../../../findings/rule.ts'
import { catalogDiffersFromTemplate } from './catalog-differs-from-template.ts'
import { unrenderableTemplate } from './unrenderable-template.ts'

export const templateRules: readonly AnyRule[] = [catalogDiffersFromTemplate, unrenderableTemplate]
