// Every rule of the ownership check. Made by `npm run rule-pages`: edit the rules, not this list.
import type { AnyRule } from '../../findings/rule.ts'
import { approvedSomethingElse } from './rules/approved-something-else.ts'
import { changeRefused } from './rules/change-refused.ts'
import { changesRequested } from './rules/changes-requested.ts'
import { confusableName } from './rules/confusable-name.ts'
import { consentMissing } from './rules/consent-missing.ts'
import { executableFile } from './rules/executable-file.ts'
import { fileMode } from './rules/file-mode.ts'
import { foreignPush } from './rules/foreign-push.ts'
import { newPackage } from './rules/new-package.ts'
import { notOwner } from './rules/not-owner.ts'
import { oddPath } from './rules/odd-path.ts'
import { outsidePackages } from './rules/outside-packages.ts'
import { ownerFileBroken } from './rules/owner-file-broken.ts'
import { ownerFileChange } from './rules/owner-file-change.ts'
import { ownerLoginReused } from './rules/owner-login-reused.ts'
import { ownerSourceBroken } from './rules/owner-source-broken.ts'
import { ownerUnknown } from './rules/owner-unknown.ts'
import { packageContentMismatch } from './rules/package-content-mismatch.ts'

/** The rules of ./rules, sorted by id. */
export const ownershipRules: readonly AnyRule[] = [
  approvedSomethingElse,
  changeRefused,
  changesRequested,
  confusableName,
  consentMissing,
  executableFile,
  fileMode,
  foreignPush,
  newPackage,
  notOwner,
  oddPath,
  outsidePackages,
  ownerFileBroken,
  ownerFileChange,
  ownerLoginReused,
  ownerSourceBroken,
  ownerUnknown,
  packageContentMismatch,
]
