// Every rule of the images check about images. Made by `npm run rule-pages`: edit the rules, not this list.
import type { AnyFindingRule } from '@catalog-bot/findings/rule'
import { bundleDiffersFromImage } from './rules/bundle-differs-from-image.ts'
import { bundleIdentityMismatch } from './rules/bundle-not-its-image.ts'
import { bundleRepublished } from './rules/bundle-republished.ts'
import { imageDigestMismatch } from './rules/digest-mismatch.ts'
import { bundleFormatMismatch } from './rules/foreign-bundle-format.ts'
import { imageByTag } from './rules/image-by-tag.ts'
import { imageMissing } from './rules/image-missing.ts'
import { imageUnsupported } from './rules/image-unsupported.ts'
import { malformedReference } from './rules/malformed-reference.ts'
import { platformMissing } from './rules/platform-missing.ts'
import { registryBlocked } from './rules/registry-blocked.ts'
import { registryNotAllowed } from './rules/registry-not-allowed.ts'
import { tagMoved } from './rules/tag-moved.ts'

/** The rules of ./rules, sorted by id. */
export const imageRules: readonly AnyFindingRule[] = [
  bundleDiffersFromImage,
  bundleIdentityMismatch,
  bundleRepublished,
  imageDigestMismatch,
  bundleFormatMismatch,
  imageByTag,
  imageMissing,
  imageUnsupported,
  malformedReference,
  platformMissing,
  registryBlocked,
  registryNotAllowed,
  tagMoved,
]
