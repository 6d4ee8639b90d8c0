// What of a pull request tells which approvals it requires: nothing that people say about it, and no answer of the world.
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
