// Every rule of the ownership check. Made by `npm run rule-pages`: edit the rules, not this list.
import type { AnyFindingRule } from '@catalog-bot/findings/rule'
import { approvalForOtherChange } from './rules/approved-something-else.ts'
import { changeForbidden } from './rules/change-refused.ts'
import { changesRequested } from './rules/changes-requested.ts'
import { confusableName } from './rules/confusable-name.ts'
import { approvalMissing } from './rules/consent-missing.ts'
import { executableFile } from './rules/executable-file.ts'
import { unsupportedFileMode } from './rules/file-mode.ts'
import { unconfirmedPush } from './rules/foreign-push.ts'
import { newPackage } from './rules/new-package.ts'
import { notOwner } from './rules/not-owner.ts'
import { suspiciousPath } from './rules/odd-path.ts'
import { fileOutsidePackages } from './rules/outside-packages.ts'
import { ownerFileBroken } from './rules/owner-file-broken.ts'
import { ownerFileChange } from './rules/owner-file-change.ts'
import { ownerLoginReused } from './rules/owner-login-reused.ts'
import { ownerSourceBroken } from './rules/owner-source-broken.ts'
import { unknownOwner } from './rules/owner-unknown.ts'
import { packageContentMismatch } from './rules/package-content-mismatch.ts'

/** The rules of ./rules, sorted by id. */
export const ownershipRules: readonly AnyFindingRule[] = [
  approvalForOtherChange,
  changeForbidden,
  changesRequested,
  confusableName,
  approvalMissing,
  executableFile,
  unsupportedFileMode,
  unconfirmedPush,
  newPackage,
  notOwner,
  suspiciousPath,
  fileOutsidePackages,
  ownerFileBroken,
  ownerFileChange,
  ownerLoginReused,
  ownerSourceBroken,
  unknownOwner,
  packageContentMismatch,
]
