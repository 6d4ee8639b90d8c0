// The code of every check. The compiler reports a check that is in the list of checks but not in this file.
import { checkIds, type CheckId } from '@catalog-bot/findings/checks'
import type { Check } from './check.ts'
import { imagesCheck } from './images/images.ts'
import { installCheck } from './install/install.ts'
import { ownershipCheck } from './ownership/ownership.ts'
import { validationCheck } from './validation/validation.ts'

const checkById: { readonly [Id in CheckId]: Check<Id> } = {
  ownership: ownershipCheck,
  validation: validationCheck,
  images: imagesCheck,
  install: installCheck,
}

export const allChecks: readonly Check[] = checkIds.map((id) => checkById[id])
