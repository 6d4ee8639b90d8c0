// The input that determines required approvals, without comments, reviews, or answers.
import type { CheckInput } from '../check.ts'

export const ownershipInputKeys = [
  'change',
  'layout',
  'basePaths',
  'packagesByDirectory',
  'ownerFiles',
  'config',
  'snapshot',
] as const satisfies readonly (keyof CheckInput)[]

export type OwnershipInputs = Pick<CheckInput, (typeof ownershipInputKeys)[number]>
