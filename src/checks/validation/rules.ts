// All of catalog-bot's own rules that search a catalog. Made by `npm run rule-pages`: edit the rules, not this list.
import { collectRules } from '@catalog-bot/findings/rule'
import type { CatalogRule } from './catalog-rule.ts'
import * as bundleImages from './rules/bundle-images.ts'
import * as bundleMetadata from './rules/bundle-metadata.ts'
import * as channels from './rules/channels.ts'
import * as constraints from './rules/constraints.ts'
import * as fileFormat from './rules/file-format.ts'
import * as properties from './rules/properties.ts'
import * as schemas from './rules/schemas.ts'
import * as sizes from './rules/sizes.ts'
import * as upgradeEdges from './rules/upgrade-edges.ts'
import * as versions from './rules/versions.ts'

/** The rules of ./rules, sorted by id. */
export const catalogRules: readonly CatalogRule[] = collectRules([
  bundleImages,
  bundleMetadata,
  channels,
  constraints,
  fileFormat,
  properties,
  schemas,
  sizes,
  upgradeEdges,
  versions,
])
