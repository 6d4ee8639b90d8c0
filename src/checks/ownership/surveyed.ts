// The input that determines required approvals, without people's words or answers.
import type { CheckInput } from '../check.ts'

export const surveyedParts = [
  'change',
  'layout',
  'basePaths',
  'packagesByDirectory',
  'ownerFiles',
  'config',
  'snapshot',
] as const satisfies readonly (keyof CheckInput)[]

export type Surveyed = Pick<CheckInput, (typeof surveyedParts)[number]>
